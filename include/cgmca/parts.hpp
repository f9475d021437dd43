// Parts of inputs, for several processes or jobs that each summarize a share of the samples of the same files.
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
// parts of another division, or all of it. When the last part has been merged, the input is noted as whole.
#pragma once

#include <cgmca/types.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// One of `count` parts, by its number from 1.
struct Part {
  Index number = 1, count = 1;  // from 1 to count
  bool operator==(const Part&) const = default;
};

// Successive samples.
struct Share {
  Index first = 0, samples = 0;  // the index of the first sample, from 0, and how many there are
};
// The samples of a part of n samples. Parts follow each other, and their sizes differ by at most one. Throws
// InvalidInput if the number is not from 1 to the count.
Share share_of(Index n, Part part);

// The text to note for a part of an input, "WORD NAME". Parts of one input belong together only if their way, a word
// without blanks, is the same, because with other options a part would hold other samples. Throws InvalidInput if the
// way has a blank, and as share_of does.
std::string part_of(const std::string& input, Part part, const std::string& way = {});

// The missing parts of inputs of which there are some parts, for messages: "parts 3 and 5 to 7 of 8 of 'a.npy' and
// 'b.npy'". Inputs that lack the same parts share one text.
std::vector<std::string> missing_parts(const std::vector<std::string>& inputs);

// How the first input of which there are only some parts was divided, to tell parts of one division from those of
// another; empty if there is no such input.
std::string division_of(const std::vector<std::string>& inputs);

// Why samples would count twice if these two lists of inputs were merged; empty if they would not.
std::string repeated(const std::vector<std::string>& ours, const std::vector<std::string>& theirs);

// The name of an input in messages: "a.npy", "a.npy (parts 1 to 3 and 7 of 8)".
std::string input_name(const std::string& input);

}  // namespace cgmca
#pragma GCC visibility pop
