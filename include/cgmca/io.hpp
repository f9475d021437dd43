// Reads and writes matrices in common file formats.
//
// A *source* is a path, or `path:member` where a file holds several arrays (`a.npz:x`, `a.mat:x`,
// the field `a.mat:cfg.x` of a struct, `a.h5:/group/x`). The format is told by extension, else by
// content. Samples are rows in every file (say `columns` where they are columns); in memory they are
// columns, so a matrix read is features × samples. Arrays of more than two dimensions keep their
// first axis as samples and flatten the rest in row-major order. Numbers are read unscaled.
//
//   format                    read   stream   write      member
//   .npy                       ×      ×        ×
//   .npz                       ×      ×        ×         required if there are several
//   .csv .tsv                  ×      ×        ×
//   IDX, IDX.gz                ×      ×
//   .mat (v5, v7.3)            ×               ×         required if there are several
//   .h5 .hdf5                  ×      ×        ×         required if there are several
//   folder of PNG images       ×      ×
//
// .csv, .tsv, .npy and IDX may be compressed by gzip (.csv.gz), and are then read from the beginning.
// "-" is text from standard input, which can be read once. A source may also be several files with
// the same features, whose samples follow one another: a pattern (shards/a-*.npy, quoted in a shell;
// also shards/a-*.npz:x), in natural order (a-2 before a-10); or @LIST, a text file with one source
// a line, relative to its own folder, in its order.
//
// Integers, floating-point numbers and logical values of any width and byte order are read, complex
// numbers of .npy, .npz, .mat and .h5 as ReadOptions::complex says. Sparse matrices (of .mat, and of
// scipy.sparse.save_npz: csr, csc, coo) are read as dense ones where these have at most 2 GB.
//
// Compressed IDX and NPZ stream if samples and their features lie in order in the file. They do not
// with `columns` alone, or in Fortran order alone. CSV does not stream with `columns`.
//
// Text (.csv .tsv) is read as spreadsheets, pandas, R and Octave write it. A first line with text in it is a header, and
// so is one whose first cell is blank. Fields are divided by commas, semicolons or tabs and may be quoted; lines end in
// LF, CRLF or CR. Where semicolons or tabs divide the fields, the decimal mark may be a comma; thousands separators are
// refused. A missing cell (empty, NA, N/A, #N/A, NaN, null, none, in upper or lower case) is NaN; the caller decides
// whether that is allowed. A column may name the samples (ReadOptions::id). The encoding is UTF-8, or UTF-16 with a byte
// order mark.
//
// Example:
//   BlockReader clean("clean.npy"), noisy("noisy.npy");
//   Summary summary({clean.features(), noisy.features()});
//   for (Matrix block = clean.next(100); block.cols() > 0; block = clean.next(100)) {
//     summary.add(block, noisy.next(block.cols()));
//   }
//   write("means.npz:clean", summary.mean(Domain::one));
#pragma once

#include <cgmca/types.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// What a complex number x = a + ib is read as: an error; |x|; |x|² = a² + b²; or two features, the real
// parts of all features first and then their imaginary parts ("re NAME", "im NAME").
enum class ComplexAs { refuse, magnitude, power, stack };

// Options of reading a source.
struct ReadOptions {
  // Samples are the file's columns (d×n, as MATLAB users often store them), not its rows; of more
  // than two dimensions the last is the samples and those before it are flattened.
  bool columns = false;
  ComplexAs complex = ComplexAs::refuse;  // how complex numbers are read
  // Text files only: the column that names samples, by its place from 1 or by its header. It is not a feature. "none":
  // all columns are features. If empty, a first column without a name in the header names the samples if its cells in
  // the first 100 lines differ and are texts or whole numbers from 0 on: R's write.csv and pandas' to_csv write row
  // numbers there, which as a feature of two domains would have a correlation of 1. notes() says so.
  std::string id = {};
  // Only a share of the samples will be read. Then the checksum of a stored member of .npz is not checked, because that
  // needs the whole file. (The checksum of compressed data is checked if they are read to their end.)
  bool share = false;
  // Text files only: a column of texts is read as categories, an indicator feature NAME=VALUE for each value that occurs,
  // in alphabetical order. Such a file needs a header. Values are found in a pass over the file before the first block.
  bool categories = false;
  // With categories: the names that the features must have, as of an earlier file; a value that is not among them is an
  // error, and one that does not occur is 0.
  std::vector<std::string> expected = {};
};

// Reads the whole matrix, features × samples. What a first column without a name is taken for, see ReadOptions::id; a
// BlockReader can tell. Throws IoError (cannot be read) or FormatError (not what it claims to be).
Matrix read(const std::string& source, const ReadOptions& options = {});

// A matrix read in blocks of samples, in bounded memory where the table above says "stream"; other
// formats are read whole by the constructor and handed out in blocks all the same.
class BlockReader {
 public:
  // Opens a source. Throws IoError, FormatError or InvalidInput.
  explicit BlockReader(const std::string& source, const ReadOptions& options = {});
  ~BlockReader();
  BlockReader(BlockReader&&) noexcept;
  BlockReader& operator=(BlockReader&&) noexcept;

  Index features() const;                // the number of features of each sample
  std::optional<Index> samples() const;  // unknown for text until its end is reached
  Index position() const;                // samples handed out or skipped so far
  // The names of the features: the header of a text file, or the member NAME_features beside the array NAME of .npz,
  // .mat and .h5. None if there are none, or if they do not tell features apart.
  std::vector<std::string> feature_names() const;
  // The names of the samples handed out last (ReadOptions::id), without blanks around them; none if no column has
  // them.
  const std::vector<std::string>& ids() const;
  bool is_text() const;  // whether a column can name the samples
  // What was decided about the file that no option has said, in sentences for its user: which column was taken for
  // the samples' names, or which line for a header. Mostly none.
  std::vector<std::string> notes() const;
  // The place in the file of a number that was handed out, for messages: "line 14, column 'age'" or
  // "line 14, column 3" in text, "row 14, column 3" elsewhere, all from 1.
  std::string place(Index sample, Index feature) const;
  bool streams() const;  // whether memory stays bounded for any number of samples

  // The next block, features × (at most max_samples): fewer samples only at the end, none after it. Throws IoError,
  // FormatError, or InvalidInput for max_samples < 1.
  Matrix next(Index max_samples);
  // The same in floats. If single() is true this is exact, and takes no block of doubles. Otherwise numbers are
  // rounded.
  Eigen::MatrixXf next_single(Index max_samples);
  // Whether a float holds each number of the file exactly.
  bool single() const;
  // The same, and the file holds floating-point numbers, not integers.
  bool holds_floats() const;
  // Passes over samples without converting them, for resuming. Throws InvalidInput beyond the end.
  void skip(Index count);
  // How many samples there are; samples() knows it from then on. The rest of a text file is searched for line ends,
  // unless write_row_index() has done so before; skip() then reads next to nothing. Throws IoError or FormatError.
  Index count_samples();

  class Source;  // one per format, in src/io/

 private:
  std::string name_;
  bool columns_;
  std::unique_ptr<Source> source_;
  Index position_ = 0;
};

// Options of writing a target.
struct WriteOptions {
  bool columns = false;                         // samples are the file's columns, not its rows
  std::vector<std::string> feature_names = {};  // one for each feature, or none; see write()
  std::string variable = "X";                   // the member's name, if the target names none
  bool single = false;                          // BlockWriter only: numbers are rounded to floats
  std::string id_name = {};                     // BlockWriter only: the header of the samples' names in text files
};

// Writes X (features × samples) with samples as rows; the format is told by the extension (.npy .npz
// .csv .tsv .mat .h5). Atomic: a temporary file in the same folder, synced, then renamed. Throws IoError,
// FormatError for a file that cannot be added to, or InvalidInput for a target or names that do not fit.
//
// A target `path:member` (.npz, .mat, .h5) is added to a file that exists, or replaces that member of
// it; the file's other members stay as they are. A target without a member replaces the whole file.
//
// Feature names are the header of .csv and .tsv, unless samples are columns or every name reads as a
// number. In .mat, .npz and .h5 they are kept beside the array NAME as NAME_features (a cell array of
// strings, a 'U' array, a dataset of strings). BlockReader::feature_names() reads them there. In .npy
// there is no place for them.
void write(const std::string& target, const MatrixView& X, const WriteOptions& options = {});

// Writes a matrix in blocks of samples, in memory that does not grow with their number. The target appears whole, by
// commit(), or not at all; until then its numbers are in a temporary file in the same folder. Without commit() that is
// removed.
//
// .npy, .csv and .tsv are written as the blocks come. The others must know the number of samples first (.npz its
// checksum), so commit() copies the numbers into their place, and needs room on the disk twice. A text file whose
// columns are samples has every sample in each of its lines, so commit() holds all numbers in memory, 8 bytes each.
//
// Example:
//   BlockWriter writer("scores.npy", model.common_dimension);
//   BlockReader reader("noisy.npy");
//   for (Matrix X = reader.next(1000); X.cols() > 0; X = reader.next(1000)) writer.add(apply(model, Domain::two, X));
//   writer.commit();
class BlockWriter {
 public:
  // Begins to write. Throws as write() does.
  BlockWriter(const std::string& target, Index features, const WriteOptions& options = {});
  ~BlockWriter();
  BlockWriter(BlockWriter&&) noexcept;
  BlockWriter& operator=(BlockWriter&&) noexcept;

  // Appends samples.   X: features×n. Text files get the names of the samples as their first column: give one for each
  // sample of every block, or none at all. Throws WrongDimension, InvalidInput, IoError.
  void add(const MatrixView& X, const std::vector<std::string>& ids = {});
  Index samples() const;  // so far
  // Lets the target appear. progress(samples) is called while numbers are copied into their place. Throws as write().
  void commit(const std::function<void(Index samples)>& progress = {});

  class Target;  // one per way of writing, in src/io/

 private:
  std::unique_ptr<Target> target_;
};

// The description of one array of a data file.
struct ArrayInfo {
  std::string name;                        // empty in a format without members
  std::vector<Index> shape;                // as the file has it
  std::string type;                        // in the file's own words: "float64", "complex double", "text"
  std::vector<std::string> feature_names;  // if the file has any
  std::optional<Index> missing;            // the number of NaN or empty cells, for arrays of real numbers
};
// The contents of a data file.
struct FileInfo {
  std::string format;             // in words: "NumPy archive", "CSV, separated by ';'"
  std::vector<ArrayInfo> arrays;  // one for each array in it
};
// Describes a data file. It reads every array once, in blocks, to count what is missing. For a file
// that is not a data file, FormatError says what it seems to be.
FileInfo describe_file(const std::string& path);

// Writes where the rows of a text file begin, beside it as PATH.rows. Several processes can then read a share of the
// file each without searching all of it for line ends. count_samples() uses the index, and throws FormatError if it was
// written for another file, or before the file was changed. Returns the number of rows. Throws IoError or FormatError.
Index write_row_index(const std::string& path);
std::string row_index_of(const std::string& path);  // the name of the index, "PATH.rows"

// The file or folder that a source or target names, without its member.
std::string file_of(const std::string& source_or_target);
// All files that a source stands for: those of a pattern or of a list, and the list; none for standard input. Throws
// IoError, FormatError.
std::vector<std::string> files_of(const std::string& source);

// The PNG files in a folder and in the folders in it, by their paths relative to it, in natural order
// (img2 before img10). Throws IoError.
std::vector<std::string> list_images(const std::string& folder);

// The PNG files of two folders, paired by name.
struct ImagePairs {
  std::vector<std::pair<std::string, std::string>> pairs;  // file names in folder 1 and folder 2
  std::vector<std::string> unmatched1, unmatched2;         // those without a partner
};
// Pairs the images of two folders by name. `match` is "real/synth", which means that a file called …real… in folder 1
// is called …synth… in folder 2. Throws IoError, InvalidInput.
ImagePairs match_images(const std::string& folder1, const std::string& folder2, const std::string& match);

// Reads the named PNG files of a folder, all of one size, as features × images. Throws IoError, FormatError,
// InvalidInput.
Matrix read_images(const std::string& folder, const std::vector<std::string>& names);

}  // namespace cgmca
#pragma GCC visibility pop
