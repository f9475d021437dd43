"""cca-zoo's CCA: cca_zoo_cca.py NAME1 NAME2 COMPONENTS, of the files of these names."""

import sys
from inspect import signature

import numpy as np
from alone import FOLDER, measured

try:
    from cca_zoo.linear import CCA
except ImportError:  # its name in older versions
    from cca_zoo.models import CCA

a, b = (np.load(f"{FOLDER}/{name}.npy") for name in sys.argv[1:3])
a = a[:, a.std(0) > 0]
size = "n_components" if "n_components" in signature(CCA).parameters else "latent_dimensions"
model = measured(lambda: CCA(**{size: int(sys.argv[3])}).fit([a, b]))
np.save(f"{FOLDER}/cca_zoo.npy", model.transform([a, b]))
