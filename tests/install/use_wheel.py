"""Uses an installed wheel as a stranger would, in a folder that may hold MNIST's files in mnist/."""

import os
import subprocess
import time

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits

import cgmca

print("NumPy", np.__version__, "scikit-learn", sklearn.__version__, "cgmca", cgmca.__version__)
print(cgmca.blas_description(), cgmca.threads(), "threads")
assert "OpenBLAS" in cgmca.blas_description() and "Prescott" not in cgmca.blas_description()

# Real data: 1,797 digits of 8×8 pixels, the upper half of each and the lower half.
images = load_digits().images
upper, lower = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
model = clone(cgmca.MCA(10)).fit(upper[:1500], lower[:1500])
assert model.certificate_.excess < 1e-12
ours, theirs = model.score(upper[1500:], lower[1500:]), CCA(10, max_iter=5000).fit(upper[:1500], lower[:1500])
print(f"lower halves from upper ones, R² of 297 new digits: {ours:.3f}, scikit-learn's CCA "
      f"{theirs.score(upper[1500:], lower[1500:]):.3f}")
assert ours > theirs.score(upper[1500:], lower[1500:])

if os.path.isdir("mnist"):
    clean = cgmca.datasets.load_mnist("mnist").data.astype(float)
    noisy = clean + np.random.default_rng(0).normal(size=clean.shape) * clean.std()
    start = time.perf_counter()
    model = cgmca.MCA(10).fit(clean, noisy)
    print(f"MNIST {clean.shape} + {noisy.shape}: {time.perf_counter() - start:.2f} s, excess {model.certificate_.excess:.1e}")

# The same model by the command line, from every kind of file that needs a bundled library.
np.save("a.npy", upper)
np.save("b.npy", lower)
for name in ("a.mat:x", "a.h5:/x", "a.npz:x"):
    cgmca.write(name, upper)
    subprocess.run(["cgmca", "fit", name, "b.npy", "--cov", "identity:10", "-o", "model", "--quiet"], check=True)
    loaded = cgmca.load("model")
    assert np.allclose(loaded.coef_, cgmca.MCA(10).fit(upper, lower).coef_), name
subprocess.run(["cgmca", "report", "model", "a.npy", "b.npy", "-o", "report.html", "--quiet"], check=True)
assert os.path.getsize("report.html") > 10000
