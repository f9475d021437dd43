// The bootstrap and the diagnostics of samples.
#include <cgmca/bootstrap.hpp>
#include <cgmca/diagnose.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include "c/inside.hpp"

struct cgmca_bootstrap {
  cgmca::Bootstrap found;
};

struct cgmca_diagnosis {
  cgmca::Diagnosis found;
};

namespace cgmca::c {
namespace {

template <class Options>
BootstrapOptions bootstrap_options(const Options& given) {
  BootstrapOptions how;
  if (given.replicas != 0) how.replicas = given.replicas;
  if (given.seed != 0) how.seed = given.seed;
  if (given.level != 0) how.level = given.level;
  if (given.directions != 0) how.directions = given.directions;
  if (given.strongest != 0) how.strongest = given.strongest;
  return how;
}

const DomainBootstrap& resampled(const Bootstrap& found, int domain) {
  if (domain >= 1 && domain <= std::ssize(found.domains)) return found.domains[domain - 1];
  throw MissingDomain(fmt::format("there is no domain {} in this bootstrap of {}", domain, found.domains.size()));
}

const Matrix& part_of(const Bootstrapped& all, const std::string& part) {
  if (part == "estimate") return all.estimate;
  if (part == "standard_error") return all.standard_error;
  if (part == "lower") return all.lower;
  if (part == "upper") return all.upper;
  if (part == "p") return all.p;
  if (part == "q") return all.q;
  throw InvalidInput(fmt::format("a bootstrap has no '{}'; give estimate, standard_error, lower, upper, p or q", part));
}

const Matrix& array_of(const Bootstrap& found, const std::string& name, const std::string& part, int domain) {
  if (name == "correlations") return part_of(found.correlations, part);
  if (name == "weights") return part_of(resampled(found, domain).weights, part);
  if (name == "structure") return part_of(resampled(found, domain).structure, part);
  if (name == "selected") return resampled(found, domain).selected;
  throw InvalidInput(fmt::format("a bootstrap has no '{}'; give correlations, weights, structure or selected", name));
}

// A row for each suspect: sample and partner from 1 (0: none), the kind, the domain, p and q.
Matrix suspects_of(const Diagnosis& found) {
  Matrix rows(std::ssize(found.suspects), 6);
  for (Index i = 0; i < rows.rows(); ++i) {
    const Suspect& one = found.suspects[i];
    rows.row(i) << static_cast<double>(one.sample + 1), static_cast<double>(one.suspicion),
        static_cast<double>(number(one.domain)), one.p, one.q, static_cast<double>(one.partner + 1);
  }
  return rows;
}

Matrix numbers_of(const std::vector<Index>& list, Index first) {
  Matrix column(std::ssize(list), 1);
  for (Index i = 0; i < column.rows(); ++i) {
    column(i, 0) = static_cast<double>(list[i] + first);
  }
  return column;
}

Matrix array_of(const Diagnosis& found, const std::string& name, int domain) {
  if (name == "pair_p") return found.pair_p;
  if (name == "suspects") return suspects_of(found);
  if (domain < 1 || domain > std::ssize(found.domains)) {
    throw MissingDomain(fmt::format("there is no domain {} in this diagnosis of {}", domain, found.domains.size()));
  }
  const DomainDiagnosis& one = found.domains[domain - 1];
  if (name == "t_squared") return one.t_squared;
  if (name == "t_squared_p") return one.t_squared_p;
  if (name == "residual") return one.residual;
  if (name == "residual_p") return one.residual_p;
  if (name == "distance") return one.distance;
  if (name == "distance_p") return one.distance_p;
  if (name == "evidence") return one.evidence;
  if (name == "evidence_p") return one.evidence_p;
  if (name == "rank") return numbers_of(one.rank, 0);
  if (name == "likeliest") return numbers_of(one.likeliest, 1);
  throw InvalidInput(fmt::format("a diagnosis has no '{}'; <cgmca/cgmca.h> lists what it has", name));
}

}  // namespace
}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

cgmca_status cgmca_bootstrap_new(const cgmca_view* X, int domains, const cgmca_fit_options* options,
                                 const cgmca_bootstrap_options* how, cgmca_bootstrap** made) {
  return guarded([&] {
    need(made, "bootstrap");
    const cgmca_bootstrap_options asked = read_options(how);
    const auto request = std::make_shared<const Request>(X, domains, options);
    const auto settings = request->settings();
    const Index n = request->samples[0].cols();
    std::vector<std::int64_t> units;
    if (asked.units != nullptr) units.assign(asked.units, asked.units + n);
    *made = new cgmca_bootstrap{stoppable<Bootstrap>(request->given, [=](const Report& report) {
      BootstrapSamples groups(request->domains, asked.seed == 0 ? 1 : asked.seed);
      groups.add(matched(request->samples), request->weights, units);
      BootstrapOptions told = bootstrap_options(asked);
      told.progress = report;
      return bootstrap(groups, settings->covariances, settings->options, told);
    })};
  });
}

cgmca_status cgmca_bootstrap_array(const cgmca_bootstrap* all, const char* name, const char* part, int domain,
                                   int64_t* rows, int64_t* columns, const cgmca_buffer* out) {
  return guarded([&] {
    need(all, "bootstrap"), need(name, "name"), need(part, "part");
    give(array_of(all->found, name, part, domain), rows, columns, out);
  });
}

int64_t cgmca_bootstrap_replicas(const cgmca_bootstrap* all) { return all == nullptr ? 0 : all->found.replicas; }

void cgmca_bootstrap_free(cgmca_bootstrap* all) { delete all; }

cgmca_status cgmca_diagnose(const cgmca_model* model, const cgmca_view* X, int domains,
                            const cgmca_fit_options* options, double rate, cgmca_diagnosis** made) {
  return guarded([&] {
    need(model, "model"), need(made, "diagnosis");
    const auto request = std::make_shared<const Request>(X, domains, options);
    *made = new cgmca_diagnosis{stoppable<Diagnosis>(request->given, [=, own = model->model](const Report& report) {
      DiagnoseOptions how;
      if (rate != 0) how.false_discovery_rate = rate;
      how.progress = report;
      return diagnose(own, matched(request->samples), how);
    })};
  });
}

cgmca_status cgmca_diagnosis_array(const cgmca_diagnosis* diagnosis, const char* name, int domain, int64_t* rows,
                                   int64_t* columns, const cgmca_buffer* out) {
  return guarded([&] {
    need(diagnosis, "diagnosis"), need(name, "name");
    give(array_of(diagnosis->found, name, domain), rows, columns, out);
  });
}

const char* cgmca_diagnosis_remark(const cgmca_diagnosis* diagnosis, int64_t i) {
  return diagnosis == nullptr ? nullptr : text_at(diagnosis->found.remarks, i);
}

void cgmca_diagnosis_free(cgmca_diagnosis* diagnosis) { delete diagnosis; }
