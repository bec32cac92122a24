"""The first hour of a user: what works here, completion, and misspelt options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from octavo.cli import VERBS


def test_the_doctor_names_what_works(run_json):
    checks = {row["name"]: row for row in run_json("doctor")["checks"]}
    assert checks["compiled part"]["works"] and "ramses" in checks["compiled part"]["says"]
    import numpy

    assert checks["numpy"]["says"] == numpy.__version__
    assert checks["ffmpeg"]["works"] == (shutil.which("ffmpeg") is not None)
    assert "cores" in checks["machine"]["says"]


def test_the_doctor_says_what_is_missing_and_what_brings_it(run):
    """Without a package, and with no program in the path."""
    code = (
        "import sys, importlib.util as util\nfrom octavo.cli import main\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name in ('dask', 'numpy') else find(name, *more)\n"
        "sys.exit(main(['doctor']))"
    )
    env = {**os.environ, "PATH": "/nowhere"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    text = " ".join(done.stdout.split())
    assert done.returncode == 1  # numpy is needed
    assert "no dask octavo.dask pip install 'octavo[dask]'" in text and "NO numpy all verbs pip install numpy" in text
    assert "no ffmpeg movies as .mp4 not found" in text


def test_ranks_of_the_doctor_meet(run):
    done = run("doctor", ranks=2)
    assert done.stdout.count("compiled part") == 1 and "2 ranks meet" in done.stdout


def completed(script: str, *words: str) -> list[str]:
    code = f'{script}\nCOMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _octavo; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_bash_completes_verbs_options_and_values(run):
    script = run("completion", "bash").stdout
    assert completed(script, "octavo", "''") == [*VERBS, "help"]
    assert completed(script, "octavo", "ma") == ["map"]
    assert completed(script, "octavo", "map", "--wei") == ["--weight"]
    assert completed(script, "octavo", "map", "--kind", "m") == ["mean", "max", "min"]
    assert completed(script, "octavo", "sample", "--kind", "s") == ["sedov"]
    assert completed(script, "octavo", "help", "pro") == ["profile", "probe"]
    assert completed(script, "octavo", "map", "some") == []  # files, by the shell


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_for_other_shells(run, shell):
    script = run("completion", shell).stdout
    assert all(verb in script for verb in VERBS)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} to read it")
    assert subprocess.run([shell, "-n", "-c", script], capture_output=True).returncode == 0


def test_misspelt_options_are_named_with_the_right_one(run):
    done = run("map", "x", "--field", "density", "--wieght=mass", check=False)
    assert done.returncode == 2 and "did you mean --weight?" in done.stderr
    done = run("map", "x", "--field", "density", "--qqqqq", check=False)
    assert done.returncode == 2 and "did you mean" not in done.stderr


def test_one_input_too_many_is_said(run, tmp_path):
    """A shell makes several paths of `output_*`."""
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir(), second.mkdir()
    done = run("stats", first, second, check=False)
    assert done.returncode == 2 and "the verb takes PATH" in done.stderr and "octavo series" in done.stderr
    done = run("stats", first, "three", check=False)
    assert done.returncode == 2 and "the verb takes PATH" in done.stderr and "octavo series" not in done.stderr
