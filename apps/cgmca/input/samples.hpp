// One input of samples, read in blocks: its features in the order that a model expects, its missing values accounted
// for.
#pragma once

#include <cgmca/io.hpp>
#include <cgmca/model.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
}

namespace cgmca::cli {

enum class Missing { error, drop, pass, keep };  // keep: samples lack domains

// How the files of samples of one command are read.
struct InputOptions {
  bool columns = false;
  Missing missing = Missing::error;
  ComplexAs complex = ComplexAs::refuse;
  std::string id;           // the column of text files that names samples; "none": none; empty: one that is found
  bool share = false;       // only some of the samples are read
  bool categories = false;  // columns of texts are categories,
  std::vector<std::string> expected;  // of these values

  ReadOptions read() const {
    return {.columns = columns,
            .complex = complex,
            .id = id,
            .share = share,
            .categories = categories,
            .expected = expected};
  }
  InputOptions of_nuisance(const Model* model) const;  // its values in the order of the model
  bool names_id() const { return !id.empty() && id != "none"; }
  // What the choices were, to compare with those of a run that is resumed.
  std::string text() const;
};
// --columns, --missing, --complex and --id. `maps`: the samples become others, so missing ones can be passed on.
void add_input_options(CLI::App& command, InputOptions& options, bool maps = false);

class SampleReader {
 public:
  SampleReader(const std::string& source, const InputOptions& options);
  SampleReader(const std::string& folder, std::vector<std::string> images);

  const std::string& source() const { return source_; }
  Index features() const { return features_; }
  std::optional<Index> samples() const;
  bool streams() const { return !loaded_ && (!reader_ || reader_->streams()); }
  bool holds_floats() const { return reader_ && !loaded_ && reader_->holds_floats(); }  // of 32 bits, not integers
  std::string shape() const;  // "'a.npy' (100 samples × 784 features)"
  std::vector<std::string> feature_names() const;

  // Decides whether the first column of a text file without --id is a feature, so that there are so many features: one
  // that was taken for the samples' names is a feature if a model needs it; one that was taken for a feature is none if
  // a model has only the others, by name, or if it holds whole numbers that differ. notes() then tells.
  void suit(Index features, const std::vector<std::string>& names, const std::string& whose);
  bool finds_ids() const;            // of a text file for which no --id is given
  void take_first_column_for_ids();  // of such a file, before a sample is read
  // What was decided that no option has said, for messages.
  const std::vector<std::string>& notes() const { return notes_; }
  void note(const std::string& text) { notes_.push_back(text); }

  // The first samples, at most so many, which next() hands out again.
  using Block = std::variant<Matrix, Eigen::MatrixXf>;  // floats where the file has them
  const Block& peek(Index count);
  // The names of these samples that were found without --id; empty if there are none.
  const std::vector<std::string>& peeked_names() const { return held_names_; }

  // From now on the features come in the order of these names. How many have moved; none where either has no names.
  // Throws InvalidInput where they are not the same names.
  Index take_order_of(const std::vector<std::string>& names);

  Block next(Index count);  // no columns at the end
  void skip(Index count);
  void count_samples();                                  // so that samples() is known
  std::string place(Index sample, Index feature) const;  // as the file's user counts, for messages

  // Reads all samples, and returns their keys (--id). Throws InvalidInput where one occurs twice.
  std::vector<std::string> load();
  void pick(std::vector<Index> samples);                        // of those loaded: hands out these, in this order
  Index number(Index sample) const;                             // in the file, of a sample handed out
  const std::vector<std::string>& ids() const { return ids_; }  // the keys (--id) of the samples handed out last

 private:
  Block read(Index count);       // from the file
  Block take_held(Index count);  // of those that peek() has read
  void reopen(const std::string& id);

  std::string source_;
  InputOptions options_;
  std::optional<BlockReader> reader_;  // or these images of a folder:
  std::vector<std::string> images_;
  Index features_ = 0, position_ = 0;
  std::vector<Index> order_;  // of the features; empty: as they are in the file
  Block held_;                // read by peek() and not yet handed out
  std::vector<std::string> held_names_, notes_;
  std::optional<Matrix> loaded_;
  std::vector<Index> picked_;  // of the loaded samples
  std::vector<std::string> ids_;
};

// Throws UsageError if standard input (-) is named more than once.
void check_standard_input(const std::vector<std::string>& sources);

// Samples for a block of about 16 MB.
Index block_samples(Index features);

inline constexpr Index kPeeked = 100;    // samples by which it is decided whether a column names them
bool may_be_ids(const Vector& numbers);  // whether they differ and are whole numbers from 0 on
Vector first_feature(const SampleReader::Block& block);
Index columns_of(const SampleReader::Block& block);
SampleReader::Block columns_of(const SampleReader::Block& block, const std::vector<Index>& columns);
Matrix in_doubles(SampleReader::Block block);

// Samples that hold NaN in one of several inputs read in step: how many, and where the first are.
class Gaps {
 public:
  explicit Gaps(std::string what) : what_(std::move(what)) {}  // "pairs"

  // Which samples of the next block are complete. Throws InvalidInput, with the place, where there is infinity. Those
  // of weight 0, where there are weights, are left out whatever they hold.
  std::vector<Index> complete(const std::vector<SampleReader::Block>& blocks, const std::vector<SampleReader>& inputs,
                              const Vector& weights = {});
  // The same of samples that may lack some domains, but not all.
  std::vector<Index> in_some(const std::vector<SampleReader::Block>& blocks, const std::vector<SampleReader>& inputs,
                             const Vector& weights);
  void skip(Index samples, Index gaps);  // of a run that was stopped
  void begin_at(Index sample);           // of a share

  Index seen() const { return seen_; }  // the number of the next sample
  Index count() const { return count_; }
  // "3 of 60 pairs have missing values: 'a.csv' at line 14, column 'age'; …"
  std::string text() const;
  [[noreturn]] void fail() const;  // with that, and what to do

 private:
  std::string what_;
  Index first_ = 0, seen_ = 0, count_ = 0;
  std::vector<std::string> places_;  // of the first
};

}  // namespace cgmca::cli
