"""Samples on a cluster: summaries made where they lie, merged in a tree, and one fit. See `cgmca.dask`, `cgmca.spark`
and `cgmca.mpi`."""
