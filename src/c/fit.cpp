// Fits and summaries.
#include <cgmca/calibrate.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <charconv>

#include "c/inside.hpp"
#include "support/choice.hpp"

namespace cgmca::c {
namespace {

// One value for each domain from an array of the caller, or T{} for all.
template <class T, class Given, class Make>
PerDomain<T> per_domain(const Given* given, std::size_t domains, const Make& make) {
  if (given == nullptr) return {};
  std::vector<T> values;
  for (std::size_t i = 0; i < domains; ++i) values.push_back(make(given[i]));
  return PerDomain<T>(std::move(values));
}

Ridge ridge_of(double value) { return value == CGMCA_AUTO ? Ridge::from_data() : Ridge(value); }

// The matrix that "3" of "file:3" names: one of the caller's, row by row.
Matrix numbered(const cgmca_fit_options& given, const std::string& name) {
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, problem] = std::from_chars(name.data(), end, number);
  if (problem != std::errc() || stop != end || number < 1 || number > given.matrix_count) {
    throw InvalidInput(fmt::format("the covariance names matrix '{}' of {} given: name it by its number, from 1 on",
                                   name, given.matrix_count));
  }
  need(given.matrices, "options.matrices");
  return MatrixView(Columns(given.matrices[number - 1])).transpose();
}

std::vector<Covariance> covariances_of(const cgmca_fit_options& given, std::size_t domains) {
  if (given.covariance != nullptr && given.covariances != nullptr) {
    throw InvalidInput("both options.covariance and options.covariances are given; give one of them");
  }
  const auto parse = [&](const char* spec) {
    need(spec, "a covariance");
    return Covariance::parse(spec, [&](const std::string& name) { return numbered(given, name); });
  };
  if (given.covariances == nullptr) return {parse(given.covariance == nullptr ? "identity" : given.covariance)};
  std::vector<Covariance> covariances;
  for (std::size_t i = 0; i < domains; ++i) covariances.push_back(parse(given.covariances[i]));
  return covariances;
}

MatchingOptions matching_of(const cgmca_fit_options& given, std::size_t domains) {
  MatchingOptions matching;
  matching.graph = graph_of(given, domains);
  matching.seed = given.seed;
  if (given.random_starts != 0) matching.random_starts = std::max<Index>(0, given.random_starts);
  if (given.max_sweeps != 0) matching.max_sweeps = given.max_sweeps;
  if (given.max_seconds != 0) matching.max_seconds = given.max_seconds;
  return matching;
}

std::vector<const Summary*> pointers_to(const std::vector<std::optional<Summary>>& extra) {
  std::vector<const Summary*> pointers;
  for (const auto& one : extra) pointers.push_back(one ? &*one : nullptr);
  return pointers;
}

// The samples as one summary, as the command line makes it of those that are in memory.
Summary summary_of(const std::vector<DomainInfo>& domains, Accumulate accumulate, const std::vector<Columns>& X,
                   const Vector& weights) {
  Summary summary(domains, accumulate);
  weights.size() > 0 ? summary.add_all(matched(X), weights) : summary.add_all(matched(X));
  return summary;
}

Model calibrated_fit(Folds folds, const std::vector<Columns>& X, const Vector& weights, const Settings& settings,
                     const Report& report) {
  weights.size() > 0 ? folds.add(matched(X), weights) : folds.add(matched(X));
  return calibrate(fit(folds.all(), settings.covariances, settings.options), folds, settings.covariances,
                   settings.options, report);
}

void hand_over(std::shared_ptr<std::optional<Model>>& found, cgmca_model** model) {
  *model = new cgmca_model{std::move(**found)};
}

}  // namespace

Accumulate accumulate_of(const cgmca_fit_options& given) {
  return given.accumulate == nullptr ? Accumulate::automatic
                                     : need_choice(given.accumulate, kAccumulates, "way to accumulate");
}

Graph graph_of(const cgmca_fit_options& given, std::size_t domains) {
  const auto m = static_cast<Index>(domains);
  if (given.graph_weights != nullptr) return Matrix(Eigen::Map<const Matrix>(given.graph_weights, m, m));
  return given.graph == nullptr ? "full" : std::string(given.graph);
}

Regularization regularization_of(const cgmca_fit_options& given, std::size_t domains) {
  return {per_domain<Index>(given.max_rank, domains, [](std::int64_t rank) { return static_cast<Index>(rank); }),
          per_domain<Ridge>(given.ridge, domains, ridge_of)};
}

std::vector<Index> features_of(const std::vector<Columns>& X) {
  std::vector<Index> features;
  for (const Columns& one : X) features.push_back(one.rows());
  return features;
}

std::vector<DomainInfo> domains_of(const cgmca_fit_options& given, const std::vector<Index>& features) {
  std::vector<DomainInfo> domains;
  for (std::size_t i = 0; i < features.size(); ++i) {
    DomainInfo domain(features[i]);
    if (given.names != nullptr) {
      const cgmca_names& names = given.names[i];
      if (names.name != nullptr) domain.name = names.name;
      if (names.features != nullptr) domain.feature_names.assign(names.features, names.features + features[i]);
    }
    domains.push_back(std::move(domain));
  }
  return domains;
}

std::shared_ptr<Settings> settings_of(const cgmca_fit_options& given, const std::vector<Index>& features) {
  auto settings = std::make_shared<Settings>();
  settings->covariances = covariances_of(given, features.size());
  const Regularization regularization = regularization_of(given, features.size());
  FitOptions& options = settings->options;
  if (given.rank_tol != 0) options.rank_tol = given.rank_tol;
  options.scale = given.scale != 0;
  options.max_rank = regularization.max_rank;
  options.ridge = regularization.ridge;
  options.matching = matching_of(given, features.size());
  if (given.extra != nullptr) {
    const std::vector<DomainInfo> domains = domains_of(given, features);
    for (std::size_t i = 0; i < features.size(); ++i) {
      settings->extra.emplace_back();
      if (given.extra[i].data == nullptr) continue;
      settings->extra.back().emplace(std::vector<DomainInfo>{domains[i]}, accumulate_of(given));
      settings->extra.back()->add(MatchedSamples{Columns(given.extra[i]).map()});
    }
    options.extra = pointers_to(settings->extra);
  }
  return settings;
}

namespace {

// The search for more than two domains tells of itself, which is where it can be stopped.
FitOptions reporting(const Settings& settings, const Report& report) {
  FitOptions options = settings.options;
  options.matching.progress = [report](const MatchingProgress&) { report(0); };
  return options;
}

}  // namespace
}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

cgmca_status cgmca_fit(const cgmca_view* X, int domains, const cgmca_fit_options* options, cgmca_model** model) {
  return guarded([&] {
    need(model, "model");
    const cgmca_fit_options given = read_options(options);
    const std::vector<Columns> samples = columns_of(X, domains, hold_for(given));
    const std::shared_ptr<Settings> settings = settings_of(given, features_of(samples));
    const std::vector<DomainInfo> infos = domains_of(given, features_of(samples));
    const Vector weights = sample_weights(given.weights, samples[0].cols());
    auto found = std::make_shared<std::optional<Model>>();
    run_stoppable(given, [=, folds = given.calibrate, accumulate = accumulate_of(given)](const Report& report) {
      if (folds != 0) {
        *found = calibrated_fit(Folds(infos, {.folds = folds, .accumulate = accumulate}), samples, weights, *settings,
                                report);
      } else {
        *found =
            fit(summary_of(infos, accumulate, samples, weights), settings->covariances, reporting(*settings, report));
      }
    });
    hand_over(found, model);
  });
}

cgmca_status cgmca_fit_summary(const cgmca_summary* summary, const cgmca_fit_options* options, cgmca_model** model) {
  return guarded([&] {
    need(summary, "summary"), need(model, "model");
    const cgmca_fit_options given = read_options(options);
    if (given.weights != nullptr || given.names != nullptr || given.accumulate != nullptr || given.calibrate != 0) {
      throw InvalidInput(
          "weights, names, accumulate and calibrate are options of samples; a summary has its own, and no folds");
    }
    std::vector<Index> features;
    for (const Domain domain : all_domains(summary->summary.domains())) {
      features.push_back(summary->summary.dimension(domain));
    }
    const std::shared_ptr<Settings> settings = settings_of(given, features);
    const auto own = std::make_shared<const Summary>(summary->summary);
    auto found = std::make_shared<std::optional<Model>>();
    run_stoppable(
        given, [=](const Report& report) { *found = fit(*own, settings->covariances, reporting(*settings, report)); });
    hand_over(found, model);
  });
}

cgmca_status cgmca_summary_new(const int64_t* features, int domains, const cgmca_fit_options* options,
                               cgmca_summary** summary) {
  return guarded([&] {
    need(features, "features"), need(summary, "summary");
    const cgmca_fit_options given = read_options(options);
    const std::vector<Index> d(features, features + std::max(domains, 0));
    *summary = new cgmca_summary{Summary(domains_of(given, d), accumulate_of(given))};
  });
}

cgmca_status cgmca_summary_add(cgmca_summary* summary, const cgmca_view* X, int domains, const double* weights) {
  return guarded([&] {
    need(summary, "summary");
    const std::vector<Columns> samples = columns_of(X, domains);
    weights == nullptr ? summary->summary.add(matched(samples))
                       : summary->summary.add(matched(samples), sample_weights(weights, samples[0].cols()));
  });
}

cgmca_status cgmca_summary_merge(cgmca_summary* summary, const cgmca_summary* other) {
  return guarded([&] {
    need(summary, "summary"), need(other, "other");
    summary->summary.merge(other->summary);
  });
}

cgmca_status cgmca_summary_save(const cgmca_summary* summary, const char* path) {
  return guarded([&] {
    need(summary, "summary"), need(path, "path");
    summary->summary.save(path);
  });
}

cgmca_status cgmca_summary_load(const char* path, cgmca_summary** summary) {
  return guarded([&] {
    need(path, "path"), need(summary, "summary");
    *summary = new cgmca_summary{Summary::load(path)};
  });
}

cgmca_status cgmca_summary_to_memory(const cgmca_summary* summary, void* bytes, size_t capacity, size_t* size) {
  return guarded([&] {
    need(summary, "summary"), need(size, "size");
    const std::string all = summary->summary.to_bytes();
    *size = all.size();
    if (bytes != nullptr && capacity >= all.size()) std::memcpy(bytes, all.data(), all.size());
  });
}

cgmca_status cgmca_summary_from_memory(const void* bytes, size_t size, cgmca_summary** summary) {
  return guarded([&] {
    need(bytes, "bytes"), need(summary, "summary");
    *summary = new cgmca_summary{Summary::from_bytes({static_cast<const char*>(bytes), size})};
  });
}

int64_t cgmca_summary_samples(const cgmca_summary* summary) {
  return summary == nullptr ? 0 : summary->summary.samples();
}

void cgmca_summary_free(cgmca_summary* summary) { delete summary; }
