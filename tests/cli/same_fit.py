"""Two summaries of the same samples, however they were cut: the same fit."""

import numpy as np


def read(path):
    """The arrays and the metadata of a safetensors file."""
    import json
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + length])
    metadata = header.pop("__metadata__")
    data = raw[8 + length:]
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])]).reshape(entry["shape"])
            for name, entry in header.items()}, metadata


def assert_same_fit(folder, one, other, tolerance=1e-10):
    """Maps, correlations and the certificate of the fits of two summaries, relative to their sizes."""
    models = []
    for name in (one, other):
        folder.ok("fit", "--summary", name, "-o", f"{name}.model", "-q")
        models.append(read(folder / f"{name}.model"))
    (arrays, metadata), (others, other_metadata) = models
    assert arrays.keys() == others.keys()
    m = int(metadata.get("domains", 2))
    maps = [[model[f"mixing{i}"] @ model[f"weights{i}"] for i in range(1, m + 1)] for model, _ in models]
    for A, B in zip(*maps):
        assert A.shape == B.shape and np.abs(A - B).max() <= tolerance * np.abs(A).max()
    for name in arrays:
        if name.startswith(("singular", "mean", "variance", "score_covariance")):
            assert np.abs(arrays[name] - others[name]).max() <= tolerance * max(1, np.abs(arrays[name]).max()), name
    for key, value in metadata.items():
        if key in ("objective", "optimum", "excess", "samples", "total_weight", "gap"):
            assert abs(float(value) - float(other_metadata[key])) <= tolerance * max(1, abs(float(value))), key
