#include "core/summary/file.hpp"

#include <cgmca/error.hpp>
#include <cgmca/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/data/domain_file.hpp"

namespace cgmca {
namespace {

constexpr const char* kSummaryFormat = "cgmca-summary";

TensorWriter packed(const Summary::State& state, const std::string& note) {
  TensorWriter file(kSummaryFormat, kSummaryVersion);
  pack(file, "", state);
  if (!note.empty()) file.set("note", note);
  return file;
}

void pack_frame(TensorWriter& file, const std::string& prefix, const Compressed& all) {
  const linalg::Indices& features = all.frame->features;
  file.set(prefix + "varying", all.frame->size());
  for (std::size_t i = 0; all.frame->scaled() && i < all.frame->P.size(); ++i) {
    file.set(prefix + numbered("diagonal", domain_at(i)), all.frame->diagonal[i]);
  }
  file.add_vector(prefix + "order", Eigen::VectorX<Index>::Map(features.data(), all.frame->size()).cast<double>());
  file.add(prefix + "frame", linalg::download(all.frame->whole(all.G.on())));
  // With this a summary that is continued from a file has the same bits.
  if (all.measured.size() > 0) file.add_vector(prefix + "measured", all.measured);
}

std::shared_ptr<const Frame> unpack_frame(const TensorReader& file, const std::string& prefix, Index size,
                                          const Summary::State& state) {
  const double p = static_cast<double>(state.layout.size());
  linalg::Indices features;
  for (const double feature : file.vector(prefix + "order", size)) {
    const bool valid = feature >= 0 && feature < p && feature == std::floor(feature);
    features.push_back(valid ? static_cast<Index>(feature) : -1);
  }
  std::vector<Index> diagonal(state.info.size(), 0);  // files of triangles do not have it
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const std::string key = prefix + numbered("diagonal", domain_at(i));
    if (file.has_text(key)) diagonal[i] = file.integer(key, 0);
  }
  auto frame = Frame::from_whole(*state.on, file.matrix(prefix + "frame", size, size), std::move(features),
                                 std::move(diagonal), state.layout);
  if (!frame) file.fail("it is damaged: its frame is not one that samples can have");
  return std::make_shared<const Frame>(std::move(*frame));
}

Compressed unpack_compressed(const TensorReader& file, const std::string& prefix, FirstMoments count, SummaryForm form,
                             GramSafety safety, const Summary::State& state) {
  count.mean = file.vector(prefix + "mean", state.layout.size());
  const bool qr = form == SummaryForm::qr;
  const Index size = qr ? file.integer(prefix + "varying", 0) : state.layout.size();
  auto frame =
      qr ? unpack_frame(file, prefix, size, state) : std::make_shared<const Frame>(identity_frame(state.layout));
  Matrix G = file.matrix(prefix + "gram", size, size).triangularView<Eigen::Upper>();
  Compressed all{std::move(count), std::move(frame), state.on->upload(std::move(G)), state.accumulate,
                 std::move(safety)};
  if (all.frame->scaled() && file.has(prefix + "measured")) {  // older files lack it
    all.measured = file.vector(prefix + "measured", size);
    const Vector squares = all.G.on().diagonal(all.G);
    if (!(all.measured.array() >= 0 && all.measured.array() <= 2 * squares.array()).all()) {
      file.fail("it is damaged: what was measured of its frame is not of its samples");
    }
  }
  return all;
}

void pack_sketch(TensorWriter& file, const std::string& prefix, const Sketch& sketch, bool weighted) {
  file.add_vector(prefix + "sketch_origin", sketch.origin);
  file.add_vector(prefix + "sketch_mean", sketch.count.mean);
  file.add(prefix + "sketch_signs", sketch.U);
  file.add(prefix + "sketch", sketch.Y);
  if (weighted) file.set(prefix + "sketch_weight", sketch.count.weight);  // summed in another order
  if (sketch.origin_weight != 1) file.set(prefix + "sketch_origin_weight", sketch.origin_weight);
  if (sketch.noise > 0) file.set(prefix + "sketch_noise", sketch.noise);
}

// Files of cgmca 0.2 have no sketch.
Sketch unpack_sketch(const TensorReader& file, const std::string& prefix, const FirstMoments& compressed, Index p) {
  Sketch sketch;
  sketch.known = file.has(prefix + "sketch");
  if (!sketch.known) return sketch;
  sketch.origin = file.vector(prefix + "sketch_origin", p);
  sketch.count = {compressed.samples, compressed.weight, file.vector(prefix + "sketch_mean", p)};
  sketch.U = file.matrix(prefix + "sketch_signs", p, Sketch::kColumns);
  sketch.Y = file.matrix(prefix + "sketch", p, Sketch::kColumns);
  if (file.has_text(prefix + "sketch_weight")) sketch.count.weight = file.real(prefix + "sketch_weight");
  const std::string origin = prefix + "sketch_origin_weight";
  if (file.has_text(origin)) sketch.origin_weight = file.real(origin);
  if (file.has_text(prefix + "sketch_noise")) sketch.noise = file.real(prefix + "sketch_noise");
  if (!(sketch.count.weight > 0 && sketch.origin_weight > 0 && sketch.noise >= 0))
    file.fail("it is damaged: its sketch is not one of samples");
  return sketch;
}

// The weight of the compressed samples, which files without weights do not have.
double unpack_weight(const TensorReader& file, const std::string& prefix, Index compressed) {
  const std::string key = prefix + "compressed_weight";
  const double weight = file.has_text(key) ? file.real(key) : static_cast<double>(compressed);
  if (!(weight > 0)) file.fail(fmt::format("it is damaged: the weight of its compressed samples is {}", weight));
  return weight;
}

// The weight of the origin, which files do not have if it is 1, or if they are older.
double unpack_origin_weight(const TensorReader& file, const std::string& prefix) {
  if (!file.has_text(prefix + "origin_weight")) return 1;
  const double weight = file.real(prefix + "origin_weight");
  if (!(weight > 0)) file.fail(fmt::format("it is damaged: the weight of its origin is {}", weight));
  return weight;
}

// The weights of the rows.
Vector unpack_weights(const TensorReader& file, const std::string& prefix, Index rows) {
  if (!file.has(prefix + "weights")) return {};
  Vector weights = file.vector(prefix + "weights", rows);
  if (!(weights.array() > 0 && weights.array() <= thresholds::kLargestWeight).all()) {
    file.fail("it is damaged: a weight is not above 0, or is too large");
  }
  return empty_if_ones(std::move(weights));
}

// The inputs that were noted, if any.
std::vector<std::string> unpack_inputs(const TensorReader& file, const std::string& key) {
  if (!file.has_text(key)) return {};
  const auto inputs = nlohmann::json::parse(file.text(key), nullptr, false);
  const bool texts = inputs.is_array() &&
                     std::all_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.is_string(); });
  if (!texts) file.fail(fmt::format("'{}' is not a list of inputs", key));
  return inputs.get<std::vector<std::string>>();
}

}  // namespace

Index summary_format_version() { return kSummaryVersion; }

void pack(TensorWriter& file, const std::string& prefix, const Summary::State& state) {
  const Index m = state.layout.domains();
  const GramSafety safety = state.compressed ? state.compressed->safety : GramSafety(state.layout);
  file.set(prefix + "samples", state.samples());
  file.set(prefix + "compressed", state.samples() - state.rows.count());
  if (state.outliers > 0) file.set(prefix + "unlike", state.outliers);
  if (state.weighted()) file.set(prefix + "compressed_weight", state.compressed_count().weight);
  file.set(prefix + "domains", m);
  for (Index i = 0; i < m; ++i) {
    const auto domain = domain_at(i);
    const Spectrum& bounds = safety.bounds()[i];
    pack(file, prefix, domain, state.info[i]);
    file.set(prefix + numbered("largest", domain), bounds.largest);
    file.set(prefix + numbered("smallest", domain), bounds.smallest);
  }
  if (!state.inputs.empty()) {  // as text, for safetensors has no lists of texts
    using Json = nlohmann::json;
    file.set(prefix + "inputs", Json(state.inputs).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  file.set(prefix + "accumulate", std::string(name(state.accumulate)));
  file.set(prefix + "form", std::string(name(state.form())));
  if (state.samples() > 0) file.add_vector(prefix + "origin", state.origin);
  if (state.samples() > 0 && state.origin_weight != 1) file.set(prefix + "origin_weight", state.origin_weight);
  if (state.compressed) {
    file.add_vector(prefix + "mean", state.compressed->count.mean);
    file.add(prefix + "gram", state.on->download(state.compressed->G));
    if (state.qr_form()) pack_frame(file, prefix, *state.compressed);
    if (state.sketch.known) pack_sketch(file, prefix, state.sketch, state.weighted());
  }
  file.add(prefix + "rows", state.rows.all().transpose());
  if (state.rows.weights().size() > 0) file.add_vector(prefix + "weights", state.rows.weights());
}

std::unique_ptr<Summary::State> unpack_summary(const TensorReader& file, const std::string& prefix) {
  const Index m = file.count(prefix + "domains", 1);
  std::vector<DomainInfo> info;
  std::vector<Spectrum> bounds;
  for (Index i = 0; i < m; ++i) {
    const auto domain = domain_at(i);
    info.push_back(unpack_domain(file, prefix, domain));
    bounds.push_back(
        {file.real(prefix + numbered("largest", domain)), file.real(prefix + numbered("smallest", domain))});
  }
  auto state = std::make_unique<Summary::State>(std::move(info), file.choice(prefix + "accumulate", kAccumulates));
  state->inputs = unpack_inputs(file, prefix + "inputs");
  const auto form = file.choice(prefix + "form", kSummaryForms);
  const Index total = file.integer(prefix + "samples", 0), compressed = file.integer(prefix + "compressed", 0);
  if ((compressed > 0) == (form == SummaryForm::rows)) {
    file.fail(fmt::format("{} compressed samples in the form '{}'", compressed, name(form)));
  }
  if (total > 0) {
    state->origin = file.vector(prefix + "origin", state->layout.size());
    state->origin_weight = unpack_origin_weight(file, prefix);
  }
  if (compressed > 0) {
    state->compressed = unpack_compressed(file, prefix, {compressed, unpack_weight(file, prefix, compressed), {}}, form,
                                          GramSafety(std::move(bounds)), *state);
    state->sketch = unpack_sketch(file, prefix, state->compressed_count(), state->layout.size());
  }
  const Index waiting = total - compressed;
  if (waiting < 0 || waiting > (state->compressed ? state->most_rows() : 4 * state->layout.size())) {
    file.fail(fmt::format("{} samples of which {} are compressed", total, compressed));
  }
  state->rows = Rows(state->layout, file.matrix(prefix + "rows", waiting, state->layout.size()).transpose(),
                     unpack_weights(file, prefix, waiting));
  if (file.has_text(prefix + "unlike")) state->outliers = file.integer(prefix + "unlike", 0);  // older files lack it
  if (state->outliers > std::min(waiting, state->qr_form() ? Summary::State::kMostOutliers : 0)) {
    file.fail(fmt::format("it is damaged: {} of {} waiting samples are unlike others", state->outliers, waiting));
  }
  return state;
}

void Summary::save(const std::string& path, const std::string& note) const { packed(*state_, note).save(path); }
std::string Summary::to_bytes() const { return packed(*state_, {}).bytes(); }

Summary Summary::from_bytes(std::string_view bytes) {
  return Summary(unpack_summary(TensorReader(bytes, kSummaryFormat, kSummaryVersions), ""));
}

Summary Summary::load(const std::string& path, std::string* note) {
  const TensorReader file(path, kSummaryFormat, kSummaryVersions);
  if (note != nullptr) *note = file.has_text("note") ? file.text("note") : "";
  return Summary(unpack_summary(file, ""));
}

}  // namespace cgmca
