"""cca-zoo's CCA of 10 components."""

from inspect import signature

import numpy as np
from alone import FOLDER, measured

try:
    from cca_zoo.linear import CCA
except ImportError:  # its name in older versions
    from cca_zoo.models import CCA

a, b = np.load(f"{FOLDER}/a.npy"), np.load(f"{FOLDER}/b.npy")
a = a[:, a.std(0) > 0]
size = "n_components" if "n_components" in signature(CCA).parameters else "latent_dimensions"
model = measured(lambda: CCA(**{size: 10}).fit([a, b]))
np.save(f"{FOLDER}/cca_zoo.npy", model.transform([a, b]))
