// What a summary holds: samples that wait as rows, and the compressed ones.
#pragma once

#include <cgmca/summary.hpp>
#include <cgmca/threads.hpp>
#include <optional>

#include "core/summary/compressed.hpp"
#include "core/summary/layout.hpp"
#include "core/summary/rows.hpp"
#include "core/summary/sketch.hpp"

namespace cgmca {

struct Summary::State {
  // After the first block, samples are compressed this many at a time: enough for fast matrix products, and few enough to
  // keep memory small. A block ends when the number of samples is a multiple of this. Blocks of a file are as long, and
  // are then not copied.
  static constexpr Index kBlock = 4096;
  // At most this many outliers wait.
  static constexpr Index kMostOutliers = 1024;

  State(std::vector<DomainInfo> info_, Accumulate accumulate_, const linalg::Backend& on_ = linalg::cpu());

  ByDomain<DomainInfo> info;
  std::vector<std::string> inputs;  // see Summary::inputs
  Accumulate accumulate;
  const linalg::Backend* on;
  Layout layout;
  // A sample that means are relative to; empty while there are no samples. It is the first sample until one comes that
  // weighs much more. A heavy origin that lies far away increases the spread by as much as it costs accuracy, so the
  // rounding of x - origin is always small. The choice does not depend on how the samples are cut into blocks.
  Vector origin;
  double origin_weight = 0;
  Index expected = 0;  // samples in all, as the caller has said; 0: not known
  Rows rows;
  Index outliers = 0;  // the first rows, which did not fit into the frame
  std::optional<Compressed> compressed;
  Sketch sketch;  // of the compressed samples

  bool nothing_compressed() const { return !compressed; }
  bool gram_form() const { return compressed && compressed->frame->identity(); }  // P = I
  bool qr_form() const { return compressed && !compressed->frame->identity(); }
  SummaryForm form() const;
  Index samples() const;
  double total_weight() const;
  bool weighted() const;                  // whether samples and their weight differ
  FirstMoments compressed_count() const;  // of the compressed samples
  FirstMoments count() const;             // of all; throws TooFewSamples if there are none

  bool together() const;                             // whether all expected samples are compressed at once
  Index first_block() const;                         // nothing is compressed while there are no more samples than this
  std::optional<Compressed> all_compressed() const;  // with the rows; nothing while there are few samples
  Index most_rows() const;                           // that may wait
  Index room() const;                                // for more rows, until they are compressed
  void add(const WeightedSamples& samples);
  void merge(const State& other);  // may leave this one half merged if it throws
  // A copy with the features in another order: feature f of the result is now at places[f], counted over all domains.
  State reordered(const linalg::Indices& places) const;
  void choose_origin(const WeightedSamples& samples, Index first, Index count);
  void move_origin(const Vector& to, double weight);
  Index direct(Index left) const;  // how many of the next samples are compressed without waiting as rows
  void compress_rows();
  Index compress(const WeightedSamples& samples);  // how many of the first are done
  Index compress_on_device(const WeightedSamples& samples);
  void add_to_compressed(const WeightedSamples& samples);
  void renew_frame();
  // BLAS's threads while `count` samples are compressed. They do not depend on where the samples were before, so that
  // the bits do not depend on how samples are cut into blocks.
  std::optional<BlasThreadScope> own_threads(Index count) const;
  State moved_to(const linalg::Backend& target) const;
};

std::vector<Index> features_of(const std::vector<DomainInfo>& domains);

// "1 matched pair", "7 samples": what a summary of m domains counts.
std::string counted_samples(Index m, Index count);

}  // namespace cgmca
