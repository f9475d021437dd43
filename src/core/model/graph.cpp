#include "core/model/graph.hpp"
#include "core/base/thresholds.hpp"

#include <fmt/format.h>

#include <cgmca/error.hpp>
#include <cgmca/fit_options.hpp>
#include <charconv>
#include <cmath>
#include <vector>

namespace cgmca::multi {
namespace {

std::string entry(Index i, Index j, double value) { return fmt::format("weight ({}, {}) is {}", i + 1, j + 1, value); }

void check_entry(const MatrixView& w, Index i, Index j) {
  constexpr double rounding = thresholds::kEqualInMatching;
  const double value = w(i, j);
  if (!std::isfinite(value)) throw NotFinite(entry(i, j, value) + "; weights must be finite", i, j);
  if (i == j && value != 0) throw InvalidInput(entry(i, j, value) + "; a domain's weight with itself must be 0");
  if (value < 0) throw NotPositive(entry(i, j, value) + "; weights must not be negative");
  if (!(std::abs(value - w(j, i)) <= rounding * (std::abs(value) + std::abs(w(j, i))))) {
    throw NotSymmetric(entry(i, j, value) + fmt::format(" but weight ({}, {}) is {}", j + 1, i + 1, w(j, i)));
  }
}

// Whether a path of edges leads from domain 0 to each.
std::vector<bool> reached_from_first(const MatrixView& w) {
  std::vector<bool> reached(w.rows(), false);
  std::vector<Index> waiting = {0};
  reached[0] = true;
  while (!waiting.empty()) {
    const Index i = waiting.back();
    waiting.pop_back();
    for (Index j = 0; j < w.rows(); ++j) {
      if (w(i, j) == 0 || reached[j]) continue;
      reached[j] = true;
      waiting.push_back(j);
    }
  }
  return reached;
}

void check_connected(const MatrixView& w) {
  const std::vector<bool> reached = reached_from_first(w);
  std::string others;
  int count = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", i + 1);
    ++count;
  }
  if (count == 0) return;
  throw InvalidInput(fmt::format("no path of positive weights connects {} {} with domain 1",
                                 count == 1 ? "domain" : "domains", others));
}

Index star_centre(const std::string& spec, Index domains) {
  const char* const first = spec.data() + 5;
  const char* const last = spec.data() + spec.size();
  Index centre = 0;
  const auto [end, problem] = std::from_chars(first, last, centre);
  if (problem != std::errc() || end != last || centre < 1 || centre > domains) {
    throw InvalidInput(fmt::format("graph '{}': the centre of a star must be a domain from 1 to {}", spec, domains));
  }
  return centre - 1;
}

}  // namespace

Matrix graph_weights(const std::string& spec, Index domains) {
  if (domains < 2) throw InvalidInput(fmt::format("a graph needs two domains or more, not {}", domains));
  Matrix w = Matrix::Zero(domains, domains);
  if (spec == "full") {
    w.setOnes();
  } else if (spec == "path") {
    w.diagonal(1).setOnes();
    w.diagonal(-1).setOnes();
  } else if (spec.starts_with("star:")) {
    const Index centre = star_centre(spec, domains);
    w.row(centre).setOnes();
    w.col(centre).setOnes();
  } else {
    throw InvalidInput(fmt::format("graph '{}' is not known: use full, star:D (D the centre, from 1) or path", spec));
  }
  w.diagonal().setZero();
  return w;
}

Matrix checked_weights(const MatrixView& weights, Index domains) {
  if (domains < 2) throw InvalidInput(fmt::format("a graph needs two domains or more, not {}", domains));
  if (weights.rows() != domains || weights.cols() != domains) {
    throw NotSquare(fmt::format("the weights are {}×{}, but {} domains need {}×{}", weights.rows(), weights.cols(),
                                domains, domains, domains));
  }
  for (Index i = 0; i < domains; ++i) {
    for (Index j = 0; j < domains; ++j) check_entry(weights, i, j);
  }
  check_connected(weights);
  return (weights + weights.transpose()) / 2;
}

}  // namespace cgmca::multi

namespace cgmca {

Matrix weights_of(const Graph& graph, Index domains) {
  if (const auto* spec = std::get_if<std::string>(&graph)) return multi::graph_weights(*spec, domains);
  return multi::checked_weights(std::get<Matrix>(graph), domains);
}

}  // namespace cgmca
