"""The first hour of a user: what works here, completion, and misspelt options."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from conftest import OCTAVO
from octavo.cli import MOST_USED, PAGES, VERBS, verb_parser
from octavo.cli.machine import man


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
    assert completed(script, "octavo", "mo") == ["movie"]
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


def test_the_version_tells_formats_commit_and_mpi(run):
    lines = dict(line.split(": ", 1) for line in run("--version").stdout.splitlines()[1:])
    assert {"ramses", "amrex", "flash"} <= set(lines["formats"].split(", "))
    assert lines["MPI"] and re.fullmatch(r"[0-9a-f]{12,}", lines.get("commit", "0" * 12))


@pytest.mark.parametrize("verb", VERBS)
def test_help_begins_with_the_most_used_form(run, verb):
    first, empty, rest = run("help", verb).stdout.split("\n", 2)
    assert first == man.examples(verb)[0] and f"octavo {verb}" in first and not empty and rest.startswith("usage: ")


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_manual_pages_are_troff_and_have_each_option(run, verb):
    page = run("man", *[verb] * bool(verb)).stdout
    if shutil.which("groff") is None:
        pytest.skip("there is no groff to read it")
    command = ["groff", "-man", "-ww", "-Tascii", "-P-bcou", "-rLL=500n"]
    done = subprocess.run(command, input=page.encode("ascii", "replace"), capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    shown = " ".join(done.stdout.decode().split())
    help_text = run("help", *[verb] * bool(verb)).stdout
    for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", help_text, re.MULTILINE) if verb else VERBS:
        assert option in shown
    for line in man.examples(verb) if verb else ():
        assert " ".join(line.split()) in shown


def test_the_help_lists_every_verb_once_behind_the_most_used_lines(run):
    text = run("help").stdout
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    assert text.startswith("\n".join(MOST_USED)) and all(f"    {line}\n" in readme for line in MOST_USED)
    for verb, does in VERBS.items():
        assert re.findall(rf"^  {verb} .*", text, re.MULTILINE) == [f"  {verb:11} {does}"]
    assert run("--help").stdout == run().stdout == text


def test_every_list_of_exit_codes_has_all_of_them():
    root = Path(__file__).resolve().parents[2]
    codes = [code for code, _ in man.EXIT_CODES]
    for page in ("README.md", "docs/command.md"):
        listed = re.search(r"Exit codes[^:]*:(.*?)interrupted", (root / page).read_text(), re.DOTALL)[1]
        assert re.findall(r"\b(\d+) ", listed) == codes, page


def on_terminal(columns: int, *words: str) -> str:
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # Readline, which pytest imports, may have set COLUMNS behind the back of os.environ: that is not passed on.
        known = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
        os.execve(OCTAVO, ["octavo", *map(str, words)], known)
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        text += more
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r", "")


@pytest.mark.parametrize("verb", ["info", "ls"])
def test_sixty_columns_are_enough(run, tmp_path, verb):
    """No line is longer (but for a long path), no name is broken, and pipes get all columns."""
    run("sample", tmp_path / "s", "--to", "octavo", "--levels", "3-4", "--domains", 2, "--particles", 100, "-q")
    narrow = on_terminal(60, verb, tmp_path / "s")
    assert not [text for text in narrow.replace(str(tmp_path), "").splitlines() if len(text) > 60]
    names = ["velocity_x", *(["position_x", "kinetic_energy_density"] if verb == "info" else ["particles/position_x"])]
    assert all(re.search(rf"^ *{name} ", narrow, re.MULTILINE) for name in names), narrow
    if verb == "ls":
        assert "streams" not in narrow and "streams" in on_terminal(100, verb, tmp_path / "s")
        assert "streams" in run(verb, tmp_path / "s").stdout


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize(
    "words",
    [
        ["stats", "s", "--field", "density"],
        ["clumps", "s", "--above", "2"],
        ["series", "s", "--field", "density"],
        ["diff", "s", "s"],
    ],
    ids=lambda words: words[0],
)
def test_a_table_wider_than_the_terminal_goes_on_below(run, tmp_path, monkeypatch, columns, words):
    """All columns are shown, no number is broken, and each piece has the first column again."""
    run("sample", tmp_path / "s", "--levels", "3-4", "--domains", 2, "-q")
    monkeypatch.chdir(tmp_path)
    wide, narrow = on_terminal(400, *words), on_terminal(columns, *words)
    assert max(map(len, narrow.splitlines())) <= columns < max(map(len, wide.splitlines()))
    numbers = [re.findall(r"[\w.+-]*\d[\w.+-]*", text) for text in (wide, narrow)]
    assert set(numbers[1]) == set(numbers[0]), narrow
    heads = [
        {word for line in text.splitlines() if not re.search(r"\d", line) for word in line.split()}
        for text in (wide, narrow)
    ]
    assert heads[0] - heads[1] <= {"\u2500" * n for n in range(401)} | {"max_level"}, narrow


def test_a_table_in_a_pipe_does_not_import_rich(sample):
    code = "import sys; from octavo.cli import main; main(sys.argv[1:]); print('rich' in sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "stats", str(sample)], capture_output=True, text=True, timeout=60
    )
    assert "density" in done.stdout and done.stderr.split()[-1] == "False"


def test_one_of_a_thing_has_no_s(run, sample, tmp_path):
    assert "good. 1 step, " in run("verify", sample).stdout
    assert ": 1 step, 8 domains" in run("convert", sample, tmp_path / "a.octavo").stdout


def test_tables_without_rich_are_plain_text(run, tmp_path):
    """The same words as on a terminal with rich, in columns of spaces."""
    run("sample", tmp_path / "s", "--levels", "3-4", "--domains", 2, "-q")
    hide = "import sys; sys.modules['rich'] = None; from octavo.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", hide, "ls", tmp_path / "s"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    here, there = (re.sub(r"[\s\u2500-]+", " ", text) for text in (done.stdout, on_terminal(250, "ls", tmp_path / "s")))
    assert here == there


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (["stats", "s", "--roi", "cube"], "regions"),
        (["convert", "s", "x", "--codec", "foo"], "codecs"),
        (["map", "s", "--field", "density", "--unit", "density=furlong", "-o", "x.npy"], None),
        (["map", "s", "--field", "density+", "-o", "x.npy"], "fields"),
        (["stats", "s", "--field=densty"], "fields"),
        (["slice", "s", "--field", "density", "--normal", "1,2"], "slices"),
        (["stats", "gone", "--field", "density"], None),
    ],
)
def test_errors_name_the_page_that_explains_more(run, tmp_path, words, page):
    run("sample", tmp_path / "s", "--levels", "3-4", "--domains", 2, "-q")
    done = run(*words, check=False, cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert re.findall(r"more in docs/(\w+)\.md", done.stderr) == [page] * (page is not None), done.stderr
    for words in re.findall(r"\(octavo (man \w+)\)", done.stderr) if page else []:  # whoever has no docs/ reads it so
        docs = Path(__file__).resolve().parents[2] / "docs"
        assert run(*words.split()).stdout == (docs / f"{page}.md").read_text()
    assert done.stderr.startswith("usage:") or len(done.stderr.splitlines()) <= 3


def test_options_with_a_page_exist_and_so_do_the_pages():
    docs = Path(__file__).resolve().parents[2] / "docs"
    assert all((docs / f"{page}.md").exists() for page in PAGES.values())
    options = {name for verb in VERBS for action in verb_parser(verb)._actions for name in action.option_strings}
    assert {f"--{name}" for name in PAGES} <= options


def test_the_demo_s_table_has_a_row_for_what_only_an_exact_store_holds(run, sample, tmp_path):
    """RAMSES' order of octs is left out of a store with a loss."""
    run("convert", sample, tmp_path / "exact.octavo", "-q")
    run("convert", sample, tmp_path / "near.octavo", "--codec", "point:2e-3", "-q")
    script = Path(__file__).resolve().parents[2] / "scripts" / "sizes.py"
    words = [sys.executable, script, sample, tmp_path / "exact.octavo", tmp_path / "near.octavo"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if "oct_order" in line)
    assert row.split()[-2:] == ["-", "-"]
    assert "whole, of native" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["map", "s", "--field", "density", "-o", "gone/there/x.npy"],
        ["partition", "geo.slf", "-o", "gone/there/T2D", "--parts", "2"],
        ["export", "geo.slf", "gone/there/points.geojson", "--crs", "EPSG:2154"],
    ],
)
def test_a_folder_that_is_not_there_is_named_with_what_makes_it(run, data, tmp_path, words):
    run("sample", tmp_path / "s", "--levels", "3-4", "--domains", 2, "-q")
    shutil.copy(data / "serafin" / "geo_malpasset-small.slf", tmp_path / "geo.slf")
    done = run(*words, check=False, cwd=tmp_path)
    assert done.returncode == 2 and "folder of the output does not exist" in done.stderr
    made = re.search(r"try: (mkdir -p .*)$", done.stderr, re.MULTILINE)
    assert made, done.stderr
    subprocess.run(made[1], shell=True, cwd=tmp_path, check=True)
    again = run(*words, check=False, cwd=tmp_path)
    assert again.returncode == 0 or "pip install" in again.stderr


@pytest.mark.parametrize("words", [["view", "s", "--port", "80x"], ["map", "s", "--pixels", "80x"]])
def test_a_number_that_is_none_is_said_in_words(run, words):
    done = run(*words, check=False)
    assert done.returncode == 2 and "expected a whole number, found 80x" in done.stderr, done.stderr
