// Parts of inputs: samples that several processes or jobs summarize, each its own share of the same files.
//
// Example:
//   const Share share = share_of(n, {2, 4});  // the samples of part 2 of 4
//   Summary summary({d1, d2});
//   summary.add(X1.middleCols(share.first, share.samples), X2.middleCols(share.first, share.samples));
//   summary.note_input(part_of("9ae16a3b2f90404f a.npy", {2, 4}));
//
// An input that a summary holds (Summary::inputs) is written as
//   WORD NAME                all of it
//   WORD#1-3,7/8:WAY NAME    its parts 1, 2, 3 and 7 of 8; WAY, where there is one, tells how it was divided
// Summary::merge joins the parts of one input and refuses those that would count twice: a part that is there already,
// parts of another division, or all of it. Where the last part has come, the input is noted as whole.
#pragma once

#include <cgmca/types.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// One of `count` parts, by its number from 1.
struct Part {
  Index number = 1, count = 1;
  bool operator==(const Part&) const = default;
};

// A run of samples, from 0.
struct Share {
  Index first = 0, samples = 0;
};
// The parts of n samples follow each other, and their sizes differ by at most one. Throws InvalidInput where the number
// is not from 1 to the count.
Share share_of(Index n, Part part);

// The text to note for a part of an input, "WORD NAME". Parts of one input belong together only where their way, a word
// without blanks, is the same: with other options a part would hold other samples.
std::string part_of(const std::string& input, Part part, const std::string& way = {});

// What is still missing of inputs of which there are some parts, for messages: "parts 3 and 5 to 7 of 8 of 'a.npy' and
// 'b.npy'". One text for inputs that lack the same parts.
std::vector<std::string> missing_parts(const std::vector<std::string>& inputs);

// What the first input of which there are only some parts is divided into, for telling parts of one division from those
// of another; empty where there is no such input.
std::string division_of(const std::vector<std::string>& inputs);

// Why samples of one list of inputs would count twice beside those of the other; empty where they would not.
std::string repeated(const std::vector<std::string>& ours, const std::vector<std::string>& theirs);

// What an input is, for messages: "a.npy", "a.npy (parts 1 to 3 and 7 of 8)".
std::string input_name(const std::string& input);

}  // namespace cgmca
#pragma GCC visibility pop
