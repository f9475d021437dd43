// cgmca summarize: all that a fit needs to know of matched samples, in one pass and little memory.
#include <cgmca/error.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "input/pairs.hpp"
#include "input/part.hpp"
#include "options/options.hpp"
#include "output/checkpoint.hpp"
#include "output/describe.hpp"
#include "output/estimate.hpp"
#include "output/files.hpp"
#include "shell/ranks.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::cli {
namespace {

struct SummarizeArguments {
  PairSources pairs;
  std::string output;
  Accumulate accumulate = Accumulate::automatic;
  Device device = Device::cpu;
  CheckpointOptions checkpoint;
  Limits limits;
};

void check(const SummarizeArguments& options) {
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("summarize needs -o SUMMARY");
  options.pairs.check();
  options.checkpoint.check();
  if (!options.output.empty()) check_target(options.output, options.pairs.files());
  if (!options.checkpoint.path.empty()) check_target(options.checkpoint.path, options.pairs.files(), {options.output});
}

// What one process does.
class Job {
 public:
  Job(const Session& session, const SummarizeArguments& options)
      : session_(session), options_(options), reader_(options.pairs, session) {}

  // Whether there is something to do: with --dry-run the figures are printed instead.
  bool begin() {
    const auto n = reader_.samples();
    if (stop_at_estimate(session_, options_.limits,
                         estimate_summary(reader_.dimensions(), n, options_.accumulate, bytes_held(reader_)),
                         {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", reader_.dimensions()}}, reader_.shapes())) {
      return false;
    }
    checkpoint_.emplace(session_, options_.checkpoint, options_.pairs, options_.accumulate);
    if (options_.checkpoint.resume) remove_leftovers(options_.output);
    if (auto resumed = checkpoint_->resume()) {
      summary_ = resumed->summary.on(options_.device);
      reader_.skip(resumed->read, resumed->read - summary_->samples());
    } else {
      summary_.emplace(reader_.domains(), options_.accumulate, options_.device);
      note_inputs(*summary_, options_.pairs);
    }
    return true;
  }

  const Summary& read() {
    accumulate(session_, reader_, *summary_,
               [&](bool last) { checkpoint_->keep(*summary_, reader_.position(), last); });
    return *summary_;
  }

  void keep_all() { checkpoint_->write(*summary_, reader_.position()); }
  void remove_checkpoint() const { checkpoint_->remove(); }

 private:
  const Session& session_;
  const SummarizeArguments& options_;
  PairReader reader_;
  std::optional<Checkpoint> checkpoint_;
  std::optional<Summary> summary_;
};

// --missing keep
void run_incomplete(const Session& session, const SummarizeArguments& options) {
  if (!options.checkpoint.path.empty() || options.pairs.part || options.limits.dry_run) {
    throw UsageError(
        "--missing keep goes without checkpoints, --part and --dry-run; summarize parts as files of their "
        "own and merge them");
  }
  PairReader reader(options.pairs, session);
  const IncompleteSummary summary = read_incomplete(session, reader, options.accumulate);
  summary.save(options.output);
  session.result(describe(summary), describe_text(summary), {options.output});
}

void run_alone(const Session& session, const SummarizeArguments& options) {
  check(options);
  if (options.pairs.input.missing == Missing::keep) return run_incomplete(session, options);
  refuse_checkpoints_of_ranks(options.checkpoint.path, 1);
  Job job(session, options);
  if (!job.begin()) return;
  const Summary& summary = job.read();
  summary.save(options.output);
  job.remove_checkpoint();
  session.result(describe(summary), describe_text(summary), {options.output});
}

// Threads for all ranks of a machine are those of one process, unless somebody has said how many.
void share_cores(const Session& session) {
  const bool said = session.threads > 0 || std::getenv("OPENBLAS_NUM_THREADS") != nullptr ||
                    std::getenv("OMP_NUM_THREADS") != nullptr;
  if (!said) set_threads(std::max(1, threads() / session.ranks->on_this_machine()));
}

void check_same_files(const Summary& all) {
  const std::vector<std::string> missing = missing_parts(all.inputs());
  if (missing.empty()) return;
  throw InvalidInput(
      fmt::format("the ranks have read files of the same name that differ, or that have changed meanwhile: {} missing",
                  fmt::join(missing, "; ")));
}

// Each rank reads its part, and keeps a checkpoint of its own. What fails before and after reading all ranks learn;
// what fails in between, a bad row for instance, ends them all at once.
void run_ranks(const Session& session, SummarizeArguments options) {
  Ranks& ranks = *session.ranks;
  std::optional<Job> job;
  bool reads = false;
  agree(ranks, [&] {
    ranks.check_versions();
    if (options.pairs.part) throw UsageError("each rank of an MPI job reads its own part: leave out --part");
    options.pairs.part = {ranks.rank() + 1, ranks.count()};
    refuse_checkpoints_of_ranks(options.checkpoint.path, ranks.count());
    if (!options.checkpoint.path.empty()) options.checkpoint.path += of_rank(ranks.rank(), ranks.count());
    if (options.pairs.input.missing == Missing::keep) throw UsageError("--missing keep runs in one process");
    check(options);
    share_cores(session);
    reads = job.emplace(session, options).begin();
  });
  if (!reads) return;
  const Summary& own = job->read();
  job->keep_all();
  std::optional<Summary> all;
  agree(ranks, [&] {
    all = ranks.reduce(own);
    if (!all) return;
    check_same_files(*all);
    all->save(options.output);
  });
  job->remove_checkpoint();
  if (all) session.result(describe(*all), describe_text(*all), {options.output});
}

}  // namespace

void add_summarize(CLI::App& app, Session& session) {
  auto options = std::make_shared<SummarizeArguments>();
  auto& command =
      *app.add_subcommand("summarize", "Gather matched samples into a small summary that fit and merge take");
  add_pair_options(command, options->pairs);
  options->pairs.may_lack = true;
  add_nuisance_option(command, options->pairs.nuisance);
  add_output_option(command, options->output, "SUMMARY", "The summary file to write", false);
  add_accumulate_option(command, options->accumulate);
  add_part_option(command, options->pairs.part);
  add_device_option(command, options->device);
  add_checkpoint_options(command, options->checkpoint);
  add_limit_options(command, options->limits);
  command.footer(
      "Files larger than memory are read in blocks. With a checkpoint, work that was stopped by Ctrl-C or kill (exit\n"
      "status 130 or 143), or even by kill -9, continues with --resume and ends with the same summary to the bit.\n\n"
      "--part I/N is one job of N in a batch queue. It reads only its own rows of .npy, .npz (not compressed), IDX, "
      ".h5\n"
      "and folders, and of .csv and .tsv if `cgmca index` has noted where they are. Other files are read from the\n"
      "beginning to the end of the part. `cgmca merge` joins the N summaries, and says if a part is missing.\n\n"
      "Started by mpirun, each of N ranks reads its part and rank 0 writes the summary of all; the checkpoint of each\n"
      "is FILE.1ofN, FILE.2ofN, … After a rank has died, --resume with as many ranks continues the job.\n\n"
      "Examples:\n"
      "  cgmca summarize a.npy b.npy -o s\n"
      "  cgmca summarize a.npy b.npy d.npy -o s3\n"
      "  cgmca summarize a.npy b.npy --weights w.npy -o s\n"
      "  cgmca summarize a.npy b.npy --part 2/4 -o part2\n"
      "  mpirun -n 4 cgmca summarize a.npy b.npy -o s\n"
      "  cgmca summarize a.npy b.npy -o s --checkpoint s.part --every 30 --resume");
  command.callback([options, &session] {
    session.command = [options, &session] {
      session.ranks = join_ranks();
      session.ranks ? run_ranks(session, *options) : run_alone(session, *options);
    };
  });
}

}  // namespace cgmca::cli
