"""What the tests of the command line share: the real program, run on real files in a folder of its own."""

import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import zlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("CGMCA_PROGRAM", str(ROOT / "build" / "cgmca"))
SHARED = ROOT.parent / "shared"


@dataclasses.dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Folder:
    """A folder with a.npy (60×7), b.npy (60×5) and, on demand, a model m and a summary s of them."""

    def __init__(self, path):
        self.path = path
        random = np.random.default_rng(0)
        causes = random.normal(size=(60, 4))
        self.a = causes @ random.normal(size=(4, 7)) + 0.3 * random.normal(size=(60, 7)) + 5
        self.b = causes @ random.normal(size=(4, 5)) + 0.3 * random.normal(size=(60, 5))
        np.save(path / "a.npy", self.a)
        np.save(path / "b.npy", self.b)

    def __truediv__(self, name):
        return self.path / name

    def names(self):
        return {entry.name for entry in self.path.iterdir()}

    def run(self, *arguments, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.path, text=True, timeout=120,
                                 stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, **more)
        return Result(process.returncode, process.stdout, process.stderr)

    def ok(self, *arguments, **more):
        result = self.run(*arguments, **more)
        assert result.status == 0, result.err
        return result

    def fails(self, status, *arguments, **more):
        """The status, one message that begins with the program's name, nothing on stdout, and no file left or changed."""
        before = {entry: entry.read_bytes() for entry in self.path.iterdir() if entry.is_file()}
        result = self.run(*arguments, **more)
        assert result.status == status, f"status {result.status}: {result.err}"
        assert result.err.startswith("cgmca: "), result.err
        assert not result.out
        after = {entry: entry.read_bytes() for entry in self.path.iterdir() if entry.is_file()}
        assert after == before
        return result.err

    def model(self, *options):
        self.ok("fit", "a.npy", "b.npy", "-o", "m", "-q", *options)
        return "m"

    def summary(self):
        self.ok("summarize", "a.npy", "b.npy", "-o", "s", "-q")
        return "s"


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def write_png(path, image):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image.astype(np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def shared(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs ../shared/{name}, not present")
    return path
