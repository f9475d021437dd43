#include "mapped.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "pairs.hpp"
#include "progress.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

using Blocks = std::vector<SampleReader::Block>;

// The next samples of all inputs.
Blocks next_of(std::vector<SampleReader>& inputs, Index block) {
  Blocks blocks;
  for (SampleReader& input : inputs) blocks.push_back(input.next(block));
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    if (columns_of(blocks[i]) != columns_of(blocks[0])) {
      const bool shorter = columns_of(blocks[i]) < columns_of(blocks[0]);
      throw UnequalSamples(fmt::format("{} ends before {}; samples must match one to one",
                                       inputs[shorter ? i : 0].shape(), inputs[shorter ? 0 : i].shape()));
    }
    const auto [one, other] =
        std::mismatch(inputs[0].ids().begin(), inputs[0].ids().end(), inputs[i].ids().begin(), inputs[i].ids().end());
    if (one == inputs[0].ids().end()) continue;
    throw InvalidInput(
        fmt::format("'{}' has the key '{}' where '{}' has '{}'; the inputs must hold the same samples "
                    "in the same order",
                    inputs[0].source(), *one, inputs[i].source(), *other));
  }
  return blocks;
}

// The samples of the block that one input at least has without NaN.
std::vector<Index> in_any(const Blocks& blocks) {
  std::vector<Index> columns;
  for (Index j = 0; j < columns_of(blocks.front()); ++j) {
    if (std::any_of(blocks.begin(), blocks.end(), [j](const SampleReader::Block& block) {
          return std::visit([j](const auto& X) { return !X.col(j).hasNaN(); }, block);
        })) {
      columns.push_back(j);
    }
  }
  return columns;
}

std::string fate(Missing missing, std::size_t inputs, Index lost) {
  if (missing == Missing::drop) return "; left out";
  if (inputs == 1) return "; NaN in the result";
  return lost == 0 ? "; the other inputs are used"
                   : fmt::format("; the other inputs are used, and {} that no input has {} NaN in the result", lost,
                                 lost == 1 ? "is" : "are");
}

// use(samples, which of the block they are, the block's number of samples and all their keys)
using Use =
    std::function<void(const std::vector<Matrix>&, const std::vector<Index>&, Index, const std::vector<std::string>&)>;

Index for_blocks(const Session& session, const std::string& what, std::vector<SampleReader>& inputs, Index block,
                 Missing missing, const Use& use) {
  Progress progress(session, what, inputs.front().samples());
  Gaps gaps("samples");
  Index lost = 0;
  for (;;) {
    Blocks blocks = next_of(inputs, block);
    const Index n = columns_of(blocks.front());
    if (n == 0) break;
    std::vector<Index> used = gaps.complete(blocks, inputs);
    if (missing == Missing::pass && std::ssize(used) < n) used = in_any(blocks);
    lost += n - std::ssize(used);
    // An error counts them all first.
    if (gaps.count() == 0 || missing != Missing::error) {
      std::vector<Matrix> X;
      for (SampleReader::Block& one : blocks) {
        X.push_back(in_doubles(std::ssize(used) == n ? std::move(one) : columns_of(one, used)));
      }
      use(X, used, n, inputs.front().ids());
    }
    progress.update(gaps.seen());
    stop_if_interrupted();
  }
  if (gaps.count() == 0) return 0;
  if (missing == Missing::error) gaps.fail();
  session.message(gaps.text() + fate(missing, inputs.size(), lost));
  return gaps.count();
}

}  // namespace

Mapped map_samples(const Session& session, std::vector<SampleReader>& readers, Index features, Missing missing,
                   const std::function<Matrix(const std::vector<Matrix>&)>& map) {
  Mapped result;
  Matrix& Y = result.Y;
  Y.resize(features, readers.front().samples().value_or(0));
  Index done = 0, largest = features;
  for (const SampleReader& reader : readers) largest = std::max(largest, reader.features());
  result.missing = for_blocks(
      session, "samples mapped", readers, block_samples(largest), missing,
      [&](const std::vector<Matrix>& X, const std::vector<Index>& used, Index n, const std::vector<std::string>& ids) {
        const Index mapped = X.front().cols(), added = missing == Missing::pass ? n : mapped;
        if (Y.cols() < done + added) Y.conservativeResize(Eigen::NoChange, std::max(done + added, 2 * Y.cols()));
        auto place = Y.middleCols(done, added);
        if (mapped == added) {
          if (added > 0) place = map(X);
        } else {
          place.setConstant(std::numeric_limits<double>::quiet_NaN());
          if (mapped > 0) place(Eigen::all, used) = map(X);
        }
        done += added;
        if (missing == Missing::pass) {
          result.ids.insert(result.ids.end(), ids.begin(), ids.end());
        } else if (!ids.empty()) {
          for (const Index column : used) result.ids.push_back(ids[static_cast<std::size_t>(column)]);
        }
      });
  Y.conservativeResize(Eigen::NoChange, done);
  return result;
}

Mapped map_samples(const Session& session, SampleReader& reader, Index features, Missing missing,
                   const std::function<Matrix(const Matrix&)>& map) {
  std::vector<SampleReader> readers;
  readers.push_back(std::move(reader));
  Mapped result =
      map_samples(session, readers, features, missing, [&](const std::vector<Matrix>& X) { return map(X.front()); });
  reader = std::move(readers.front());
  return result;
}

void for_complete_samples(const Session& session, const std::string& what, SampleReader& reader, Missing missing,
                          const std::function<void(const Matrix&)>& use) {
  std::vector<SampleReader> readers;
  readers.push_back(std::move(reader));
  for_blocks(session, what, readers, block_samples(readers.front().features()), missing,
             [&](const std::vector<Matrix>& X, const auto&...) {
               if (X.front().cols() > 0) use(X.front());
             });
  reader = std::move(readers.front());
}

}  // namespace cgmca::cli
