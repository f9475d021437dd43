"""For peers from PyPI, in an interpreter of their own: cca-zoo with NumPy from PyPI and that one's BLAS (build/peers),
mvlearn with Debian's (build/peers-mvlearn)."""

import ctypes
import os
import time

FOLDER = os.environ.get("FOLDER", ".")  # where data and answers lie


def memory(field):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))


def measured(work):
    """Prints the seconds and by how many bytes the resident memory rose, for bench/measure.py; returns what was found."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = memory("VmRSS:")
    start = time.perf_counter()
    found = work()
    print(time.perf_counter() - start, memory("VmHWM:") - before)
    return found
