#include "input/mapped.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "input/pairs.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

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
  }
  check_same_keys(inputs);
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

void add_nuisance_reader(const Session& session, std::vector<SampleReader>& readers, const std::string& nuisance,
                         const InputOptions& options, const Model& model) {
  check_nuisance(nuisance, model, model.nuisance_values() > 0);
  if (nuisance.empty()) return;
  SampleReader& reader = readers.emplace_back(nuisance, options.of_nuisance(&model));
  take_order(session, reader, model.nuisance->names, "the nuisance of the model");
  if (reader.features() == model.nuisance_values()) return;
  throw WrongDimension(
      fmt::format("{} against the {} values of the nuisance of the model", reader.shape(), model.nuisance_values()));
}

std::vector<Matrix> with_nuisance(const std::vector<Matrix>& X, const Model& model) {
  if (model.nuisance_values() == 0) return X;
  std::vector<Matrix> result;
  for (std::size_t i = 0; i + 1 < X.size(); ++i) {
    Matrix& own = result.emplace_back(X[i].rows() + X.back().rows(), X[i].cols());
    own << X[i], X.back();
  }
  return result;
}

void check_same_keys(const std::vector<SampleReader>& inputs) {
  const std::vector<std::string>& first = inputs.front().ids();
  for (const SampleReader& input : inputs) {
    const auto [one, other] = std::mismatch(first.begin(), first.end(), input.ids().begin(), input.ids().end());
    if (one == first.end()) continue;
    throw InvalidInput(
        fmt::format("'{}' has the key '{}' where '{}' has '{}'; the inputs must hold the same samples "
                    "in the same order",
                    inputs.front().source(), *one, input.source(), *other));
  }
}

std::vector<std::string> names_of_components(const std::string& output, const std::vector<SampleReader>& inputs,
                                             Index k) {
  const bool named = std::any_of(inputs.begin(), inputs.end(),
                                 [](const SampleReader& input) { return !input.feature_names().empty(); });
  std::vector<std::string> names;
  for (Index j = 1; named && is_text(output) && j <= k; ++j) names.push_back(fmt::format("c{}", j));
  return names;
}

MappedCount map_samples(const Session& session, std::vector<SampleReader>& readers, Index features, Missing missing,
                        const std::function<Matrix(const std::vector<Matrix>&)>& map, const TakeMapped& take) {
  MappedCount result;
  result.missing = for_blocks(
      session, "samples written", readers, block_samples(readers, features), missing,
      [&](const std::vector<Matrix>& X, const std::vector<Index>& used, Index n, const std::vector<std::string>& ids) {
        const Index mapped = X.front().cols(), added = missing == Missing::pass ? n : mapped;
        result.samples += added;
        if (mapped == n) return take(map(X), ids);
        if (missing == Missing::pass) {
          Matrix Y = Matrix::Constant(features, n, std::numeric_limits<double>::quiet_NaN());
          if (mapped > 0) Y(Eigen::all, used) = map(X);
          return take(Y, ids);
        }
        if (mapped == 0) return;
        std::vector<std::string> their;
        if (!ids.empty()) {
          for (const Index column : used) their.push_back(ids[column]);
        }
        take(map(X), their);
      });
  return result;
}

Index block_samples(const std::vector<SampleReader>& readers, Index features) {
  for (const SampleReader& reader : readers) features += reader.features();
  return block_samples(features);
}

bool writes_single(const std::optional<bool>& precision, const std::vector<SampleReader>& readers) {
  return precision.value_or(
      std::all_of(readers.begin(), readers.end(), [](const SampleReader& reader) { return reader.holds_floats(); }));
}

bool stop_at_map_estimate(const Session& session, const Limits& limits, const std::vector<SampleReader>& readers,
                          const std::vector<std::string>& outputs, Index features, const WriteOptions& how) {
  std::optional<Index> n;
  Index inputs = 0;
  double held = 0;
  Rows rows;
  for (const SampleReader& reader : readers) {
    if (!n) n = reader.samples();
    inputs += reader.features();
    if (!reader.streams()) {
      held += 8.0 * static_cast<double>(reader.samples().value_or(0)) * static_cast<double>(reader.features());
    }
    rows.emplace_back(fmt::format("X{}", rows.size() + 1), reader.shape());
  }
  const Index all = features * std::ssize(outputs);
  const double numbers = static_cast<double>(n.value_or(0)) * static_cast<double>(features);
  for (const std::string& output : outputs) {
    if (is_text(output) && how.columns) held += 8 * numbers;
    const std::string size = !n || is_text(output) ? "" : ", " + bytes_text(numbers * (how.single ? 4 : 8));
    rows.emplace_back("output", fmt::format("'{}' ({} samples × {} features{})", output,
                                            n ? fmt::format("{}", *n) : "?", features, size));
  }
  return stop_at_estimate(session, limits, estimate_map(inputs, all, n, block_samples(readers, all), held),
                          {{"n", n ? Json(*n) : Json(nullptr)}, {"features", features}, {"single", how.single}}, rows);
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
