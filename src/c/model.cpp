// Models: their files, and what they hold, by name.
#include <cgmca/correlation_tests.hpp>
#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <map>

#include "c/inside.hpp"

namespace cgmca::c {
namespace {

template <class Sequence>
Matrix column_of(const Sequence& values) {
  Matrix column(static_cast<Index>(std::size(values)), 1);
  for (Index i = 0; i < column.rows(); ++i) column(i, 0) = static_cast<double>(values[i]);
  return column;
}

// A row for each hypothesis, in the order that cgmca.h states.
Matrix tests_of(const Model& model) {
  const std::vector<CorrelationTest> tests = correlation_tests(model);
  Matrix rows(std::ssize(tests), 25);
  for (std::size_t i = 0; i < tests.size(); ++i) {
    std::vector<double> row = {static_cast<double>(tests[i].first), tests[i].correlation};
    for (const FTest& one : {tests[i].wilks, tests[i].pillai, tests[i].hotelling, tests[i].roy}) {
      row.insert(row.end(), {one.value, one.F, one.df1, one.df2, one.p});
    }
    row.insert(row.end(), {tests[i].chi_squared, tests[i].chi_df, tests[i].chi_p});
    rows.row(static_cast<Index>(i)) = Eigen::Map<const Vector>(row.data(), rows.cols()).transpose();
  }
  return rows;
}

Matrix ridges_of(const Model& model) {
  std::vector<double> values;
  for (const Ridge& ridge : model.settings.ridge) values.push_back(ridge.automatic ? CGMCA_AUTO : ridge.value);
  return column_of(values);
}

Matrix start_values(const Model& model) {
  std::vector<double> values;
  for (const Start& start : model.certificate.starts) values.push_back(start.value);
  return column_of(values);
}

using OfModel = std::function<Matrix(const Model&)>;
const std::map<std::string, OfModel>& arrays_of_models() {
  static const std::map<std::string, OfModel> arrays = {
      {"correlations", [](const Model& m) -> Matrix { return m.certificate.singular_B; }},
      {"prescribed", [](const Model& m) -> Matrix { return m.certificate.singular_A; }},
      {"constraint_residuals", [](const Model& m) { return column_of(m.certificate.constraint_residuals); }},
      {"ranks", [](const Model& m) { return column_of(m.certificate.ranks); }},
      {"covariance_ranks", [](const Model& m) { return column_of(m.certificate.covariance_ranks); }},
      {"tolerances", [](const Model& m) { return column_of(m.certificate.tolerances); }},
      {"graph", [](const Model& m) { return m.certificate.edge_weights; }},
      {"max_rank", [](const Model& m) { return column_of(m.settings.max_rank); }},
      {"components", [](const Model& m) { return column_of(m.settings.components); }},
      {"ridge", ridges_of},
      {"start_values", start_values},
      {"tests", tests_of},
  };
  return arrays;
}

using OfDomain = std::function<Matrix(const DomainMap&)>;
const std::map<std::string, OfDomain>& arrays_of_domains() {
  static const std::map<std::string, OfDomain> arrays = {
      {"matrix", [](const DomainMap& map) { return map.matrix(); }},
      {"offset", [](const DomainMap& map) -> Matrix { return map.offset(); }},
      {"mean", [](const DomainMap& map) -> Matrix { return map.mean; }},
      {"variance", [](const DomainMap& map) -> Matrix { return map.variance; }},
      {"weights", [](const DomainMap& map) { return map.weights; }},
      {"mixing", [](const DomainMap& map) { return map.mixing; }},
      {"loadings", [](const DomainMap& map) { return map.loadings; }},
      {"spectrum", [](const DomainMap& map) -> Matrix { return map.covariance_spectrum(); }},
      {"held_out_error", [](const DomainMap& map) -> Matrix { return map.held_out_error; }},
  };
  return arrays;
}

// The share that each score explains alone and with those before it, by variance and of standardized features.   c×4
Matrix explained_by(const Model& model, Domain of, Domain by) {
  const Explained shares = explained(model, of, by);
  Matrix columns(shares.variance.alone.size(), 4);
  columns << shares.variance.alone, shares.variance.cumulative, shares.standardized.alone,
      shares.standardized.cumulative;
  return columns;
}

using OfPair = std::function<Matrix(const Model&, Domain, Domain)>;
const std::map<std::string, OfPair>& arrays_of_pairs() {
  static const std::map<std::string, OfPair> arrays = {
      {"cross_loadings", [](const Model& m, Domain i, Domain j) { return m.cross_loadings(i, j); }},
      {"score_covariance", [](const Model& m, Domain i, Domain j) { return m.score_covariance(i, j); }},
      {"explained", explained_by},
      {"score_correlations", score_correlations},
      {"shared_correlations", shared_correlations},
      {"importance", [](const Model& m, Domain i, Domain) -> Matrix { return importance(m, i); }},
      {"translation_r2", [](const Model& m, Domain i, Domain) -> Matrix { return translation_r2(m, i).features; }},
      {"common_correlations", [](const Model& m, Domain i, Domain j) -> Matrix { return m.common_correlations(i, j); }},
  };
  return arrays;
}

[[noreturn]] void no_such(const char* what, const char* name) {
  throw InvalidInput(fmt::format("a model has no {} '{}'; <cgmca/cgmca.h> lists those it has", what, name));
}

Matrix array_of(const Model& model, const char* name, int domain, int other) {
  if (const auto found = arrays_of_models().find(name); found != arrays_of_models().end()) return found->second(model);
  if (const auto found = arrays_of_domains().find(name); found != arrays_of_domains().end()) {
    return found->second(model.domain(domain_of(model, domain)));
  }
  const auto found = arrays_of_pairs().find(name);
  if (found == arrays_of_pairs().end()) no_such("array", name);
  return found->second(model, domain_of(model, domain), domain_of(model, other));
}

// The array of the thread's last question for a shape, so that it is not computed again when it is asked for itself.
struct Asked {
  std::uint64_t model = 0;
  std::string name;
  int domain = 0, other = 0;
  Matrix array;

  bool operator==(const Asked& o) const {
    return model == o.model && name == o.name && domain == o.domain && other == o.other;
  }
};

double number_of(const Model& model, const std::string& name) {
  const Certificate& certificate = model.certificate;
  const std::map<std::string, double> numbers = {
      {"samples", static_cast<double>(model.samples)},
      {"total_weight", model.total_weight},
      {"objective", certificate.objective},
      {"bound", certificate.bound},
      {"covariance_trace", certificate.covariance_trace},
      {"gap", certificate.gap},
      {"certified", certificate.certified ? 1 : 0},
      {"min_gap", certificate.min_gap},
      {"samples_residual", certificate.samples_residual.value_or(std::numeric_limits<double>::quiet_NaN())},
      {"sweeps", static_cast<double>(certificate.sweeps)},
      {"stopped_early", certificate.stopped_early ? 1 : 0},
      {"calibration_folds", static_cast<double>(model.calibration_folds)},
      {"starts", static_cast<double>(certificate.starts.size())},
      {"seed", static_cast<double>(model.settings.seed)},
  };
  const auto found = numbers.find(name);
  if (found == numbers.end()) no_such("number", name.c_str());
  return found->second;
}

// An entry of a list, or nothing beyond its end.
template <class List>
std::optional<std::string> entry(const List& list, int64_t i) {
  if (i < 0 || i >= std::ssize(list)) return std::nullopt;
  return list[i];
}

std::optional<std::string> text_of(const Model& model, const std::string& name, int domain, int64_t i) {
  if (name == "proof") return model.certificate.proof;
  if (name == "route") return model.certificate.route;
  if (name == "towards") return cgmca::name(model.settings.towards);
  if (name == "warning") return entry(model.warnings(), i);
  if (name == "covariance") return entry(model.covariances, domain - 1);
  if (name == "kind") return entry(model.settings.covariance, domain - 1);
  const auto& map = model.domains[domain_of(model, domain)];
  if (!map) return std::nullopt;
  if (name == "name") return map->name;
  if (name == "feature") return entry(map->feature_names, i);
  no_such("text", name.c_str());
}

}  // namespace
}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

std::uint64_t cgmca_model::next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

cgmca_status cgmca_model_load(const char* path, cgmca_model** model) {
  return guarded([&] {
    need(path, "path"), need(model, "model");
    *model = new cgmca_model{Model::load(path)};
  });
}

cgmca_status cgmca_model_save(const cgmca_model* model, const char* path) {
  return guarded([&] {
    need(model, "model"), need(path, "path");
    model->model.save(path);
  });
}

cgmca_status cgmca_model_from_memory(const void* bytes, size_t size, cgmca_model** model) {
  return guarded([&] {
    need(bytes, "bytes"), need(model, "model");
    *model = new cgmca_model{Model::from_bytes({static_cast<const char*>(bytes), size})};
  });
}

cgmca_status cgmca_model_to_memory(const cgmca_model* model, void* bytes, size_t capacity, size_t* size) {
  return guarded([&] {
    need(model, "model"), need(size, "size");
    thread_local std::pair<std::uint64_t, std::string> asked;  // of the last question for a size
    std::string all = asked.first == model->id ? std::move(asked.second) : model->model.to_bytes();
    asked.first = 0;
    *size = all.size();
    if (bytes == nullptr) {
      asked = {model->id, std::move(all)};
    } else if (capacity >= all.size()) {
      std::memcpy(bytes, all.data(), all.size());
    }
  });
}

cgmca_status cgmca_model_only(const cgmca_model* model, int domain, cgmca_model** one) {
  return guarded([&] {
    need(model, "model"), need(one, "the model of one domain");
    *one = new cgmca_model{model->model.only(domain_of(model->model, domain))};
  });
}

void cgmca_model_free(cgmca_model* model) { delete model; }

int cgmca_model_domains(const cgmca_model* model) {
  return model == nullptr ? 0 : static_cast<int>(model->model.count());
}

int64_t cgmca_model_dimension(const cgmca_model* model) { return model == nullptr ? 0 : model->model.common_dimension; }

int64_t cgmca_model_features(const cgmca_model* model, int domain) {
  if (model == nullptr || domain < 1 || domain > model->model.count()) return 0;
  const auto& map = model->model.domains[Domain{domain}];
  return map ? map->features() : 0;
}

cgmca_status cgmca_model_number(const cgmca_model* model, const char* name, double* value) {
  return guarded([&] {
    need(model, "model"), need(name, "name"), need(value, "value");
    *value = number_of(model->model, name);
  });
}

const char* cgmca_model_text(const cgmca_model* model, const char* name, int domain, int64_t i) {
  thread_local std::string text;
  std::optional<std::string> found;
  const cgmca_status status = guarded([&] {
    need(model, "model"), need(name, "name");
    found = text_of(model->model, name, domain, i);
  });
  if (status != CGMCA_OK || !found) return nullptr;
  text = std::move(*found);
  return text.c_str();
}

cgmca_status cgmca_model_array(const cgmca_model* model, const char* name, int domain, int other, int64_t* rows,
                               int64_t* columns, const cgmca_buffer* out) {
  return guarded([&] {
    need(model, "model"), need(name, "name");
    thread_local Asked last;
    Asked asked{model->id, name, domain, other, {}};
    asked.array = last == asked ? std::move(last.array) : array_of(model->model, name, domain, other);
    last.model = 0;
    give(asked.array, rows, columns, out);
    if (out == nullptr) last = std::move(asked);
  });
}

const char* cgmca_covariance_form(int64_t i) {
  return i < 0 || i >= std::ssize(covariance_kinds()) ? nullptr : covariance_kinds()[i].form;
}

const char* cgmca_covariance_meaning(int64_t i) {
  return i < 0 || i >= std::ssize(covariance_kinds()) ? nullptr : covariance_kinds()[i].meaning;
}
