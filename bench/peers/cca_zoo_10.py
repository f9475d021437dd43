"""cca-zoo's CCA of 10 components, in an interpreter of its own (build/peers) with NumPy from PyPI and that one's BLAS."""

import ctypes
import os
import time
from inspect import signature

import numpy as np

try:
    from cca_zoo.linear import CCA
except ImportError:  # its name in newer versions
    from cca_zoo.models import CCA


def memory(field):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))


folder = os.environ["FOLDER"]
a, b = np.load(f"{folder}/a.npy"), np.load(f"{folder}/b.npy")
a = a[:, a.std(0) > 0]
ctypes.CDLL(None).malloc_trim(0)
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS:")
start = time.perf_counter()
model = (CCA(n_components=10) if "n_components" in signature(CCA).parameters else CCA(latent_dimensions=10)).fit([a, b])
seconds = time.perf_counter() - start
rise = memory("VmHWM:") - before
np.save(f"{folder}/cca_zoo.npy", model.transform([a, b]))
print(seconds, rise)
