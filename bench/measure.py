"""How bench/run.py measures: one machine, one BLAS, one number of threads, runs in turn, answers checked."""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDING = 1e-14  # residuals below are as good as each other


def settle_environment(threads):
    """Threads and kernels for both sides, before NumPy is loaded: OpenBLAS does not know every CPU (see README)."""
    wanted = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "OPENBLAS_CORETYPE" not in os.environ:
        if "avx512f" in flags and "avx512dq" in flags:
            wanted["OPENBLAS_CORETYPE"] = "SkylakeX"
        elif "avx2" in flags and "fma" in flags:
            wanted["OPENBLAS_CORETYPE"] = "Haswell"
    if any(os.environ.get(key) != value for key, value in wanted.items()):
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable, *sys.argv])


class Worker:
    """build/bench/bench_worker, which keeps data and models between commands. One of another build can follow it."""

    def __init__(self, folder, program=ROOT / "build" / "bench" / "bench_worker", follower=None):
        self.folder, self.follower = folder, follower
        self.process = subprocess.Popen([program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, *words):
        if self.follower and words[0] in ("load", "threads", "trim"):
            self.follower(*words)
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise SystemExit(f"bench_worker: {answer['error']}")
        return answer

    def answer(self, command="write"):
        import numpy as np

        path = f"{self.folder}/answer.npy"
        self(command, path)
        return np.load(path)


def memory(field):
    for line in open("/proc/self/status"):
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    return 0


def timed(work):
    """Seconds, by how many bytes the resident memory rose, and what was found."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = memory("VmRSS:")
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, memory("VmHWM:") - before, found


def script(program, path, folder, *arguments):
    """A peer that is another program, with arguments. It prints its own seconds and the bytes its memory rose by, and
    leaves its answer in `folder`; what is returned is called like `timed`."""

    def run():
        words = subprocess.run([*program, str(ROOT / "bench" / "peers" / path), *map(str, arguments)], check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env={**os.environ, "FOLDER": folder}).stdout.split()
        return float(words[-2]), float(words[-1]), None

    return run


def limits():
    """What this machine can do at most, measured as we use it."""
    import numpy as np

    A = np.random.default_rng(0).normal(size=(2000, 2000))
    rate = max(2 * 2000**3 / timed(lambda: A @ A)[0] for _ in range(5))
    source = np.ones(50_000_000)
    target = np.empty_like(source)
    copy = max(2 * source.nbytes / timed(lambda: np.copyto(target, source))[0] for _ in range(5))
    return {"dgemm": rate, "copy": copy}


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.before = Worker(folder, options.before) if options.before else None
        self.worker = Worker(folder, follower=self.before)
        self.limits = limits()
        self.rows, self.skipped, self.complaints = [], [], []
        print(f"dgemm {self.limits['dgemm'] / 1e9:.0f} Gflop/s, copy {self.limits['copy'] / 1e9:.1f} GB/s, "
              f"{options.threads} threads", flush=True)

    def wanted(self, text):
        return self.options.only in text and not any(word in text for word in self.options.without)

    def skip(self, work, peer, why):
        if self.wanted(f"{work} {peer}"):
            print(f"{work:<52} {peer:<22} skipped: {why}", flush=True)
            self.skipped.append({"work": work, "peer": peer, "why": why})

    def compare(self, work, peer_name, target, ours, peer, check, data_bytes, accuracy=None):
        """Interleaved runs of both sides. ours: a worker's answer; peer: as `timed` or a function to be timed. A peer whose
        LAPACK gives up has no time, and the row says so. check(found): whether the peer found the same as the worker's last
        answer. accuracy(found): constraint residual and distance of the objective from its bound of the peer's maps, or of
        ours where `found` is None, both from the data themselves."""
        import numpy as np

        if not self.wanted(f"{work} {peer_name}"):
            return
        if self.before:
            return self.compare_with_before(work, ours)
        mine, theirs = [], []
        self.trim()
        for _ in range(self.options.runs):
            mine.append(ours())
            try:
                seconds, rise, found = peer() if getattr(peer, "measures_itself", False) else timed(peer)
            except np.linalg.LinAlgError as error:
                return self.skip(work, peer_name, f"the peer fails here ({error}); ours took {mine[-1]['seconds']:.3f} s")
            theirs.append((seconds, rise))
        if not check(found):
            raise SystemExit(f"{work} against {peer_name}: the answers do not agree; no time is given")
        seconds = statistics.median(run["seconds"] for run in mine)
        peer_seconds = statistics.median(run[0] for run in theirs)
        operations = sum(cost[0] for cost in mine[-1]["profile"].values())
        limit = max(operations / self.limits["dgemm"], data_bytes / self.limits["copy"])
        row = {"work": work, "peer": peer_name, "target": target, "runs": len(mine), "ours_s": seconds, "peer_s": peer_seconds,
               "ratio": peer_seconds / seconds, "ours_mb": max(run["memory"] for run in mine) / 1e6,
               "peer_mb": max(run[1] for run in theirs) / 1e6, "operations": operations, "bytes": data_bytes,
               "limit_s": limit, "share": limit / seconds,
               "profile": {kind: cost[1] / mine[-1]["seconds"] for kind, cost in mine[-1]["profile"].items() if cost[0]}}
        if accuracy:
            row["residual"], row["gap"] = accuracy(None)
            row["peer_residual"], row["peer_gap"] = accuracy(found) if found is not None else (None, None)
        self.rows.append(row)
        self.judge(row)
        exact = f", residual {row['residual']:.0e} gap {row['gap']:.0e}" if accuracy else ""
        if row.get("peer_residual") is not None:
            exact += f" (peer {row['peer_residual']:.0e} {row['peer_gap']:.0e})"
        print(f"{work:<52} {peer_name:<22} {seconds:7.3f} s {peer_seconds:7.3f} s {row['ratio']:6.1f} (target {target})"
              f"  {row['ours_mb']:.0f} / {row['peer_mb']:.0f} MB, {100 * row['share']:.0f} % of the limit{exact}", flush=True)

    def by_each(self, ours):
        """Our answer, and that of the other build where there is one."""
        answers = [ours()]
        if self.before:
            now, self.worker = self.worker, self.before
            answers.append(ours())
            self.worker = now
        return answers

    def compare_with_before(self, work, ours):
        """The same work by both builds in turn. A row that is there for several peers is measured for each."""
        import numpy as np

        runs = []
        for _ in range(self.options.runs):
            self.trim()
            runs.append(self.by_each(ours))
        found, expected = (answer.ravel() for answer in self.by_each(lambda: self.worker.answer()))
        both = min(len(found), len(expected))  # a fit of few directions may know fewer correlations
        difference = np.median(np.abs(found[:both] - expected[:both])) / np.median(np.abs(expected[:both]))
        if not difference < (0.2 if "LSQR" in work else 1e-6):  # LSQR amplifies rounding
            raise SystemExit(f"{work}: the two builds differ by {difference:.1e}; no time is given")
        (now, now_mb), (before, before_mb) = (
            (statistics.median(run["seconds"] for run in side), max(run["memory"] for run in side) / 1e6)
            for side in zip(*runs))
        print(f"{work:<60} now {now:7.3f} s {now_mb:5.0f} MB, before {before:7.3f} s {before_mb:5.0f} MB: "
              f"{before / now:.2f} times as fast, answers differ by {difference:.0e}", flush=True)

    def trim(self):
        """What was freed before goes back to the system, on both sides: it would hide a rise of memory."""
        self.worker("trim")
        ctypes.CDLL(None).malloc_trim(0)

    def judge(self, row):
        name = f"{row['work']} against {row['peer']}"
        if row["ratio"] < row["target"]:
            self.complaints.append(f"{name}: {row['ratio']:.2f} times, the target is {row['target']}")
        if row["ours_mb"] > row["peer_mb"] + 2:  # pages are counted in lumps
            self.complaints.append(f"{name}: {row['ours_mb']:.0f} MB, the peer's {row['peer_mb']:.0f} MB")
        for what in ("residual", "gap"):
            theirs = row.get(f"peer_{what}")
            if theirs is not None and row[what] > 10 * max(theirs, ROUNDING):
                self.complaints.append(f"{name}: {what} {row[what]:.1e}, the peer's {theirs:.1e}")
