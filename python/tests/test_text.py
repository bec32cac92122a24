"""Names, units and comments of a file are data: shown as they are, never markup, never commands of a terminal, and no
reason for a traceback where they are not UTF-8."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from octavo.printable import printable, valid

# As bytes in a file; no commas, which part names on the command line and columns of RAMSES's descriptor.
NAMES = [b"[m/s]", b"[/x]", b"[bold]b[/bold]", b":smile:", b"$x$ y_z", b"a\x1b[31mred\x1b]0;t\x07", b"b\rc\td",
         "\u202eback \u200b".encode(), "é [µm]".encode(), b"\xff\xfe\xe9", b"\xff\xfe\xea", b"%s{0}\\n'\"<b>"]  # fmt: skip
# Characters that must not be printed; a newline and a tab may be.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]")


@pytest.fixture(scope="module")
def run():
    """The command in this process, which is much faster: run("info", path, ...) as conftest's has it."""
    from octavo.cli import main

    def call(*words, check=True, cwd=None):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(cwd or os.getcwd()):
            code = main([str(word) for word in words])
            out.flush(), err.flush()
        texts = [stream.buffer.getvalue().decode("utf-8", "strict") for stream in (out, err)]
        assert not check or code == 0, texts[1]
        return subprocess.CompletedProcess(words, code, *texts)

    return call


def shown(name: bytes) -> str:
    return printable(os.fsdecode(name))


def rename_variables(output, names):
    """Gives the first variables of a RAMSES output other names, in its descriptor."""
    descriptor = next(output.glob("hydro_file_descriptor.txt"))
    lines = descriptor.read_bytes().splitlines()
    rows = [i for i, line in enumerate(lines) if line[:1].strip().isdigit() or line.lstrip()[:1].isdigit()]
    for row, name in zip(rows, names, strict=False):
        first, _, last = (part for part in lines[row].split(b","))
        lines[row] = first + b", " + name + b"," + last
    descriptor.write_bytes(b"\n".join(lines) + b"\n")
    return len(rows)


@pytest.fixture(scope="module")
def outputs(run, tmp_path_factory):
    """The names in RAMSES outputs, a few in each, and in stores of them."""
    folder = tmp_path_factory.mktemp("text")
    run("sample", folder / "output_00001", "--dim", 2, "--levels", "3-4", "--domains", 2, "--particles", 20, "-q")
    made, left = [], list(NAMES)
    while left:
        number = len(made) + 2
        output = folder / f"output_{number:05}"
        shutil.copytree(folder / "output_00001", output)
        for path in output.iterdir():
            path.rename(path.with_name(path.name.replace("_00001", f"_{number:05}")))
        count = rename_variables(output, left)
        names, left = left[:count], left[count:]
        store = folder / f"run{number}.octavo"
        run("convert", output, store, "-q")
        made.append((output, store, names))
    return made


def check_text(text: str):
    assert "Traceback" not in text and "unexpected" not in text
    assert not CONTROL.search(text), ascii(CONTROL.search(text).group())
    assert not any(unicodedata.category(sign) == "Cs" for sign in text)


VERBS = [["info"], ["stats"], ["stats", "--no-particles", "-j", "1"], ["ls"], ["verify"], ["ls", "--streams"]]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_tables_show_names_as_they_are(run, outputs, verb):
    for output, store, names in outputs:
        for path in (output, store):
            done = run(verb[0], path, *verb[1:])
            check_text(done.stdout + done.stderr)
            if verb[0] in ("info", "stats"):
                flat = "".join(done.stdout.split())
                assert all("".join(shown(name).split()) in flat for name in names), done.stdout


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_json_holds_names_as_they_are(run, outputs, verb):
    for output, store, names in outputs:
        for path in (output, store):
            done = run(verb[0], path, *verb[1:], "--json")
            facts = json.loads(done.stdout)
            assert facts["schema_version"] == 1
            assert json.loads(done.stdout.encode().decode("utf-8", "strict")) == facts
            done.stdout.encode("ascii")
            text = json.dumps(facts, ensure_ascii=False)
            text.encode("utf-8")  # no half of a surrogate pair
            if verb[0] in ("info", "stats"):
                escaped = [json.dumps(valid(os.fsdecode(name)), ensure_ascii=False)[1:-1] for name in names]
                assert all(name in text for name in escaped)


@pytest.mark.long
def test_a_name_of_any_bytes_is_an_argument(run, outputs, tmp_path):
    """One verb takes, byte for byte, the names that another lists; pictures too."""
    for output, store, names in outputs:
        for i, name in enumerate(names):
            for path in (output, store):
                picture = tmp_path / f"{output.name}-{i}-{path.suffix}.png"
                field = os.fsdecode(name)
                done = run("map", path, "--field", field, "--pixels", 8, "-o", picture)
                check_text(done.stdout + done.stderr)
                assert picture.read_bytes()[:4] == b"\x89PNG" and "Glyph" not in done.stderr.replace("missing from", "")
                one = json.loads(run("stats", path, "--field", field, "--json").stdout)
                assert len(one["fields"]) == 1
        assert run("diff", output, store).returncode == 0


def test_default_names_of_pictures_are_file_names(run, outputs, tmp_path):
    for output, _, names in outputs:
        for name in names:
            run("map", output, "--field", os.fsdecode(name), "--pixels", 8, "-f", cwd=tmp_path)
    assert all(path.suffix == ".png" and path.name.isprintable() for path in tmp_path.iterdir())


def test_hdf5_maps_take_any_name(run, outputs, tmp_path):
    for output, _, names in outputs:
        for i, name in enumerate(names):
            run("map", output, "--field", os.fsdecode(name), "--pixels", 8, "-o", tmp_path / f"{output.name}{i}.h5")


def test_differences_of_such_names(run, outputs, tmp_path):
    for output, store, names in outputs:
        lossy = tmp_path / f"{store.name}"
        run("convert", output, lossy, "--codec", "abs:1e-2", "-q")
        done = run("diff", store, lossy, check=False)
        assert done.returncode == 1
        check_text(done.stdout + done.stderr)
        assert all("".join(shown(name).split()) in "".join(done.stdout.split()) for name in names)
        assert len(json.loads(run("diff", store, lossy, "--json", check=False).stdout)["variables"]) >= len(names)


@pytest.mark.parametrize("to, options", [("amrex", ["--kind", "plotfile"]), ("ramses", []), ("flash", [])])
def test_other_codes_take_the_names_or_say_why_not(run, outputs, tmp_path, to, options):
    for output, store, _ in outputs:
        for path in (output, store):
            out = tmp_path / f"{path.stem}_{to}_00001"
            done = run("convert", path, out, "--to", to, *options, "-f", check=False)
            check_text(done.stdout + done.stderr)
            assert done.returncode in (0, 2, 3, 4), done.stderr
            if done.returncode == 0:
                for verb in ("info", "stats", "verify"):
                    again = run(verb, out, check=False)
                    check_text(again.stdout + again.stderr)


def test_errors_quote_names_as_they_can_be_shown(run, outputs):
    output, _, _ = outputs[0]
    for name in NAMES:
        done = run("stats", output, "--field", "no " + os.fsdecode(name), check=False)
        assert done.returncode == 2 and shown(name).split()[0][:3] in done.stderr
        check_text(done.stderr)
        check_text(run("info", os.fsdecode(name), check=False).stderr)
        check_text(run(os.fsdecode(name), check=False).stderr)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal(run, outputs, encoding):
    for output, _, _ in outputs:
        done = subprocess.run(
            [sys.prefix + "/bin/octavo", "info", output],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )
        assert done.returncode == 0 and b"Traceback" not in done.stderr


def test_python_gives_names_back(outputs):
    import octavo

    for output, store, names in outputs:
        for path in (output, store):
            ds = octavo.open(path)
            assert [os.fsencode(name) for name in ds.fields[: len(names)]] == names
            assert all(len(ds.arrays(name)[name]) for name in ds.fields[: len(names)])
            repr(ds).encode("utf-8")
            ds._repr_html_().encode("utf-8")


SERAFIN_UNITS = [b"[m/s]", b"[/x]", b"\x1b[2J", b"\xff\xfe", b":smile:", b"$\\frac$"]


@pytest.fixture(scope="module")
def triangles(data, tmp_path_factory):
    """A SERAFIN file whose title, variables and units are such bytes."""
    folder = tmp_path_factory.mktemp("triangles")
    source = (data / "serafin" / "r2d_malpasset-small_5steps.slf").read_bytes()
    head, at, count = bytearray(source), 4 + 80 + 4, 0
    head[4:76] = b"[/x] \x1b[31m \xff ".ljust(72)
    count = int.from_bytes(source[at + 4 : at + 8], "big")
    at += 16
    for variable in range(count):
        name = f"v{variable}".encode() + SERAFIN_UNITS[variable % len(SERAFIN_UNITS)]
        head[at + 4 : at + 36] = name.ljust(16) + SERAFIN_UNITS[(variable + 3) % len(SERAFIN_UNITS)].ljust(16)
        at += 40
    (folder / "odd.slf").write_bytes(head)
    return folder / "odd.slf"


def test_triangles(run, triangles, tmp_path):
    run("convert", triangles, tmp_path / "odd.octavo", "-q")
    for ending in ("med", "vtkhdf", "slf"):
        done = run("convert", triangles, tmp_path / f"odd.{ending}", check=False)
        check_text(done.stdout + done.stderr)
        assert done.returncode in (0, 2, 4)
    for path in [triangles, *sorted(tmp_path.iterdir())]:
        for words in (
            ["info"],
            ["stats"],
            ["ls"],
            ["verify"],
            ["probe", "--at", "4500,4350"],
            ["probe", "--at", "4500,4350", "--csv"],
        ):
            done = run(words[0], path, *words[1:], check=False)
            check_text(done.stdout + done.stderr)
            assert done.returncode == 0, (path, words, done.stderr)
            if "--csv" not in words:
                json.loads(run(words[0], path, *words[1:], "--json").stdout)


def test_flash_names(run, data, tmp_path):
    """HDF5 names that are no UTF-8, or look like markup; the order of links in their group stays."""
    source = data / "flash" / "sedov2d_pm4_par4" / "sedov2dp_hdf5_chk_0000"
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes().replace(b"dena", b"de[m").replace(b"vlza", b"v\xff[]"))
    for verb in ("info", "stats", "verify"):
        done = run(verb, path)
        check_text(done.stdout + done.stderr)
        json.loads(run(verb, path, "--json").stdout)
    assert "de[m" in run("info", path).stdout and "v\ufffd[]" in run("info", path).stdout


def test_printable_and_valid():
    assert printable("plain é µ") == "plain é µ"
    assert printable("a\x1b[0mb\nc\udcff\u202e") == "a\ufffd[0mb\ufffdc\ufffd\ufffd"
    assert valid("a\x1b\udcff") == "a\x1b\ufffd"
    assert np.all([not CONTROL.search(printable(chr(i))) for i in range(0x3000)])


@pytest.fixture(scope="module")
def originals(run, data, tmp_path_factory):
    """One small input of each format."""
    folder = tmp_path_factory.mktemp("originals")
    run("sample", folder / "output_00001", "--dim", 2, "--levels", "3-4", "--domains", 2, "--particles", 20, "-q")
    for name, words in {
        "run.octavo": [],
        "plt00001": ["--to", "amrex", "--kind", "plotfile"],
        "a_hdf5_chk_0001": ["--to", "flash", "--block", 4, "--fill"],
    }.items():
        run("convert", folder / "output_00001", folder / name, *words, "-q")
    shutil.copy(data / "serafin" / "f2d_gouttedo.slf", folder / "f2d.slf")
    return folder


def damaged(path, rng):
    """A change of one file: bytes that are no UTF-8, a bit, other digits, or an end too early."""
    content = bytearray(path.read_bytes())
    at = rng.randrange(min(len(content), 2000))
    kind = rng.randrange(4)
    if kind == 0:
        content[at : at + 3] = b"\xff\xfe\xe9"[: len(content) - at]
    elif kind == 1:
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 2:
        content[at : at + 4] = rng.choice([b"9999", b"-1 e", b"nan ", bytes(4)])[: len(content) - at]
    else:
        del content[at:]
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["output_00001", "run.octavo", "plt00001", "a_hdf5_chk_0001", "f2d.slf"])
def test_no_damage_is_a_traceback(run, originals, tmp_path, name, pytestconfig):
    rng = random.Random(name)
    source = originals / name
    files = [path for path in ([source] if source.is_file() else sorted(source.rglob("*"))) if path.is_file()]
    files = [path for path in files if path.stat().st_size]
    for _ in range(400 if pytestconfig.getoption("--long") else 10):
        copy = tmp_path / name
        shutil.copy(source, copy) if source.is_file() else shutil.copytree(source, copy)
        victim = rng.choice(files)
        damaged(copy if source.is_file() else copy / victim.relative_to(source), rng)
        for verb in ("info", "stats", "verify", "ls"):
            done = run(verb, copy, check=False)
            check_text(done.stdout + done.stderr)
            assert done.returncode in (0, 1, 3, 4, 5), (verb, victim.name, done.stderr)
        copy.unlink() if copy.is_file() else shutil.rmtree(copy)


@pytest.mark.parametrize("name, file", [("output_00001", "info_00001.txt"), ("plt00001", "Header")])
def test_headers_that_are_not_utf8(run, originals, tmp_path, name, file):
    copy = tmp_path / name
    shutil.copytree(originals / name, copy)
    lines = (copy / file).read_bytes().split(b"\n")
    if name == "plt00001":
        lines[2] = b"v\xff\xfe"  # the name of the first variable
    else:
        lines.insert(len(lines) - 1, b"note        =  \xff\xfe[/x]")
    (copy / file).write_bytes(b"\n".join(lines))
    for verb in ("info", "stats", "verify", "ls"):
        done = run(verb, copy)
        check_text(done.stdout + done.stderr)
