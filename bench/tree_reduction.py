"""A tree reduction as 1,000 workers would do it: 1,000 summaries as bytes, merged two by two.

    PYTHONPATH=build/python /usr/bin/python3 bench/tree_reduction.py [--workers 1000] [--rows 5000] [--features 24 8]

Prints what each level of the tree moves, the processor time of the longest path of merges, and how far the maps are
from those of one pass over all samples. docs/scale.md has the table.
"""

import argparse
import math
import pickle
import time

import numpy as np

import cgmca


def block(worker, rows, features):
    """The samples of one worker: two views of the same four causes."""
    fixed, random = np.random.default_rng(0), np.random.default_rng(worker + 1)
    causes = random.normal(size=(rows, 4))
    return [causes @ fixed.normal(size=(4, d)) + 0.5 * random.normal(size=(rows, d)) + 3 for d in features]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--workers", type=int, default=1000)
    options.add_argument("--rows", type=int, default=5000)
    options.add_argument("--features", type=int, nargs=2, default=[24, 8])
    given = options.parse_args()
    p = sum(given.features)

    whole = cgmca.Summary(*given.features)
    parts, slowest = [], 0.0
    for worker in range(given.workers):
        samples = block(worker, given.rows, given.features)
        start = time.process_time()
        part = pickle.dumps(cgmca.Summary(*given.features).add(*samples))
        slowest = max(slowest, time.process_time() - start)
        parts.append(part)
        whole.add(*samples)
    rows = given.workers * given.rows * p * 8
    print(f"{given.workers} workers, {given.rows} samples of {given.features[0]}+{given.features[1]} features each: "
          f"{rows / 1e6:.0f} MB of rows, {sum(map(len, parts)) / 1e6:.1f} MB of summaries")
    print(f"{'level':>5} {'merges':>6} {'MB moved':>9} {'slowest merge, ms':>18}")

    path, level, moved = slowest, 0, 0
    while len(parts) > 1:
        level, longest = level + 1, 0.0
        sent = sum(len(part) for part in parts[1::2])  # the second of each pair goes to the first one's worker
        pairs, parts = [parts[k:k + 2] for k in range(0, len(parts), 2)], []
        for pair in pairs:
            start = time.process_time()
            first = pair[0]
            parts.append(pickle.dumps(pickle.loads(first).merge(pickle.loads(pair[1]))) if len(pair) == 2 else first)
            longest = max(longest, time.process_time() - start)
        path, moved = path + longest, moved + sent
        print(f"{level:5} {sum(len(pair) == 2 for pair in pairs):6} {sent / 1e6:9.2f} {1000 * longest:18.1f}")
    assert level == math.ceil(math.log2(given.workers))

    merged = pickle.loads(parts[0])
    assert merged.n_samples == given.workers * given.rows
    one, other = (cgmca.MCA(4).fit_summary(summary) for summary in (merged, whole))
    apart = max(np.abs(A - B).max() / np.abs(B).max() for A, B in zip(one.A_, other.A_))
    apart = max(apart, np.abs(one.canonical_correlations_ - other.canonical_correlations_).max())
    print(f"moved {moved / 1e6:.1f} MB, {moved / rows:.2%} of the rows; longest path {path:.3f} s of processor time")
    print(f"maps and correlations of {merged.n_samples} pairs differ from those of one pass by {apart:.1e}")
    assert apart < 1e-10


if __name__ == "__main__":
    main()
