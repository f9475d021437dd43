#include <cgmca/error.hpp>
#include <cgmca/folds.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/tensor_file.hpp"
#include "core/summary/file.hpp"

namespace cgmca {
namespace {

constexpr const char* kFoldsFormat = "cgmca-folds";

// The order in which the folds receive the samples of the g-th group.
std::vector<std::uint32_t> order_of_folds(const FoldOptions& options, Index repeat, Index group) {
  const std::uint64_t seed = options.seed + 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(repeat);
  return random_numbers::permutation({seed, random_numbers::Purpose::folds, static_cast<std::uint32_t>(group)},
                                     static_cast<std::uint32_t>(options.folds));
}

Index fold_of_dealt(const FoldOptions& options, Index repeat, Index sample) {
  return order_of_folds(options, repeat, sample / options.folds)[sample % options.folds];
}

Index placed(const std::vector<std::vector<Index>>& places, Index repeat, Index fold) {
  return places.empty() ? fold : places[repeat][fold];
}

// The fold of ours that each fold of the other set joins: their fullest joins our emptiest. `order` decides ties.
std::vector<Index> balanced(const std::vector<Summary>& ours, const std::vector<Summary>& others,
                            const std::vector<std::uint32_t>& order) {
  std::vector<std::size_t> empty(order.begin(), order.end()), full(others.size());
  std::iota(full.begin(), full.end(), std::size_t{0});
  std::stable_sort(empty.begin(), empty.end(),
                   [&](std::size_t a, std::size_t b) { return ours[a].samples() < ours[b].samples(); });
  std::stable_sort(full.begin(), full.end(),
                   [&](std::size_t a, std::size_t b) { return others[a].samples() > others[b].samples(); });
  std::vector<Index> to(ours.size());
  for (std::size_t k = 0; k < to.size(); ++k) to[full[k]] = static_cast<Index>(empty[k]);
  return to;
}

// The default of Folds::repeats(). It never grows with the number of samples, because a repeat that was added later
// would lack the samples before it.
Index repeats_for(const FoldOptions& options, Index samples, Index features) {
  if (options.repeats > 0) return options.repeats;
  constexpr double most = 10, pairs = 1000, bytes = 1 << 30;
  const double n = static_cast<double>(std::max<Index>(1, samples)), size = n * static_cast<double>(features) * 8;
  return static_cast<Index>(std::max(1.0, std::floor(std::min({most, std::ceil(pairs / n), bytes / size}))));
}

Index all_features(const std::vector<DomainInfo>& domains) {
  Index sum = 0;
  for (const DomainInfo& domain : domains) sum += domain.features;
  return sum;
}

std::string prefix_of(std::size_t repeat, std::size_t fold) { return fmt::format("{}.{}.", repeat, fold); }

}  // namespace

Folds::Folds(std::vector<DomainInfo> domains, const FoldOptions& options)
    : options_(options), dealt_(1, 0), placed_(1) {
  if (options.folds < 2) throw InvalidInput(fmt::format("{} folds; at least 2 are needed", options.folds));
  if (options.repeats < 0) throw InvalidInput(fmt::format("{} repeats; at least 1 is needed", options.repeats));
  const Index repeats = repeats_for(options, 0, all_features(domains));
  const std::vector<Summary> empty(options.folds, Summary(std::move(domains), options.accumulate));
  parts_.assign(repeats, empty);
}

// The check is here because a fold's own check would number the rows within that fold. Nothing is added if it fails.
void Folds::add(const MatchedSamples& X) {
  parts_[0][0].check(X, samples());
  deal(X, {});
}

void Folds::add(const MatchedSamples& X, const VectorView& weights) {
  parts_[0][0].check(X, weights, samples());
  const WeightedSamples kept = weighted(linalg::cpu(), X, weights);
  deal(kept.X, kept.weights);
}

void Folds::deal(const MatchedSamples& X, const Vector& weights) {
  const Index n = X.front().cols();
  keep_repeats_for(samples() + n);
  for (Index repeat = 0; repeat < repeats(); ++repeat) {
    std::vector<std::vector<Index>> columns(options_.folds);
    for (Index j = 0; j < n; ++j) {
      const Index fold = placed(placed_.back(), repeat, fold_of_dealt(options_, repeat, dealt_.back() + j));
      columns[fold].push_back(j);
    }
    for (std::size_t fold = 0; fold < columns.size(); ++fold) {
      if (columns[fold].empty()) continue;
      MatchedSamples mine;
      mine.reserve(X.size());
      for (const SampleView& domain : X) {
        domain.visit([&](const auto& samples) { mine.emplace_back(samples(Eigen::all, columns[fold])); });
      }
      Summary& part = parts_[repeat][fold];
      if (weights.size() == 0) {
        part.add(mine);
      } else {
        part.add(mine, weights(columns[fold]));
      }
    }
  }
  dealt_.back() += n;
}

void Folds::merge(const Folds& other) {
  if (options_ != other.options_) {
    throw InvalidInput(
        "cannot merge folds that were dealt in another way: folds, repeats, seed and accumulate must agree");
  }
  auto merged = parts_;
  merged.resize(repeats_needed(samples() + other.samples()));
  auto places = other.placed_;
  for (auto& of_set : places) of_set.resize(merged.size());
  for (std::size_t repeat = 0; repeat < merged.size(); ++repeat) {
    // These numbers are above those of all groups, which begin at 0.
    const Index number = (Index{1} << 31) + samples() % (Index{1} << 31);
    auto order = order_of_folds(options_, static_cast<Index>(repeat), number);
    if (samples() == 0) std::iota(order.begin(), order.end(), 0U);
    const std::vector<Index> to = balanced(merged[repeat], other.parts_[repeat], order);
    for (std::size_t fold = 0; fold < to.size(); ++fold) {
      merged[repeat][to[fold]].merge(other.parts_[repeat][fold]);
    }
    for (auto& of_set : places) {
      std::vector<Index>& before = of_set[repeat];
      if (before.empty()) {
        before = to;
      } else {
        for (Index& fold : before) fold = to[fold];
      }
    }
  }
  parts_ = std::move(merged);
  placed_.insert(placed_.end(), places.begin(), places.end());
  dealt_.insert(dealt_.end(), other.dealt_.begin(), other.dealt_.end());
}

Index Folds::repeats_needed(Index samples) const {
  return repeats_for(options_, samples, all_features(parts_[0][0].state().info));
}

void Folds::keep_repeats_for(Index samples) { parts_.resize(repeats_needed(samples)); }

Index Folds::samples() const { return std::accumulate(dealt_.begin(), dealt_.end(), Index{0}); }

double Folds::total_weight() const {
  return std::accumulate(parts_[0].begin(), parts_[0].end(), 0.0,
                         [](double sum, const Summary& part) { return sum + part.total_weight(); });
}

Index Folds::fold_of(Index repeat, Index sample) const {
  std::size_t set = 0;
  while (set + 1 < dealt_.size() && sample >= dealt_[set]) sample -= dealt_[set++];
  return placed(placed_[set], repeat, fold_of_dealt(options_, repeat, sample));
}

const Summary& Folds::held_out(Index repeat, Index fold) const {
  return parts_.at(static_cast<std::size_t>(repeat)).at(static_cast<std::size_t>(fold));
}

Summary Folds::training(Index repeat, Index fold) const {
  Summary merged(parts_[0][0].state().info, options_.accumulate);
  for (Index part = 0; part < options_.folds; ++part) {
    if (part != fold) merged.merge(held_out(repeat, part));
  }
  return merged;
}

Summary Folds::all() const { return training(0, -1); }

void Folds::save(const std::string& path) const { pack().save(path); }
std::string Folds::to_bytes() const { return pack().bytes(); }
Folds Folds::load(const std::string& path) { return unpack(TensorReader(path, kFoldsFormat, kSummaryVersions)); }
Folds Folds::from_bytes(std::string_view bytes) { return unpack(TensorReader(bytes, kFoldsFormat, kSummaryVersions)); }

TensorWriter Folds::pack() const {
  TensorWriter file(kFoldsFormat, kSummaryVersion);
  const auto sets = std::ssize(dealt_);
  file.set("folds", options_.folds);
  file.set("repeats", options_.repeats);
  file.set("seed", fmt::format("{}", options_.seed));
  file.set("accumulate", std::string(name(options_.accumulate)));
  file.set("sets", sets);
  file.add_vector("dealt", Eigen::VectorX<Index>::Map(dealt_.data(), sets).cast<double>());
  if (sets > 1) {  // of one set, each fold is where it was dealt
    Vector places(sets * repeats() * options_.folds);
    for (Index k = 0; k < places.size(); ++k) {
      const Index set = k / (repeats() * options_.folds), repeat = k / options_.folds % repeats();
      places(k) = static_cast<double>(placed(placed_[set], repeat, k % options_.folds));
    }
    file.add_vector("placed", places);
  }
  for (std::size_t repeat = 0; repeat < parts_.size(); ++repeat) {
    for (std::size_t fold = 0; fold < parts_[repeat].size(); ++fold) {
      cgmca::pack(file, prefix_of(repeat, fold), parts_[repeat][fold].state());
    }
  }
  return file;
}

// Older files of merged sets lack them: there each fold was merged into the fold of the same number.
void Folds::unpack_places(const TensorReader& file) {
  placed_.assign(dealt_.size(), {});
  if (!file.has("placed")) return;
  const Vector places = file.vector("placed", std::ssize(dealt_) * repeats() * options_.folds);
  Index k = 0;
  for (auto& of_set : placed_) {
    of_set.assign(repeats(), std::vector<Index>(options_.folds));
    for (std::vector<Index>& of_repeat : of_set) {
      std::vector<bool> taken(of_repeat.size());
      for (Index& fold : of_repeat) {
        const double place = places(k++);
        const bool good = place >= 0 && place < static_cast<double>(options_.folds) && place == std::floor(place);
        if (!good || taken[static_cast<std::size_t>(place)]) file.fail("'placed' is not an order of the folds");
        fold = static_cast<Index>(place);
        taken[static_cast<std::size_t>(place)] = true;
      }
    }
  }
}

Folds Folds::unpack(const TensorReader& file) {
  FoldOptions options{file.count("folds", 2), file.count("repeats", 0), 0, file.choice("accumulate", kAccumulates)};
  const std::string& seed = file.text("seed");
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), options.seed);
  if (error != std::errc{} || end != seed.data() + seed.size()) file.fail(fmt::format("'{}' is not a seed", seed));
  if (!file.has_text(prefix_of(static_cast<std::size_t>(std::max<Index>(1, options.repeats) - 1),
                               static_cast<std::size_t>(options.folds - 1)) +
                     "samples")) {
    file.fail(fmt::format("it is damaged: it lacks some of {} folds", options.folds));
  }
  const Summary first(unpack_summary(file, prefix_of(0, 0)));
  Folds folds(first.state().info, options);
  folds.dealt_.clear();
  for (const double count : file.vector("dealt", file.integer("sets", 1))) {
    folds.dealt_.push_back(static_cast<Index>(count));
  }
  folds.keep_repeats_for(folds.samples());
  folds.unpack_places(file);
  for (std::size_t repeat = 0; repeat < folds.parts_.size(); ++repeat) {
    Index samples = 0;
    for (std::size_t fold = 0; fold < folds.parts_[repeat].size(); ++fold) {
      Summary part(unpack_summary(file, prefix_of(repeat, fold)));
      if (part.state().layout.starts != first.state().layout.starts) file.fail("folds of different features");
      samples += part.samples();
      folds.parts_[repeat][fold] = std::move(part);
    }
    if (samples != folds.samples()) {
      file.fail(fmt::format("{} samples in the folds, {} were dealt", samples, folds.samples()));
    }
  }
  return folds;
}

}  // namespace cgmca
