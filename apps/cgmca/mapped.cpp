#include "mapped.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "pairs.hpp"
#include "progress.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

// use(complete samples, which of the block they are, the block's number of samples and all their keys)
using Use = std::function<void(const Matrix&, const std::vector<Index>&, Index, const std::vector<std::string>&)>;

Index for_blocks(const Session& session, const std::string& what, SampleReader& reader, Index block, Missing missing,
                 const Use& use) {
  Progress progress(session, what, reader.samples());
  Gaps gaps("samples");
  std::vector<SampleReader> inputs;
  inputs.push_back(std::move(reader));
  for (;;) {
    std::vector<SampleReader::Block> blocks = {inputs.front().next(block)};
    const Index n = columns_of(blocks.front());
    if (n == 0) break;
    const std::vector<Index> complete = gaps.complete(blocks, inputs);
    const bool all = static_cast<Index>(complete.size()) == n;
    // An error counts them all first.
    if (gaps.count() == 0 || missing != Missing::error) {
      use(in_doubles(all ? std::move(blocks.front()) : columns_of(blocks.front(), complete)), complete, n,
          inputs.front().ids());
    }
    progress.update(gaps.seen());
    stop_if_interrupted();
  }
  reader = std::move(inputs.front());
  if (gaps.count() == 0) return 0;
  if (missing == Missing::error) gaps.fail();
  session.message(gaps.text() + (missing == Missing::drop ? "; left out" : "; NaN in the result"));
  return gaps.count();
}

}  // namespace

Mapped map_samples(const Session& session, SampleReader& reader, Index features, Missing missing,
                   const std::function<Matrix(const Matrix&)>& map) {
  Mapped result;
  Matrix& Y = result.Y;
  Y.resize(features, reader.samples().value_or(0));
  Index done = 0;
  const Index block = block_samples(std::max(features, reader.features()));
  result.missing = for_blocks(
      session, "samples mapped", reader, block, missing,
      [&](const Matrix& X, const std::vector<Index>& complete, Index n, const std::vector<std::string>& ids) {
        const Index added = missing == Missing::pass ? n : X.cols();
        if (Y.cols() < done + added) Y.conservativeResize(Eigen::NoChange, std::max(done + added, 2 * Y.cols()));
        auto place = Y.middleCols(done, added);
        if (X.cols() == added) {
          if (added > 0) place = map(X);
        } else {
          place.setConstant(std::numeric_limits<double>::quiet_NaN());
          if (X.cols() > 0) place(Eigen::all, complete) = map(X);
        }
        done += added;
        if (missing == Missing::pass) {
          result.ids.insert(result.ids.end(), ids.begin(), ids.end());
        } else if (!ids.empty()) {
          for (const Index column : complete) result.ids.push_back(ids[static_cast<std::size_t>(column)]);
        }
      });
  Y.conservativeResize(Eigen::NoChange, done);
  return result;
}

void for_complete_samples(const Session& session, const std::string& what, SampleReader& reader, Missing missing,
                          const std::function<void(const Matrix&)>& use) {
  for_blocks(session, what, reader, block_samples(reader.features()), missing, [&](const Matrix& X, const auto&...) {
    if (X.cols() > 0) use(X);
  });
}

}  // namespace cgmca::cli
