"""Maps of matched samples that no single machine could summarize: each rank reads its share of two files.

    mpirun -n 4 python3 -m mpi4py examples/mpi_fit.py a.npy b.npy model
"""
import sys
import cgmca
from cgmca import mpi
first, second, output = sys.argv[1:]
model = mpi.fit(cgmca.MCA(), first, second)  # the same model on every rank
if mpi.share(2).start == 0:                  # rank 0
    cgmca.save(model, output)
    print("correlations", model.canonical_correlations_[:3].round(3), "excess", model.certificate_.excess)
