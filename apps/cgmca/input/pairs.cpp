#include "input/pairs.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "input/domains.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

// For a message about another number of features.
std::string name_differences(const std::vector<std::string>& expected, const std::vector<std::string>& given) {
  try {
    order_of(expected, given);
    return "";
  } catch (const InvalidInput& problem) {
    return fmt::format("; {}", problem.what());
  }
}

void check(const Session& session, SampleReader& reader, const Model& model, const std::string& model_path,
           Domain domain) {
  const DomainMap& map = model.domain(domain);
  const std::string whose = fmt::format("domain {} of '{}'", number(domain), model_path);
  reader.suit(map.features(), map.feature_names, whose);
  if (reader.features() != map.features()) {
    throw WrongDimension(fmt::format("{} against {} ({} features){}", reader.shape(), whose, map.features(),
                                     reader.samples() == map.features()
                                         ? "; if samples are its columns, say --columns"
                                         : name_differences(map.feature_names, reader.feature_names())));
  }
  take_order(session, reader, map.feature_names, whose);
}

// NAME=FILE, unless a file is called so.
void add_input(PairSources& sources, const std::string& given) {
  const auto equals = given.find('=');
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  const bool named = equals != std::string::npos && equals > 0 && equals + 1 < given.size() &&
                     std::all_of(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(equals), is_letter);
  std::error_code ignored;
  if (!named || std::filesystem::exists(file_of(given), ignored)) {
    sources.names.emplace_back();
    sources.paths.push_back(given);
    return;
  }
  sources.names.push_back(given.substr(0, equals));
  sources.paths.push_back(given.substr(equals + 1));
}

}  // namespace

void tell_notes(const Session& session, const SampleReader& reader) {
  if (!session.leads()) return;
  for (const std::string& note : reader.notes()) session.message(fmt::format("'{}': {}", reader.source(), note));
}

void take_order(const Session& session, SampleReader& reader, const std::vector<std::string>& names,
                const std::string& whose) {
  try {
    if (const Index moved = reader.take_order_of(names); moved > 0) {
      session.message(fmt::format("'{}': {} features are put into the order of {}", reader.source(), moved, whose));
    }
  } catch (const InvalidInput& problem) {
    throw InvalidInput(fmt::format("'{}' against {}: {}", reader.source(), whose, problem.what()));
  }
}

void add_pair_options(CLI::App& command, PairSources& sources, bool required) {
  command
      .add_option_function<std::vector<std::string>>(
          "X",
          [&sources](const std::vector<std::string>& given) {
            for (const std::string& one : given) add_input(sources, one);
          },
          "Matched samples of domain 1, 2, …, one per row and in the same order: a file, file:member, a PNG folder, "
          "several files ('a-*.npy' or @LIST), or - for CSV on standard input; "
          "NAME=FILE names the domain")
      ->required(required)
      ->expected(1, -1);
  add_input_options(command, sources.input);
  command
      .add_option(
          "--match", sources.match,
          "Pair the images of two folders by file name: what is called …A… in the first is called …B… in the second")
      ->option_text("A/B");
  command
      .add_option("--weights", sources.weights,
                  "How often each pair counts: a column of numbers, one for each sample of the first input; 2 counts "
                  "it twice, 0 leaves it out")
      ->option_text("FILE");
}

void add_nuisance_option(CLI::App& command, std::string& nuisance) {
  command
      .add_option(
          "--nuisance", nuisance,
          "What is to be removed from the samples, such as batch, instrument or age: a file with a row for each "
          "sample. Numbers are taken as they are; columns of texts are categories, and need a header")
      ->option_text("FILE");
}

void check_nuisance(const std::string& nuisance, const Model& model, bool needed) {
  if (needed && nuisance.empty()) {
    throw UsageError("the model was fitted with a nuisance; give its values for these samples by --nuisance FILE");
  }
  if (needed || nuisance.empty()) return;
  throw UsageError(model.nuisance ? "the maps are blind to the nuisance: leave out --nuisance"
                                  : "the model was fitted without a nuisance: leave out --nuisance");
}

std::vector<std::string> PairSources::files() const {
  std::vector<std::string> all = paths;
  if (!nuisance.empty()) all.push_back(nuisance);
  if (!weights.empty()) all.push_back(weights);
  return all;
}

PairSources PairSources::of(const Model& fitted, bool needed) const {
  check_nuisance(nuisance, fitted, needed);
  PairSources result = *this;
  if (needed) result.model = &fitted;
  return result;
}

void PairSources::check() const {
  if (paths.size() < 2) throw UsageError("give two inputs or more, one for each domain");
  check_standard_input(files());
  if (input.missing == Missing::keep && !may_lack) {
    throw UsageError("--missing keep is for fit, summarize and verify; this command needs whole samples");
  }
  if (nuisance.empty()) return;
  if (!match.empty()) throw UsageError("--nuisance goes by the order of the samples or --id, not with --match");
  if (input.missing == Missing::keep) throw UsageError("--nuisance goes without --missing keep");
}

PairReader::PairReader(const PairSources& sources, const Session& session)
    : sources_(sources), session_(session), gaps_(matched_noun(sources.domains())) {
  sources.check();
  if (!sources.match.empty() && sources.input.names_id()) throw UsageError("give --match or --id, not both");
  if (!sources.match.empty()) {
    if (sources.domains() != 2) {
      throw UsageError(fmt::format("--match pairs the images of two folders; {} inputs are given", sources.domains()));
    }
    match_by_name();
  } else {
    InputOptions input = sources.input;
    input.share = sources.part.has_value();
    for (const std::string& path : sources.paths) inputs_.emplace_back(path, input);
    if (!sources.input.names_id()) find_ids();
    if (!sources.nuisance.empty()) inputs_.emplace_back(sources.nuisance, input.of_nuisance(sources.model));
    if (sources.input.names_id()) match_by_key();
  }
  if (sources.part) {
    for (SampleReader& input : inputs_) input.count_samples();
  }
  const auto n = samples();
  for (const SampleReader& input : inputs_) {
    if (input.samples() && input.samples() != n) fail_unequal();
  }
  if (!sources.weights.empty()) open_weights();
  if (sources.part) take_share();
}

void PairReader::open_weights() {
  weight_reader_.emplace(sources_.weights, sources_.input.columns, sources_.part.has_value());
  if (first_samples_) {
    all_weights_ = weight_reader_->all();
  } else if (sources_.part) {
    weight_reader_->count_all();
  }
  check_weights(weight_reader_->count(), first_samples_ ? first_samples_ : samples());
}

void PairReader::take_share() {
  share_ = share_of(*all_samples(), *sources_.part);
  for (SampleReader& input : inputs_) input.skip(share_->first);
  if (weight_reader_ && !all_weights_) weight_reader_->skip(share_->first);
  gaps_.begin_at(share_->first);
}

// Where both are known.
void PairReader::check_weights(std::optional<Index> weights, std::optional<Index> pairs) const {
  if (!weights || !pairs || *weights == *pairs) return;
  throw UnequalSamples(fmt::format("'{}' holds {} weight{} for {} {}; each needs one", sources_.weights, *weights,
                                   *weights == 1 ? "" : "s", *pairs,
                                   first_samples_ ? fmt::format("samples of '{}'", sources_.paths[0]) : noun()));
}

Vector PairReader::weights_of(Index first, Index count) {
  if (!weight_reader_) return {};
  Vector weights(count);
  if (all_weights_) {
    for (Index j = 0; j < count; ++j) weights(j) = (*all_weights_)(inputs_.front().number(first + j));
  } else {
    weights = weight_reader_->next(count);
    if (weights.size() < count) {  // text tells only at its end how many samples it has
      Index pairs = first + count;
      while (const Index more = columns_of(read_block().front())) pairs += more;
      check_weights(first + weights.size(), pairs);
    }
  }
  without_weight_ += (weights.array() == 0).count();
  return weights;
}

void PairReader::check_all_weighted() {
  if (!weight_reader_ || share_) return;  // the weights of a share were counted before, and may all be 0
  if (!all_weights_) check_weights(weight_reader_->count_to_end(), gaps_.seen());
  if (without_weight_ == gaps_.seen() && without_weight_ > 0) {
    throw InvalidInput(fmt::format("'{}': all {} weights are 0; {} need a weight above 0 to count", sources_.weights,
                                   without_weight_, noun()));
  }
}

void PairReader::match_by_name() {
  const auto& paths = sources_.paths;
  ImagePairs images = match_images(paths[0], paths[1], sources_.match);
  std::vector<std::string> unmatched = std::move(images.unmatched1);
  unmatched.insert(unmatched.end(), images.unmatched2.begin(), images.unmatched2.end());
  if (images.pairs.empty()) {
    throw InvalidInput(fmt::format("no image of '{}' has a partner in '{}' by --match {}; unmatched: {}", paths[0],
                                   paths[1], sources_.match, fmt::join(unmatched, ", ")));
  }
  std::vector<std::string> first, second;
  for (auto& pair : images.pairs) {
    first.push_back(std::move(pair.first));
    second.push_back(std::move(pair.second));
  }
  inputs_.emplace_back(paths[0], std::move(first));
  inputs_.emplace_back(paths[1], std::move(second));
  if (unmatched.empty()) return;
  session_.message(
      fmt::format("{} images have no partner and are left out: {}", unmatched.size(), fmt::join(unmatched, ", ")));
}

Index PairReader::first_samples() const { return first_samples_.value_or(gaps_.seen()); }

std::optional<Index> PairReader::samples() const { return share_ ? share_->samples : all_samples(); }

std::optional<Index> PairReader::all_samples() const {
  for (const SampleReader& input : inputs_) {
    if (input.samples()) return input.samples();
  }
  return std::nullopt;
}

bool PairReader::streams() const {
  return std::all_of(inputs_.begin(), inputs_.end(), [](const SampleReader& input) { return input.streams(); });
}

std::vector<SampleReader::Block> PairReader::read_block() {
  if (!notes_told_) {
    for (const SampleReader& input : inputs_) tell_notes(session_, input);
    notes_told_ = true;
  }
  Index features = 0;
  for (const SampleReader& input : inputs_) features += input.features();
  Index count = block_samples(features);
  if (share_) count = std::min(count, share_->first + share_->samples - gaps_.seen());
  std::vector<SampleReader::Block> blocks;
  for (SampleReader& input : inputs_) {
    blocks.push_back(count > 0 ? input.next(count) : Matrix(input.features(), 0));
    if (columns_of(blocks.back()) != columns_of(blocks.front())) fail_unequal();
  }
  return blocks;
}

std::vector<SampleReader::Block> PairReader::complete_block() {
  for (;;) {
    std::vector<SampleReader::Block> blocks = read_block();
    const Index first = gaps_.seen(), n = columns_of(blocks.front());
    if (n == 0) {
      check_all_weighted();
      weights_ = Vector();
      const char* const how = sources_.input.missing == Missing::keep ? "; they lack those domains" : "; left out";
      if (gaps_.count() > 0) session_.message(gaps_.text() + how);
      return blocks;
    }
    weights_ = weights_of(first, n);
    const bool keep = sources_.input.missing == Missing::keep;
    numbers_ = keep ? gaps_.in_some(blocks, inputs_, weights_) : gaps_.complete(blocks, inputs_, weights_);
    if (gaps_.count() > 0 && sources_.input.missing == Missing::error) {
      for (; columns_of(blocks.front()) > 0; stop_if_interrupted()) {  // so that the message counts them all
        blocks = read_block();
        gaps_.complete(blocks, inputs_, weights_of(gaps_.seen(), columns_of(blocks.front())));
      }
      gaps_.fail();
    }
    if (std::ssize(numbers_) < n) {
      for (SampleReader::Block& block : blocks) block = columns_of(block, numbers_);
      if (weight_reader_) weights_ = Vector(weights_(numbers_));
    }
    for (Index& number : numbers_) number = inputs_.front().number(first + number);
    if (!numbers_.empty()) return blocks;
  }
}

PairReader::Block PairReader::next() {
  Block block;
  for (SampleReader::Block& one : complete_block()) block.X.push_back(in_doubles(std::move(one)));
  block.weights = weights_;
  return block;
}

bool PairReader::hand_next_to(const Take& take) {
  const std::vector<SampleReader::Block> blocks = complete_block();
  if (columns_of(blocks.front()) == 0) return false;
  MatchedSamples samples;
  for (const SampleReader::Block& block : blocks) {
    std::visit([&](const auto& X) { samples.emplace_back(X); }, block);
  }
  take(samples, weights_);
  return true;
}

std::vector<DomainInfo> PairReader::domains() const {
  std::vector<DomainInfo> result;
  for (std::size_t i = 0; i < sources_.paths.size(); ++i) {
    result.emplace_back(inputs_[i].features(), sources_.names[i], inputs_[i].feature_names());
  }
  if (!sources_.nuisance.empty()) {
    result.push_back(DomainInfo::of_nuisance(inputs_.back().features(), inputs_.back().feature_names()));
  }
  return result;
}

std::vector<Index> PairReader::dimensions() const {
  std::vector<Index> result;
  for (const SampleReader& input : inputs_) result.push_back(input.features());
  return result;
}

Rows PairReader::shapes() const {
  Rows rows;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const bool nuisance = i == sources_.paths.size();
    rows.emplace_back(nuisance ? "nuisance" : fmt::format("X{}", i + 1), inputs_[i].shape());
  }
  return rows;
}

std::string PairReader::noun() const { return matched_noun(sources_.domains()); }

void PairReader::skip(Index pairs, Index left_out) {
  for (SampleReader& input : inputs_) input.skip(pairs);
  constexpr Index some = 65536;
  for (Index done = 0; done < pairs; done += some) weights_of(gaps_.seen() + done, std::min(some, pairs - done));
  gaps_.skip(pairs, left_out - without_weight_);
}

// Text tells its number of samples only at its end, so it is read to there: the message shows all.
void PairReader::fail_unequal() {
  std::vector<std::string> shapes;
  bool same_features = true, crossed = false;
  for (SampleReader& input : inputs_) {
    while (!input.samples() && columns_of(input.next(block_samples(input.features()))) > 0) stop_if_interrupted();
    const std::string which = sources_.domains() == 2 ? "" : fmt::format("domain {}: ", shapes.size() + 1);
    shapes.push_back(which + input.shape());
    same_features = same_features && input.features() == inputs_.front().features();
    crossed =
        crossed || (input.features() == inputs_.front().samples() && input.samples() != inputs_.front().samples());
  }
  const char* option = sources_.input.columns ? "leave --columns out" : "say --columns";
  throw UnequalSamples(fmt::format(
      "{}: {} need as many samples in {}{}", fmt::join(shapes, sources_.domains() == 2 ? " and " : ", "),
      sources_.domains() == 2 ? "matched pairs" : noun(), sources_.domains() == 2 ? "both" : "every domain",
      same_features
          ? fmt::format("; if samples are the files' {}, {}", sources_.input.columns ? "rows" : "columns", option)
      : crossed ? "; one of them seems to hold samples as columns and another as rows: store all alike"
                : ""));
}

namespace {

void add_to(Summary& summary, const MatchedSamples& X, const Vector& weights) {
  weights.size() > 0 ? summary.add(X, weights) : summary.add(X);
}

}  // namespace

void accumulate(const Session& session, PairReader& reader, Summary& summary,
                const std::function<void(bool)>& after_block) {
  Progress progress(session, reader.noun() + " read", reader.samples(), reader.position());
  while (reader.hand_next_to([&](const MatchedSamples& X, const Vector& weights) { add_to(summary, X, weights); })) {
    progress.update(reader.position());
    const bool last = pending_signal() != 0;  // asked once: a signal during after_block waits for the next block
    after_block(last);
    if (last) stop_if_interrupted();
  }
}

IncompleteSummary read_incomplete(const Session& session, PairReader& reader, Accumulate accumulate) {
  IncompleteSummary summary(reader.domains(), accumulate);
  Progress progress(session, reader.noun() + " read", reader.samples());
  while (reader.hand_next_to([&](const MatchedSamples& X, const Vector& weights) {
    weights.size() == 0 ? summary.add(X) : summary.add(X, weights);
  })) {
    progress.update(reader.position());
    stop_if_interrupted();
  }
  return summary;
}

void add_to(Verifier& verifier, const PairReader::Block& block) {
  if (block.weights.size() == 0) {
    verifier.add(block.views());
  } else {
    verifier.add(block.views(), block.weights);
  }
}

AllPairs read_all(const Session& session, PairReader& reader) {
  Progress progress(session, reader.noun() + " read", reader.samples());
  std::vector<PairReader::Block> blocks;
  AllPairs all;
  Index n = 0;
  for (;;) {
    PairReader::Block block = reader.next();
    if (block.samples() == 0) break;
    n += block.samples();
    all.numbers.insert(all.numbers.end(), reader.numbers().begin(), reader.numbers().end());
    blocks.push_back(std::move(block));
    progress.update(reader.position());
    stop_if_interrupted();
  }
  const bool weighted = !blocks.empty() && blocks.front().weights.size() > 0;
  all.weights.resize(weighted ? n : 0);
  for (Index i = 0; i < reader.count(); ++i) {
    all.X.emplace_back(reader.features(domain_at(i)), n);
    Index first = 0;
    for (const PairReader::Block& block : blocks) {
      all.X.back().middleCols(first, block.samples()) = block.X[i];
      if (weighted) all.weights.segment(first, block.samples()) = block.weights;
      first += block.samples();
    }
  }
  return all;
}

void PairReader::check_features(const Model& model, const std::string& model_path) {
  check_inputs(sources_.paths.size(), model);
  check_features(model, model_path, all_domains(model.count()));
}

void PairReader::check_features(const Model& model, const std::string& model_path, const std::vector<Domain>& domains) {
  for (std::size_t i = 0; i < domains.size(); ++i) check(session_, inputs_[i], model, model_path, domains[i]);
}

SampleReader open_samples(const Session& session, const std::string& source, const InputOptions& options,
                          const Model& model, const std::string& model_path, Domain domain) {
  SampleReader reader(source, options);
  check(session, reader, model, model_path, domain);
  tell_notes(session, reader);
  return reader;
}

}  // namespace cgmca::cli
