"""Memory: no leak over many fits, no second copy of the user's arrays."""

import gc
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from cgmca import CGMCA

pytestmark = pytest.mark.skipif(not pathlib.Path("/proc/self/statm").exists(), reason="reads Linux's /proc")


def resident():
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_four_thousand_small_fits_leave_memory_flat():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(30, 5)), random.normal(size=(30, 4))
    bad = X.copy()
    bad[3, 2] = np.nan

    def once():
        model = CGMCA("data1", 2).fit(X, Y)
        model.transform(X, Y)
        model.translate(Y, return_std=True)
        model.certificate_, model.A_
        try:
            CGMCA("data1", 2).fit(bad, Y)
        except ValueError:
            pass

    for _ in range(500):
        once()
    before = resident()
    for _ in range(4000):
        once()
    grown = resident() - before
    print(f"resident memory grew by {grown} bytes over 4,000 fits")
    # A leak of one small array a fit would be 800 kB or more.
    assert grown < 400_000


@pytest.mark.parametrize("work, allowed", [
    # The arrays are 2 × 240 MB as float32 and would be 2 × 480 MB as float64; allowed is what may come on top, in MB.
    ("cgmca.MCA(3).fit(X, Y)", 150),
    ("cgmca.Summary(300, 300).add(X, Y)", 150),
    ("[cgmca.MCA(3).partial_fit(X, Y)]", 150),
    ("model.translate(X, 1, 2)[0, 0]", 150),
    ("model.transform(X)[0, 0]", 150),
])
def test_float32_is_never_turned_to_float64_as_a_whole(work, allowed):
    script = textwrap.dedent(f"""
        import numpy as np, cgmca
        def peak():
            return int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) // 1024
        random = np.random.default_rng(0)
        X = np.empty((200_000, 300), np.float32)
        X.reshape(100, 2000, 300)[:] = random.standard_normal((2000, 300), dtype=np.float32)
        Y = X[::-1].copy()
        base = np.asarray(X[:2000], float)
        model = cgmca.MCA(3).fit(base, base[:, :3] + random.normal(size=(2000, 3)))
        cgmca.MCA(3).fit(X[:4000], Y[:4000])
        before = peak()
        {work}
        print(peak() - before)
    """)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    grown = int(result.stdout)
    print(f"{work}: {grown} MB on top")
    assert grown < allowed


def test_contiguous_float64_is_not_copied():
    script = textwrap.dedent("""
        import numpy as np, cgmca
        def peak():
            return int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) // 1024
        X = np.zeros((400_000, 100))  # 320 MB each
        X[:] = np.arange(400_000)[:, None] % np.arange(7, 107)
        Y = X[:, ::-1].copy()
        cgmca.MCA(3).fit(X[:4000], Y[:4000])
        before = peak()
        cgmca.MCA(3).fit(X, Y)
        print(peak() - before)
    """)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 60


def test_a_fit_holds_its_summary_once():
    script = textwrap.dedent("""
        import numpy as np, cgmca
        def peak():
            return int([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]) / 1024
        random = np.random.default_rng(0)
        causes = random.normal(size=(800, 20))
        X, Y = (causes @ random.normal(size=(20, 8000)) + random.normal(size=(800, 8000)) for _ in range(2))
        cgmca.MCA(3).fit(X[:50], Y[:50])
        summary = cgmca.Summary(8000, 8000).add(X, Y)  # 102 MB of rows
        del X, Y
        before = peak()
        cgmca.MCA(3).fit_summary(summary)
        print(peak() - before)
    """)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    print(f"{result.stdout.strip()} MB on top")
    assert float(result.stdout) < 100  # the centred samples, less what X and Y have left free; a copy would be 98 more
