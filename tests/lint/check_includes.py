#!/usr/bin/env python3
"""Who includes whom in include/ and src/, and how long files and functions are.

    tests/lint/check_includes.py includes    no layer and no folder includes a later one, and there is no circle
    tests/lint/check_includes.py lengths     no file in src/ above 350 lines, no function above 60

Prints what is wrong and then fails. A second argument names another source tree than this one.
"""

import pathlib
import re
import sys

# What a file of each layer may include. "public X" are the headers of include/cgmca that belong to layer X.
LAYERS = {
    "support": {"support", "public base"},
    "core": {"core", "support", "public base", "public core"},
    "io": {"io", "support", "public base", "public core", "public io"},
    "image": {"image", "public base", "public core", "public image"},
    "c": {"c", "support", "public base", "public core", "public c"},
    "cuda": {"cuda", "core", "public base", "public core"},
    "report": {"report", "support", "public base", "public core", "public io", "public image"},
    "public base": {"public base"},
    "public core": {"public base", "public core"},
    "public c": {"public c"},
    "public io": {"public base", "public core", "public io"},
    "public image": {"public base", "public core", "public image"},
    "public mpi": {"public base", "public core", "public mpi"},
    "public all": {"public base", "public core", "public io", "public image"},
}
# The public headers that are not of the core. cgmca.hpp includes all others but mpi.hpp; the library itself never
# includes it.
PUBLIC = {"types": "public base", "error": "public base", "io": "public io", "image": "public image",
          "mpi": "public mpi", "cgmca": "public all"}

# The folders of src/core, in their order: a file includes those of its own folder and of the folders above it. After
# each stand its public headers, those of include/cgmca that declare what it defines.
FOLDERS = """
base        types error threads parallel random blas_kernels version samples
linalg      device
data        domain parts
summary     summary folds
model       model covariance regularization fit_options
multi
fit         fit incomplete
use         verify lsqr translate into device_matrix calibrate explained diagnose fuse extend classify
select      correlation_tests tune permutation bootstrap check_pairs
"""

# Includes against the order that the tree still has. One that is gone must leave this list.
KNOWN_INCLUDES = set()

MOST_LINES, MOST_LINES_OF_A_FUNCTION = 350, 60
# Files, and functions as FILE:NAME, that are still longer. One that is no longer must leave this list.
KNOWN_LONG = set()

ORDER, FOLDER_OF = {}, {}
for place, line in enumerate(FOLDERS.split("\n")):
    for header in line.split()[1:]:
        FOLDER_OF[header] = line.split()[0]
    if line:
        ORDER[line.split()[0]] = place


def sources(root):
    found = sorted(path for folder in ("include", "src") for path in (root / folder).rglob("*")
                   if path.suffix in (".hpp", ".cpp", ".h", ".c"))
    if not found:
        sys.exit(f"{root} holds neither include/ nor src/")
    return found


def layer(path):
    if path.parts[0] == "include":
        if path.suffix == ".h":  # the C interface
            return "public c"
        return PUBLIC.get(path.stem, "public core")
    return path.parts[1]


def place(path):
    """The place of a file of the core in FOLDERS; None of a file of another layer. KeyError where no line has it."""
    if layer(path) not in ("core", "public core", "public base"):
        return None
    return ORDER[FOLDER_OF[path.stem] if path.parts[0] == "include" else path.parts[2]]


def included(root, path):
    """The files of this tree that a file includes."""
    text = (root / path).read_text()
    for kind, name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', text, re.MULTILINE):
        places = ["include"] if kind == "<" else ["src"]
        found = [pathlib.Path(place, name) for place in places if (root / place / name).exists()]
        if found:
            yield pathlib.Path(*found[0].parts)
        elif kind == '"' or name.startswith("cgmca/"):
            raise FileNotFoundError(f"{path} includes {name}, which is not there")


def cycle(graph):
    """A list of files of which each includes the next and the last the first; empty where there is none."""
    done, trail = set(), []

    def visit(path):
        if path in trail:
            return trail[trail.index(path):]
        if path in done:
            return []
        trail.append(path)
        for other in graph[path]:
            if found := visit(other):
                return found
        done.add(trail.pop())
        return []

    return next((found for path in graph if (found := visit(path))), [])


def check_includes(root):
    paths = [path.relative_to(root) for path in sources(root)]
    graph = {path: list(included(root, path)) for path in paths}
    problems, met = [], set()
    for path in paths:
        if layer(path) not in LAYERS:
            problems.append(f"{path}: {layer(path)} is no layer of this script")
            continue
        try:
            place(path)
        except KeyError:
            problems.append(f"{path}: no line of FOLDERS has it")
            continue
        for other in graph[path]:
            if (str(path), str(other)) in KNOWN_INCLUDES:
                met.add((str(path), str(other)))
            elif layer(other) not in LAYERS[layer(path)]:
                problems.append(f"{path} ({layer(path)}) includes {other} ({layer(other)})")
            elif place(path) is not None and place(other) is not None and place(other) > place(path):
                problems.append(f"{path} includes {other}, of a later folder")
    if found := cycle(graph):
        problems.append("a circle: " + " → ".join(map(str, [*found, found[0]])))
    problems += [f"{path} no longer includes {other}: take it from KNOWN_INCLUDES"
                 for path, other in KNOWN_INCLUDES - met]
    return problems, f"{len(paths)} files, {sum(map(len, graph.values()))} includes among them"


def without_texts(code):
    """The code with comments, strings and characters blanked, lines kept."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, lambda found: "\n" * found.group().count("\n"), code, flags=re.DOTALL)


def functions(code):
    """(name, lines) of each function: a block after a parameter list, at the level of a namespace or a class."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda found: "\n" * found.group().count("\n"), without_texts(code),
                  flags=re.MULTILINE)
    outer, depth, begin, head, last = [], 0, 0, "", None  # depth: of blocks inside a function or an initializer
    found = []
    for place, letter in enumerate(code):
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if depth == 0:
                if last is not None:
                    found.append((last[0], code.count("\n", last[1], place) + 1))
                head, begin = "", place + 1
            continue
        if letter == "{":
            words = head.split()
            if "namespace" in words or words[:1] == ["extern"]:
                outer.append("namespace")
            elif re.search(r"^(template ?<.*?> ?)?(struct|class|union)\b[^()]*$", " ".join(words)):
                outer.append("type")
            else:
                depth = 1
                if "(" in head and not head.lstrip().startswith(","):
                    start = begin + len(head) - len(head.lstrip())
                    last = (re.search(r"([\w:~]+|operator\W+)\s*\(", head + "(").group(1), start)
                elif last is not None and (not words or words[0].startswith(",")):
                    found.pop()  # it was only a constructor's member{…}; the next one follows, or the body
                else:
                    last = None
                continue
            head, begin = "", place + 1
        elif letter == "}":
            outer.pop()
            head, begin, last = "", place + 1, None
        elif letter == ";":
            head, begin, last = "", place + 1, None
        else:
            head += letter
    return found


def check_lengths(root):
    problems, met, count = [], set(), 0
    for path in sources(root):
        name, code = str(path.relative_to(root)), path.read_text()
        if not name.startswith("src/"):
            continue
        lengths = [(name, code.count("\n"), MOST_LINES)]
        lengths += [(f"{name}:{function}", lines, MOST_LINES_OF_A_FUNCTION) for function, lines in functions(code)]
        count += len(lengths) - 1
        for what, lines, most in lengths:
            if lines > most and what in KNOWN_LONG:
                met.add(what)
            elif lines > most:
                problems.append(f"{what}: {lines} lines, at most {most}")
    problems += [f"{what} is no longer too long: take it from KNOWN_LONG" for what in KNOWN_LONG - met]
    return problems, f"{count} functions"


def main():
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parents[2])
    problems, looked_at = {"includes": check_includes, "lengths": check_lengths}[sys.argv[1]](root)
    print(*sorted(problems), looked_at, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
