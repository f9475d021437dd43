"""Help, examples, version, completion, manual, messages and progress."""

import os
import pty
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest

from conftest import PROGRAM

COMMANDS = ["fit", "verify", "translate", "report", "apply", "fuse", "extend", "pairs", "info", "summarize", "merge", "index", "tune", "tests", "explain", "diagnose", "bootstrap", "export", "reproduce"]


def examples(text):
    """The commands of an 'Example' or 'The life of a project' paragraph; a comment follows after two spaces."""
    paragraph = re.search(r"(?:Examples?|The life of a project):\n((?:  .*\n?)+)", text).group(1)
    return [line.strip().split("  ")[0] for line in paragraph.splitlines()]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_example_of_the_help_runs(folder, command):
    folder.model()
    folder.summary()
    np.save(folder / "w.npy", np.ones(60))
    (folder / "z.csv").write_text("lab\n" + "north\nsouth\n" * 30)
    np.save(folder / "d.npy", folder.a[:, :5] + folder.b)
    folder.ok("fit", "a.npy", "b.npy", "d.npy", "--cov", "identity:2", "-o", "m3", "-q")
    for i, rows in enumerate((slice(0, 30), slice(30, 60))):
        np.save(folder / f"a{i}.npy", folder.a[rows])
        folder.ok("summarize", f"a{i}.npy", f"a{i}.npy", "-o", f"s{i}", "-q")
    for part in ("1", "2"):
        folder.ok("summarize", "a.npy", "b.npy", "--part", f"{part}/2", "-o", f"part{part}", "-q")
    for name in ("a", "b"):
        np.savetxt(folder / f"{name}.csv", getattr(folder, name), delimiter=",")
    text = folder.ok(*command.split(), "--help").out
    lines = examples(text)
    assert len(lines) >= (4 if command == "" else 1)
    for line in lines:
        program, *arguments = shlex.split(line)
        if program == "mpirun":
            continue  # tests/cli/test_mpi.py
        if "--onnx" in arguments:
            continue  # tests/cli/test_export_onnx.py
        assert program == "cgmca" and (command == "" or arguments[0] == command)
        # As a shell does it: names with a star stand for the files that have them.
        folder.ok(*[name for one in arguments for name in (sorted(map(str, folder.path.glob(one))) if "*" in one else [one])])


def test_help_lists_every_command(folder):
    text = folder.ok("--help").out
    for command in COMMANDS:
        assert f"  {command} " in text
        assert f"Usage: cgmca {command} " in folder.ok(command, "-h").out
    assert "completion" not in text


def test_version_tells_the_blas_its_kernels_and_threads(folder):
    text = folder.ok("--version").out
    assert re.match(r"cgmca \d+\.\d+\.\d+", text) and "threads" in text
    assert "1 threads" in folder.ok("--version", env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}).out


def test_kernels_chosen_by_the_user_are_left_alone(folder):
    if "DYNAMIC_ARCH" not in folder.ok("--version").out:
        pytest.skip("this BLAS does not choose its kernels when it starts")
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    assert "Prescott" in folder.ok("--version", env={**environment, "OPENBLAS_CORETYPE": "Prescott"}).out
    flags = open("/proc/cpuinfo").read()
    if "avx2" in flags and "fma" in flags:
        assert "Prescott" not in folder.ok("--version", env=environment).out


def test_threads_are_set(folder):
    one = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--threads", 1, "--json").json
    two = folder.ok("--threads", 2, "fit", "a.npy", "b.npy", "-o", "m", "--json").json
    assert np.allclose(one["singular_B"], two["singular_B"], atol=1e-12)


def test_quiet_prints_nothing_but_json(folder):
    for options, out in (([], False), (["--json"], True)):
        result = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "-q", "--progress", "plain", *options)
        assert bool(result.out) == out and result.err == ""


def test_verbose_tells_more_on_stderr(folder):
    result = folder.ok("fit", "a.npy", "b.npy", "-o", "m", "-v")
    assert "'a.npy' (60 samples × 7 features)" in result.err


def test_progress_is_plain_where_asked_and_silent_otherwise(folder):
    assert "60 of 60 pairs read (100 %)" in folder.ok("fit", "a.npy", "b.npy", "-o", "m", "--progress", "plain").err
    assert folder.ok("fit", "a.npy", "b.npy", "-o", "m").err == ""


def test_progress_is_a_bar_on_a_terminal(folder):
    shown = {}
    for mode in ("auto", "off"):
        try:
            terminal, side = pty.openpty()
        except OSError as error:
            pytest.skip(f"no terminal can be had here: {error}")
        subprocess.run([PROGRAM, "fit", "a.npy", "b.npy", "-o", "m", "--progress", mode], cwd=folder.path, stderr=side,
                       stdout=subprocess.DEVNULL, check=True)
        os.close(side)
        try:
            shown[mode] = os.read(terminal, 10000).decode()
        except OSError:  # nothing was written and the other side is closed
            shown[mode] = ""
        os.close(terminal)
    assert "█" in shown["auto"] and "/s" in shown["auto"] and "left" in shown["auto"]
    assert shown["off"] == ""


def bash_completion(folder, words):
    (folder / "complete.bash").write_text(folder.ok("completion", "bash").out)
    script = f'source ./complete.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _cgmca; echo "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "-c", script], cwd=folder.path, capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_choices_and_files(folder):
    assert bash_completion(folder, "cgmca tr") == ["translate"]
    assert bash_completion(folder, "cgmca fit --acc") == ["--accumulate"]
    assert bash_completion(folder, "cgmca translate --method m") == ["mahalanobis"]
    assert bash_completion(folder, "cgmca fit --progress p") == ["plain"]
    assert bash_completion(folder, "cgmca fit a") == ["a.npy"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_of_other_shells(folder, shell):
    text = folder.ok("completion", shell).out
    for word in [*COMMANDS, "accumulate", "mahalanobis"]:
        assert word in text
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} to check the syntax with")
    (folder / "script").write_text(text)
    subprocess.run([shell, "-n", "script"], cwd=folder.path, check=True)


def test_the_manual_tells_of_every_command_and_option(folder):
    page = folder.ok("man").out.replace("\\-", "-")
    for command in COMMANDS:
        assert f".SS cgmca {command}\n" in page
        for option in re.findall(r"--[a-z-]+", folder.ok(command, "--help").out):
            assert option in page
    if shutil.which("man"):
        (folder / "cgmca.1").write_text(folder.ok("man").out)
        result = subprocess.run(["man", "--warnings", "-l", "cgmca.1"], cwd=folder.path, capture_output=True, text=True,
                                env={**os.environ, "MANWIDTH": "120", "LC_ALL": "C.UTF-8"})
        assert result.returncode == 0 and result.stderr == ""


def test_an_unknown_shell_is_usage(folder):
    folder.fails(2, "completion", "tcsh")
