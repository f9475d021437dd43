"""Denoise samples with Dask: python3 examples/engine_dask.py. Any of Dask's schedulers does the same."""
import dask.array
import cgmca
import cgmca.dask

random = dask.array.random.RandomState(0)
clean = random.normal(size=(200_000, 5), chunks=(20_000, 5)) @ random.normal(size=(5, 40), chunks=(5, 40))
noisy = clean + random.normal(size=clean.shape, chunks=clean.chunks)
model = cgmca.dask.fit(cgmca.MCA(n_components=5), clean, noisy)
cleaned = cgmca.dask.translate(model, noisy)  # lazy: nothing is computed yet
print(f"{model.n_samples_} pairs; squared error {((noisy - clean)**2).mean().compute():.2f} before, "
      f"{((cleaned - clean)**2).mean().compute():.2f} after")
