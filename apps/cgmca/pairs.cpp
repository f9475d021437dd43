#include "pairs.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
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

namespace {

// NAME=FILE, unless a file is called so.
void split_name(const std::string& given, std::string& name, std::string& path) {
  const auto equals = given.find('=');
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  const bool named = equals != std::string::npos && equals > 0 && equals + 1 < given.size() &&
                     std::all_of(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(equals), is_letter);
  std::error_code ignored;
  if (!named || std::filesystem::exists(file_of(given), ignored)) {
    path = given;
    return;
  }
  name = given.substr(0, equals);
  path = given.substr(equals + 1);
}

}  // namespace

void add_pair_options(CLI::App& command, PairSources& sources, bool required) {
  constexpr std::array descriptions = {
      "Samples of domain 1, one a row: a file, file:member, or a PNG folder; NAME=FILE names the domain",
      "The matching samples of domain 2, in the same order"};
  for (const std::size_t i : {0U, 1U}) {
    command
        .add_option_function<std::string>(
            fmt::format("X{}", i + 1),
            [&sources, i](const std::string& given) { split_name(given, sources.names[i], sources.paths[i]); },
            descriptions.at(i))
        ->required(required);
  }
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

void PairReader::count_in(Index first, Index second) {
  if (first != second) fail_unequal();
  position_ += first;
}

PairReader::Block PairReader::next() {
  const Index count = block_samples(features_[0] + features_[1]);
  Block block{next_of(0, count), next_of(1, count)};
  count_in(block.X1.cols(), block.X2.cols());
  return block;
}

Index PairReader::add_next_to(Summary& summary) {
  const Index count = block_samples(features_[0] + features_[1]);
  MatchedSamples block;
  std::array<Matrix, 2> wide;
  std::array<Eigen::MatrixXf, 2> single;
  for (const std::size_t i : {0U, 1U}) {
    if (readers_[i] && readers_[i]->single()) {
      single[i] = readers_[i]->next_single(count);
      block.emplace_back(single[i]);
    } else {
      wide[i] = next_of(i, count);
      block.emplace_back(wide[i]);
    }
  }
  count_in(block[0].cols(), block[1].cols());
  if (block[0].cols() > 0) summary.add(block);
  return block[0].cols();
}

std::vector<DomainInfo> PairReader::domains() const {
  std::vector<DomainInfo> result;
  for (const std::size_t i : {0U, 1U}) {
    result.emplace_back(features_[i], sources_.names[i],
                        readers_[i] ? readers_[i]->feature_names() : std::vector<std::string>{});
  }
  return result;
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
    if (reader.add_next_to(summary) == 0) return;
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
