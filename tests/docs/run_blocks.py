#!/usr/bin/python3
"""Runs every fenced code block of the README, of docs/ and of the headers' examples, and says how many there were.

    tests/docs/run_blocks.py BUILD_FOLDER [PAGE…]

Blocks of a page share a folder, which holds the files that `furnish` makes, and run in their order: sh and python as
they stand, c as well, matlab and r where `make octave` and `make r` have been run. cpp blocks, and examples in headers,
are compiled into one program and run in it. A page may say why its next block is not run:  <!-- not run: REASON -->
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from tables import write_table

SHOWN = ("text", "cmake", "toctree", "include", "eval-rst", "doxygenfile", "")
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>.*?) -->\s*)?^(?P<indent> *)```(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```",
                   re.MULTILINE | re.DOTALL)


def furnish(folder):
    """The files that pages name: pairs a and b, a third view c, tables, weights, classes, MATLAB's sensors.mat."""
    import scipy.io
    random = np.random.default_rng(0)
    causes = random.normal(size=(60, 3))
    a = causes @ random.normal(size=(3, 7)) + 0.3 * random.normal(size=(60, 7)) + 2
    b = causes @ random.normal(size=(3, 5)) + 0.3 * random.normal(size=(60, 5)) - 1
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    np.save(folder / "c.npy", a[:, :4] + b[:, :4])
    for part, rows in ((1, slice(0, 30)), (2, slice(30, 60))):
        np.save(folder / f"a{part}.npy", a[rows])
        np.save(folder / f"b{part}.npy", b[rows])
    np.savetxt(folder / "a.csv", a, delimiter=",")
    np.savetxt(folder / "b.csv", b, delimiter=",")
    np.savetxt(folder / "times.csv", np.arange(60) % 4, fmt="%d", header="times", comments="")
    (folder / "labs.csv").write_text("lab\n" + "north\nsouth\n" * 30)
    np.savetxt(folder / "classes.csv", (a[:, 0] > 2).astype(int), fmt="%d", header="class", comments="")
    scipy.io.savemat(folder / "sensors.mat", {"X1": a.T, "X2": b.T, "cfg": {"x": a}})
    lab = ["mass [g]", "length [mm]", "width [mm]", "hue", "gloss", "density", "age [d]"]
    write_table(folder / "lab.csv", a, lab, range(60), {(3, 2)})
    order = random.permutation(60)[:56]
    write_table(folder / "field.csv", b, ["b1", "b2", "b3", "b4", "b5"], order, {(order[0], 1)})
    clean = random.normal(size=(500, 9)) @ random.normal(size=(9, 12)) + 0.1 * random.normal(size=(500, 12))
    np.save(folder / "clean.npy", clean)
    np.save(folder / "noisy.npy", clean + random.normal(size=clean.shape))
    few = random.normal(size=(20, 3))
    np.save(folder / "few-a.npy", few @ random.normal(size=(3, 30)) + random.normal(size=(20, 30)))
    np.save(folder / "few-b.npy", few @ random.normal(size=(3, 25)) + random.normal(size=(20, 25)))


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page):
    """(kind, text, reason why it is not run) of each block."""
    return [(match["kind"].strip("{} ").split(" ")[0].strip("{}"), match["text"], match["reason"])
            for match in BLOCK.finditer(page.read_text())]


def header_examples():
    """The lines after "Example:" in comments of the public headers, by header. Every header needs one, except
    cgmca.hpp, which includes the others."""
    found = []
    for header in sorted((ROOT / "include" / "cgmca").glob("*.hpp")):
        for match in re.finditer(r"^ *// Example:\n((?: *//(?:   .*)?\n)+)", header.read_text(), re.MULTILINE):
            lines = [re.sub(r"^ *//(   )?", "", line) for line in match[1].splitlines()]
            found.append((header.name, "\n".join(lines)))
        if header.name not in {"cgmca.hpp", *(name for name, _ in found)}:
            raise SystemExit(f"{header.name} has no example in its comments")
    return found


PRELUDE = """
#ifdef WITH_MPI
#include <cgmca/mpi.hpp>
#endif
#include <cgmca/cgmca.hpp>
#include <iostream>
using namespace cgmca;
char** argv = nullptr;  // that of main

// What blocks and examples speak of without saying where it is from.
struct Given {
  const cgmca::Matrix X1 = cgmca::read("clean.npy"), X2 = cgmca::read("noisy.npy"), X3 = X1.topRows(6) + X2.topRows(6);
  const cgmca::Index d1 = X1.rows(), d2 = X2.rows(), d3 = X3.rows(), n = X1.cols();
  const cgmca::Covariance C = cgmca::Covariance::identity(3), c1 = C, c2 = C;
  const std::vector<int> labels = std::vector<int>(static_cast<std::size_t>(n), 1);
  const cgmca::Model m = cgmca::fit(X1, X2, C, C);
  int rank = 0, ranks = 1;
#ifdef WITH_MPI
  Given() { MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks); }
#endif
};
"""


def cpp_function(number, name, text):
    """A block as a function: a whole program's main is renamed, anything else is put inside."""
    text = re.sub(r"^#include.*\n", "", text, flags=re.MULTILINE)
    if re.search(r"\bint main\(\)", text):
        return re.sub(r"\bint main\(\)", f"int block_{number}()", text).rstrip()[:-1] + "  return 0;\n}\n", ""
    given = [name for name in ("X1", "X2", "X3", "d1", "d2", "d3", "n", "C", "c1", "c2", "labels", "rank", "ranks")
             if not re.search(rf"\b(Matrix|Index|Covariance|Vector)\b[^;]*\b{name} =", text)]
    uses = "".join(f"  [[maybe_unused]] const auto& {one} = given.{one};\n" for one in given)
    model = "" if re.search(r"\bModel model\b", text) else "  [[maybe_unused]] const cgmca::Model& model = given.m;\n"
    return f"int block_{number}() {{  // {name}\n  static const Given given;\n{uses}{model}  {{\n{text}\n  }}\n  return 0;\n}}\n"


def run_cpp(named, build, folder, mpi=False):
    """Compiles all blocks of C++ into one program, and runs it; with mpi as two ranks."""
    functions = [cpp_function(i, name, text) for i, (name, text) in enumerate(named)]
    functions = [function[0] if isinstance(function, tuple) else function for function in functions]
    calls = "".join(f'  std::cout << "{name}\\n" << std::flush;\n  block_{i}();\n' for i, (name, _) in enumerate(named))
    if mpi:
        calls = f"  MPI_Init(nullptr, nullptr);\n{calls}  MPI_Finalize();\n"
    (folder / "blocks.cpp").write_text(PRELUDE + "\n".join(functions) + f"\nint main(int, char** arguments) {{\n  argv = arguments;\n{calls}}}\n")
    libraries = [f"-L{build}/src", "-lcgmca", "-lcgmca_io", "-lcgmca_image", f"-Wl,-rpath,{build}/src"]
    includes = subprocess.run(["pkg-config", "--cflags", "eigen3"], capture_output=True, text=True, check=True).stdout.split()
    compiler = ["mpicxx", "-DWITH_MPI"] if mpi else [*([shutil.which("ccache")] if shutil.which("ccache") else []), "g++"]
    subprocess.run([*compiler, "-std=c++20", "-O0", "-w", f"-I{ROOT}/include", *includes, "-c", "blocks.cpp", "-o", "blocks.o"],
                   cwd=folder, check=True)
    subprocess.run([compiler[0] if mpi else "g++", "blocks.o", "-o", "blocks", *libraries], cwd=folder, check=True)
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run([*(["mpirun", "--oversubscribe", "-n", "2"] if mpi else []), "./blocks"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, **as_root})


def command_of(kind, text, build):
    """The command that runs a block. C is compiled first; MATLAB and R have the files of the page as variables."""
    if kind == "matlab":
        given = (f"addpath('{build}/matlab'); X1 = rand(7, 60); X2 = rand(5, 60);\n"
                 "X = csvread('a.csv'); Y = csvread('b.csv'); Z = [X(:, 1:3), Y(:, 1)];\n")
        return ["octave-cli", "--eval", given + text]
    if kind == "r":
        given = ("library(cgmca); X <- as.matrix(read.csv('a.csv', header = FALSE)); Y <- as.matrix(read.csv('b.csv', header = FALSE))\n"
                 "Z <- cbind(X[, 1:3], Y[, 1])\n")
        return ["Rscript", "-e", f".libPaths(c('{build}/r/library', .libPaths()))", "-e", given + text]
    if kind == "c":
        pathlib.Path("block.c").write_text(text)
        compiled = f"cc -std=c99 -I{ROOT}/include block.c -o block -L{build}/src -lcgmca_c -Wl,-rpath,{build}/src"
        return ["bash", "-eu", "-c", f"{compiled} && ./block"]
    return ["bash", "-eu", "-c", text]


def run_page(page, build, folder):
    """The sh, python and matlab blocks of a page, in order, in this process: names that one defines, the next may use.
    Returns how many ran, and the reasons of those that did not."""
    os.chdir(folder)
    ran, skipped, names = 0, [], {}
    for kind, text, reason in blocks_of(page):
        if kind in SHOWN or kind == "cpp":
            continue
        if kind not in ("sh", "python", "matlab", "r", "c"):
            raise SystemExit(f"{page}: a block of an unknown kind '{kind}'; known are sh, python, cpp, c, matlab, r, {SHOWN}")
        if reason is None and kind == "matlab" and not (build / "matlab/cgmca_mex.mex").exists():
            reason = "make octave has not been run"
        if reason is None and kind == "r" and not (build / "r/library/cgmca").exists():
            reason = "make r has not been run"
        if reason is not None:
            skipped.append(reason)
            continue
        try:
            if kind == "python":
                exec(compile(text, str(page), "exec"), names)
            else:
                subprocess.run(command_of(kind, text, build), check=True, capture_output=True, text=True)
        except FileNotFoundError as absent:  # a data set of cgmca.datasets
            skipped.append(f"data that are not here: {absent}")
            break
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{page}: this block fails:\n{text}\n{error.stdout}{error.stderr}")
        ran += 1
    return ran, skipped


def run_page_in_a_process(page, build, folder):
    environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}", "PYTHONPATH": f"{build}/python",
                   "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    environment.setdefault("CGMCA_DATA", str(ROOT.parent / "shared" / "data"))
    result = subprocess.run(["/usr/bin/python3", __file__, "--page", page, build, folder], env=environment,
                            stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{page}: a block fails, see above\n{result.stdout[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def main():
    if sys.argv[1] == "--page":
        page, build, folder = map(pathlib.Path, sys.argv[2:])
        print("\n" + json.dumps(run_page(page, build, folder)))
        return
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = [pathlib.Path(argument).resolve() for argument in sys.argv[2:]] or pages()
    total, left_out, cpp = 0, [], []
    for page in wanted:
        start, blocks = time.perf_counter(), blocks_of(page)
        name = str(page.relative_to(ROOT))
        cpp += [(name, text) for kind, text, reason in blocks if kind == "cpp" and reason is None]
        left_out += [(name, reason) for kind, _, reason in blocks if kind == "cpp" and reason is not None]
        with tempfile.TemporaryDirectory() as folder:
            furnish(pathlib.Path(folder))
            ran, skipped = run_page_in_a_process(page, build, folder)
        total += ran
        left_out += [(name, reason) for reason in skipped]
        if ran or skipped:
            print(f"{name}: {ran} run, {len(skipped)} not, {time.perf_counter() - start:.1f} s", flush=True)
    examples = header_examples() if len(sys.argv) == 2 else []
    if cpp or examples:
        with tempfile.TemporaryDirectory() as folder:
            furnish(pathlib.Path(folder))
            run_cpp(cpp + [one for one in examples if one[0] != "mpi.hpp"], build, pathlib.Path(folder))
            if examples:
                run_cpp([one for one in examples if one[0] == "mpi.hpp"], build, pathlib.Path(folder), mpi=True)
    for name, reason in left_out:
        print(f"not run: {name}: {reason}")
    print(f"{total} blocks of sh, python and matlab, {len(cpp)} of C++ and {len(examples)} examples of headers ran; "
          f"{len(left_out)} did not")


if __name__ == "__main__":
    main()
