"""What a merge of two summaries costs beside adding samples, in processor time of one thread: docs/scale.md.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=1 /usr/bin/python3 bench/merge_cost.py
"""

import pickle
import time

import numpy as np

import cgmca


def timed(work):
    """Processor seconds, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def main():
    random = np.random.default_rng(0)
    print(f"{'p':>5} {'form':>5} {'add, µs a sample':>17} {'to bytes, s':>12} {'from bytes, s':>14} {'merge, s':>9} "
          f"{'= samples':>10}")
    for features, rows in ((128, 20_000), (784, 6_000)):
        X = random.standard_normal(size=(rows, features))
        Y = X + random.standard_normal(size=X.shape)
        for accumulate in ("gram", "qr"):
            cgmca.Summary(features, features, accumulate=accumulate).add(X[::2], Y[::2])  # what is loaded once
            adding, summary = timed(lambda: cgmca.Summary(features, features, accumulate=accumulate).add(X, Y))
            packing, sent = timed(lambda: pickle.dumps(summary))
            unpacking, received = timed(lambda: pickle.loads(sent))
            merging, merged = timed(lambda: received.merge(summary))
            assert merged.n_samples == 2 * rows
            print(f"{2 * features:5} {summary.form:>5} {1e6 * adding / rows:17.1f} {packing:12.3f} {unpacking:14.3f} "
                  f"{merging:9.3f} {merging / adding * rows:10.0f}", flush=True)


if __name__ == "__main__":
    main()
