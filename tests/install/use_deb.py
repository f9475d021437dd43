"""Uses python3-cgmca as a stranger would, and writes the pairs that the other checks read."""

import numpy as np

import cgmca

random = np.random.default_rng(0)
clean = random.normal(size=(500, 4)) @ random.normal(size=(4, 12)) + 0.1 * random.normal(size=(500, 12))
noisy = clean + random.normal(size=clean.shape)
np.save("clean.npy", clean)
np.save("noisy.npy", noisy)
model = cgmca.CGMCA("data1", 4).fit(clean, noisy)
assert model.certificate_.excess < 1e-12
assert np.linalg.norm(model.translate(noisy) - clean) < 0.9 * np.linalg.norm(noisy - clean)
print("cgmca", cgmca.__version__, cgmca.blas_description())
