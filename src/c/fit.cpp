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

// The search for more than two domains tells of itself, which is where it can be stopped.
FitOptions reporting(const Settings& settings, const Report& report) {
  FitOptions options = settings.options;
  options.matching.progress = [report](const MatchingProgress&) { report(0); };
  return options;
}

// The fit of samples as one summary, as the command line makes it of those that are in memory.
Model whole_fit(const Request& request, const Settings& settings, const Report& report) {
  Summary summary(request.domains, request.accumulate);
  summary.expect(request.samples.front().cols());
  request.weights.size() > 0 ? summary.add(matched(request.samples), request.weights)
                             : summary.add(matched(request.samples));
  return fit(summary, settings.covariances, reporting(settings, report));
}

Model calibrated_fit(const Request& request, const Settings& settings, const Report& report) {
  Folds folds(request.domains, {.folds = request.given.calibrate, .accumulate = request.accumulate});
  request.add_to(folds);
  return calibrate(fit(folds.all(), settings.covariances, settings.options), folds, settings.covariances,
                   settings.options, report);
}

// Samples some of which lack domains. Extra samples have one domain only.
Model incomplete_fit(IncompleteSummary summary, const Settings& settings, const Report& report) {
  for (std::size_t i = 0; i < settings.extra.size(); ++i) {
    if (settings.extra[i]) summary.add({Domain{static_cast<int>(i) + 1}}, *settings.extra[i]);
  }
  FitOptions options = reporting(settings, report);
  options.extra.clear();
  return fit(summary, settings.covariances, options);
}

Model incomplete_fit(const Request& request, const Settings& settings, const Report& report) {
  if (request.given.calibrate != 0) {
    throw InvalidInput("calibrate needs whole samples; leave it out, or the samples that lack domains");
  }
  IncompleteSummary summary(request.domains, request.accumulate);
  request.add_to(summary);
  return incomplete_fit(std::move(summary), settings, report);
}

bool is_incomplete(std::string_view bytes) {
  return bytes.substr(0, 300).find("\"cgmca-incomplete\"") != std::string_view::npos;
}

DomainInfo domain_in(const Summary& summary, Domain domain) { return summary.domain(domain); }
DomainInfo domain_in(const IncompleteSummary& summary, Domain domain) { return summary.domain(domain); }

}  // namespace

bool keeps_incomplete(const cgmca_fit_options& given) {
  if (given.missing == nullptr || given.missing == std::string("error")) return false;
  if (given.missing == std::string("keep")) return true;
  throw InvalidInput(
      fmt::format("there is no way '{}' with missing samples: give one of 'error', 'keep'", given.missing));
}

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
  if (given.towards != nullptr) options.towards = need_choice(given.towards, kTowards, "towards");
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

Request::Request(const cgmca_view* X, int count, const cgmca_fit_options* options)
    : Request(X, count, options, hold_for(read_options(options))) {}

Request::Request(const cgmca_view* X, int count, const cgmca_fit_options* options, Columns::Hold hold)
    : given(read_options(options)), samples(columns_of(X, count, hold)), accumulate(accumulate_of(given)) {
  domains = domains_of(given, features_of(samples));
  weights = sample_weights(given.weights, samples[0].cols());
}

std::shared_ptr<Settings> Request::settings() const { return settings_of(given, features_of(samples)); }

}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

cgmca_status cgmca_fit(const cgmca_view* X, int domains, const cgmca_fit_options* options, cgmca_model** model) {
  return guarded([&] {
    need(model, "model");
    const auto request = std::make_shared<const Request>(X, domains, options);
    const bool incomplete = keeps_incomplete(request->given);
    const std::shared_ptr<Settings> settings = request->settings();
    *model = new cgmca_model{stoppable<Model>(request->given, [=](const Report& report) {
      if (incomplete) return incomplete_fit(*request, *settings, report);
      return request->given.calibrate != 0 ? calibrated_fit(*request, *settings, report)
                                           : whole_fit(*request, *settings, report);
    })};
  });
}

cgmca_status cgmca_fit_summary(const cgmca_summary* summary, const cgmca_fit_options* options, cgmca_model** model) {
  return guarded([&] {
    need(summary, "summary"), need(model, "model");
    const cgmca_fit_options given = read_options(options);
    if (given.weights != nullptr || given.names != nullptr || given.accumulate != nullptr || given.calibrate != 0 ||
        given.missing != nullptr) {
      throw InvalidInput(
          "weights, names, accumulate, missing and calibrate are options of samples; a summary has its own, and no "
          "folds");
    }
    std::vector<Index> features;
    std::visit(
        [&](const auto& own) {
          for (const Domain domain : all_domains(own.domains())) features.push_back(domain_in(own, domain).features);
        },
        summary->summary);
    const std::shared_ptr<Settings> settings = settings_of(given, features);
    const auto own = std::make_shared<const cgmca_summary>(*summary);
    *model = new cgmca_model{stoppable<Model>(given, [=](const Report& report) {
      const auto* whole = std::get_if<Summary>(&own->summary);
      return whole != nullptr ? fit(*whole, settings->covariances, reporting(*settings, report))
                              : incomplete_fit(std::get<IncompleteSummary>(own->summary), *settings, report);
    })};
  });
}

cgmca_status cgmca_summary_new(const int64_t* features, int domains, const cgmca_fit_options* options,
                               cgmca_summary** summary) {
  return guarded([&] {
    need(features, "features"), need(summary, "summary");
    const cgmca_fit_options given = read_options(options);
    const std::vector<DomainInfo> all = domains_of(given, {features, features + std::max(domains, 0)});
    *summary = keeps_incomplete(given) ? new cgmca_summary{IncompleteSummary(all, accumulate_of(given))}
                                       : new cgmca_summary{Summary(all, accumulate_of(given))};
  });
}

cgmca_status cgmca_summary_add(cgmca_summary* summary, const cgmca_view* X, int domains, const double* weights) {
  return guarded([&] {
    need(summary, "summary");
    const std::vector<Columns> samples = columns_of(X, domains);
    std::visit(
        [&](auto& own) {
          weights == nullptr ? own.add(matched(samples))
                             : own.add(matched(samples), sample_weights(weights, samples[0].cols()));
        },
        summary->summary);
  });
}

cgmca_status cgmca_summary_merge(cgmca_summary* summary, const cgmca_summary* other) {
  return guarded([&] {
    need(summary, "summary"), need(other, "other");
    std::visit(
        [&](auto& own) {
          const auto* same = std::get_if<std::decay_t<decltype(own)>>(&other->summary);
          if (same == nullptr) throw InvalidInput("one summary keeps samples that lack domains, the other does not");
          own.merge(*same);
        },
        summary->summary);
  });
}

cgmca_status cgmca_summary_save(const cgmca_summary* summary, const char* path) {
  return guarded([&] {
    need(summary, "summary"), need(path, "path");
    std::visit([&](const auto& own) { own.save(path); }, summary->summary);
  });
}

cgmca_status cgmca_summary_load(const char* path, cgmca_summary** summary) {
  return guarded([&] {
    need(path, "path"), need(summary, "summary");
    *summary = holds_incomplete_summary(path) ? new cgmca_summary{IncompleteSummary::load(path)}
                                              : new cgmca_summary{Summary::load(path)};
  });
}

cgmca_status cgmca_summary_to_memory(const cgmca_summary* summary, void* bytes, size_t capacity, size_t* size) {
  return guarded([&] {
    need(summary, "summary"), need(size, "size");
    const std::string all = std::visit([](const auto& own) { return own.to_bytes(); }, summary->summary);
    *size = all.size();
    if (bytes != nullptr && capacity >= all.size()) std::memcpy(bytes, all.data(), all.size());
  });
}

cgmca_status cgmca_summary_from_memory(const void* bytes, size_t size, cgmca_summary** summary) {
  return guarded([&] {
    need(bytes, "bytes"), need(summary, "summary");
    const std::string_view all(static_cast<const char*>(bytes), size);
    *summary = is_incomplete(all) ? new cgmca_summary{IncompleteSummary::from_bytes(all)}
                                  : new cgmca_summary{Summary::from_bytes(all)};
  });
}

int64_t cgmca_summary_samples(const cgmca_summary* summary) {
  return summary == nullptr ? 0 : std::visit([](const auto& own) { return own.samples(); }, summary->summary);
}

void cgmca_summary_free(cgmca_summary* summary) { delete summary; }
