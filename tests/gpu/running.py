"""Runs the test functions of a module without pytest, which the GPU machine may lack."""

import sys
import time
import traceback


class Skipped(Exception):
    pass


def run(module, needs_gpu):
    """Status 0, 1 where a test failed, or 77 where there is no GPU. `needs_gpu` returns why there is none, or ''."""
    reason = needs_gpu()
    if reason:
        print(f"skipped: needs a GPU: {reason}")
        return 77
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    failed, skipped = [], []
    for name, test in tests.items():
        begin = time.perf_counter()
        try:
            test()
            outcome = "ok"
        except Skipped as why:
            skipped.append(name)
            outcome = f"skipped: {why}"
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed.append(name)
            outcome = "FAILED"
        print(f"{name}: {outcome} ({time.perf_counter() - begin:.2f} s)", flush=True)
    print(f"{len(tests) - len(failed) - len(skipped)} passed, {len(skipped)} skipped, {len(failed)} failed"
          + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0
