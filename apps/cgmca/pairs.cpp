#include "pairs.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "progress.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

std::string shape_text(const std::string& source, std::optional<Index> samples, Index features) {
  return fmt::format("'{}' ({} samples × {} features)", source, samples ? fmt::format("{}", *samples) : "?", features);
}

void check(const std::string& source, std::optional<Index> samples, Index features, const Model& model,
           const std::string& model_path, Domain domain) {
  const Index expected = model.domain(domain).features();
  if (features == expected) return;
  throw WrongDimension(fmt::format("{} against domain {} of '{}' ({} features){}",
                                   shape_text(source, samples, features), number(domain), model_path, expected,
                                   samples == expected ? "; if samples are its columns, say --columns" : ""));
}

}  // namespace

void add_pair_options(CLI::App& command, PairSources& sources, bool required) {
  command.add_option("X1", sources.paths[0], "Samples of domain 1, one a row: a file, file:member, or a PNG folder")
      ->required(required);
  command.add_option("X2", sources.paths[1], "The matching samples of domain 2, in the same order")->required(required);
  command.add_flag("--columns", sources.columns, "Samples are the files' columns, as MATLAB users often store them");
  command
      .add_option("--match", sources.match,
                  "Pair the images of two folders by file name: what is called …A… in X1 is called …B… in X2")
      ->option_text("A/B");
}

Index block_samples(Index features) {
  constexpr Index bytes = 16'000'000;
  return std::max<Index>(1, bytes / (features * static_cast<Index>(sizeof(double))));
}

PairReader::PairReader(const PairSources& sources) : sources_(sources) {
  if (!sources.match.empty()) {
    ImagePairs images = match_images(sources.paths[0], sources.paths[1], sources.match);
    for (auto& [first, second] : images.pairs) {
      image_names_[0].push_back(std::move(first));
      image_names_[1].push_back(std::move(second));
    }
    unmatched_ = std::move(images.unmatched1);
    unmatched_.insert(unmatched_.end(), images.unmatched2.begin(), images.unmatched2.end());
    if (image_names_[0].empty()) {
      throw InvalidInput(fmt::format("no image of '{}' has a partner in '{}' by --match {}; unmatched: {}",
                                     sources.paths[0], sources.paths[1], sources.match, fmt::join(unmatched_, ", ")));
    }
  }
  for (auto i : {0U, 1U}) {
    if (sources.match.empty()) {
      readers_[i].emplace(sources.paths[i], ReadOptions{.columns = sources.columns});
      features_[i] = readers_[i]->features();
    } else {
      features_[i] = read_images(sources.paths[i], {image_names_[i].front()}).rows();
    }
  }
  if (samples_of(0) && samples_of(1) && samples_of(0) != samples_of(1)) fail_unequal();
}

std::optional<Index> PairReader::samples_of(std::size_t i) const {
  return readers_[i] ? readers_[i]->samples() : static_cast<Index>(image_names_[i].size());
}

std::optional<Index> PairReader::samples() const {
  const auto first = samples_of(0);
  return first ? first : samples_of(1);
}

bool PairReader::streams() const { return !readers_[0] || (readers_[0]->streams() && readers_[1]->streams()); }

std::string PairReader::shape(Domain domain) const {
  const auto i = slot(domain);
  return shape_text(sources_.paths[i], samples_of(i), features_[i]);
}

Matrix PairReader::next_of(std::size_t i, Index count) {
  if (readers_[i]) return readers_[i]->next(count);
  const auto& names = image_names_[i];
  const auto begin = names.begin() + position_;
  const auto end = begin + std::min(count, static_cast<Index>(names.size()) - position_);
  if (begin == end) return Matrix(features_[i], 0);
  return read_images(sources_.paths[i], {begin, end});
}

PairReader::Block PairReader::next() {
  const Index count = block_samples(features_[0] + features_[1]);
  Block block{next_of(0, count), next_of(1, count)};
  if (block.X1.cols() != block.X2.cols()) fail_unequal();
  position_ += block.X1.cols();
  return block;
}

void PairReader::skip(Index count) {
  for (auto& reader : readers_) {
    if (reader) reader->skip(count);
  }
  position_ += count;
}

// Text tells its number of samples only at its end, so it is read to there: the message shows both.
void PairReader::fail_unequal() {
  for (auto i : {0U, 1U}) {
    while (!samples_of(i) && readers_[i]->next(block_samples(features_[i])).cols() > 0) stop_if_interrupted();
  }
  throw UnequalSamples(
      fmt::format("{} and {}: matched pairs need as many samples in both", shape(Domain::one), shape(Domain::two)));
}

void accumulate(const Session& session, PairReader& reader, Summary& summary,
                const std::function<void(bool)>& after_block) {
  Progress progress(session, "pairs read", reader.samples(), summary.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.X1.cols() == 0) return;
    summary.add(block.X1, block.X2);
    progress.update(summary.samples());
    const bool last = pending_signal() != 0;  // asked once: a signal during after_block waits for the next block
    if (after_block) after_block(last);
    if (last) stop_if_interrupted();
  }
}

void PairReader::check_features(const Model& model, const std::string& model_path) const {
  for (Domain domain : {Domain::one, Domain::two}) {
    const auto i = slot(domain);
    check(sources_.paths[i], samples_of(i), features_[i], model, model_path, domain);
  }
}

BlockReader open_samples(const std::string& source, const ReadOptions& options, const Model& model,
                         const std::string& model_path, Domain domain) {
  BlockReader reader(source, options);
  check(source, reader.samples(), reader.features(), model, model_path, domain);
  return reader;
}

}  // namespace cgmca::cli
