// What tells one input from another, or from itself after a change.
#pragma once

#include <string>

#include "shell/session.hpp"

namespace cgmca::cli {

// Of a file or folder, its time of change among it, to resume by. Not its name: a renamed file is the same.
Json fingerprint(const std::string& source);

// The same without times, in one word with the name after it, for Summary::note_input: a copy is the same input.
std::string identity(std::size_t domain, const std::string& source);

// A text in one word.
std::string hash_of(const std::string& text);

}  // namespace cgmca::cli
