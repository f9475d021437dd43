"""Multiset CCA of several views: multiset.py cca-zoo|mvlearn K RANK... NAME...

The views are NAME.npy in FOLDER, their ranks are for mvlearn, which stops at a singular covariance unless told. The scores
go to multiset.npy: m × n × K.
"""

import sys

import numpy as np
from alone import FOLDER, measured

package, k, *rest = sys.argv[1:]
ranks, names = [int(rank) for rank in rest[: len(rest) // 2]], rest[len(rest) // 2 :]
views = [np.load(f"{FOLDER}/{name}.npy") for name in names]
if package == "cca-zoo":
    from cca_zoo.linear import MCCA

    model = measured(lambda: MCCA(n_components=int(k)).fit(views))
    scores = model.transform(views)
else:
    from mvlearn.embed import MCCA

    model = measured(lambda: MCCA(n_components=int(k), signal_ranks=ranks).fit(views))
    scores = model.transform(views)
np.save(f"{FOLDER}/multiset.npy", np.array(scores))
