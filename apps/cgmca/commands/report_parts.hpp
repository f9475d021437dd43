// The sections of the page that `cgmca report` writes.
#pragma once

#include <cgmca/bootstrap.hpp>
#include <cgmca/diagnose.hpp>
#include <cgmca/model.hpp>
#include <cgmca/verify.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/html.hpp"

namespace cgmca::cli {

// The features as pixels of an image, row by row.
struct Shape {
  Index height = 0, width = 0;
  Index size() const { return height * width; }
};

// What one pass over the matched samples finds: whether the model fits them, and some of them to look at.
struct Seen {
  Verification verification;
  ByDomain<Matrix> scores;             // of the pairs shown, by domain: 2 (or 1) × pairs
  ByDomain<std::optional<Vector>> r2;  // of each feature, translated from the other domains; of tables
  std::vector<Index> numbers;          // of the samples shown, from 0
  std::vector<std::string> labels;     // of the samples shown; none: not given
  std::optional<Diagnosis> diagnosis;  // of all
  std::optional<Bootstrap> bootstrap;  // if it was asked for
};

// "domain 2", or the name that it was given.
std::string domain_title(const Model& model, Domain domain);

// Whether a domain's features are shown one by one: those that have names, and up to 64 that have none; not pixels.
bool is_table(const Model& model, Domain domain, const std::optional<Shape>& shape);

void add_facts(report::Page& page, const Model& model);
void add_certificate(report::Page& page, const Model& model, const Seen* seen);
void add_correlations(report::Page& page, const Model& model);
void add_correlation_tests(report::Page& page, const Model& model);
// Of more than two domains: who is compared with whom, and where the starts of the search ended.
void add_graph(report::Page& page, const Model& model);
void add_starts(report::Page& page, const Model& model);
// The domains that joined after the fit, of a whole model.
// Which pairs are probably wrong; where n is small enough to look at each.
void add_pair_check(report::Page& page, const std::vector<Matrix>& X, const std::vector<Index>& numbers);
void add_additions(report::Page& page, const Model& model);
void add_error_bars(report::Page& page, const Model& model);
void add_spectra(report::Page& page, const Model& model);
void add_pairs(report::Page& page, const Model& model, const Seen& seen);
// Of tables: the features that each common direction is made of, and how well each is translated.
void add_features(report::Page& page, const Model& model, const Seen* seen, const std::optional<Shape>& shape);
// Shares, correlation circle and cross-correlations; of samples also scores, biplot, diagnostics and intervals.
void add_pictures(report::Page& page, const Model& model, const Seen* seen);
// Of other domains: pictures where the shape fits, else a map of features by directions.
void add_loadings(report::Page& page, const Model& model, const std::optional<Shape>& shape);

}  // namespace cgmca::cli
