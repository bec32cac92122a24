"""The command as a user meets it: help, exit codes, errors in three lines, JSON, overwriting."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import mostly_long
from octavo.extras import source_of

import octavo


def test_version_and_help(run):
    assert run("--version").stdout.startswith("octavo ")
    assert "octavo help VERB" in run("--help").stdout
    verbs = ("info", "ls", "convert", "repack", "verify", "stats", "diff", "map", "slice", "line", "sample", "bench")
    for verb in verbs:
        assert "examples:" in run("help", verb).stdout
        assert run(verb, "--help").returncode == 0


@pytest.mark.parametrize("words", [["--bogus"], ["nonsense"], ["info"], ["info", "a", "b"], ["map"]])
def test_wrong_use_is_2(run, words):
    done = run(*words, check=False)
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_near_verb_is_suggested(run):
    assert "convert" in run("convrt", check=False).stderr


@pytest.mark.parametrize("verb", ["info", "ls", "verify", "stats"])
def test_what_can_not_be_opened_is_3(run, verb, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no output")
    for name in ("missing", "empty", "file"):
        done = run(verb, tmp_path / name, check=False)
        assert done.returncode == 3, (name, done.stderr)
        assert done.stderr.startswith("error: ") and name in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) <= 3


def test_an_unknown_field_names_near_ones(run, sample):
    done = run("stats", sample, "--field", "densit", check=False)
    assert done.returncode == 2
    assert "density" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--roi", "box:0,0:1,1"],
        ["--roi", "cube"],
        ["--roi", "sphere:0,0,0:-1"],
        ["--roi", "box:0.5,0,0:0.4,1,1"],
        ["--roi", "sphere:nan,0,0:1"],
    ],
)
def test_a_bad_region_is_2(run, sample, words):
    done = run("stats", sample, *words, check=False)
    assert done.returncode == 2, done.stderr
    assert "box:" in done.stderr or "sphere:" in done.stderr


@pytest.mark.parametrize("codec", ["point", "point:", "point:-1", "point:nan", "rel:1e-3", "range:2", "density=foo"])
def test_a_bad_codec_is_2(run, sample, tmp_path, codec):
    assert run("convert", sample, tmp_path / "o", "--codec", codec, check=False).returncode == 2
    assert not (tmp_path / "o").exists()


def test_info_json_is_the_stable_interface(run_json, sample):
    facts = run_json("info", sample)
    assert {"format", "time", "ndim", "cells", "leaves", "levels", "domains", "fields", "particles"} <= set(facts)
    assert facts["domains"] == 8 and facts["ndim"] == 3 and facts["particles"] == 2000
    assert set(facts["levels"][0]) == {"level", "blocks", "cells", "leaves"}
    assert set(facts["fields"][0]) == {"name", "unit", "dtype"}
    assert facts["schema_version"] == 1
    assert facts["block"] is None and facts["blocks"] is None


def test_info_counts_cells_leaves_and_blocks(run, run_json, sample, tmp_path):
    """A FLASH file and a store of it, whose tree cells are blocks; the leaves are those that stats counts."""
    flash = tmp_path / "a_hdf5_chk_0001"
    run("convert", sample, flash, "--to", "flash", "--block", 4, "--fill", "-q")
    run("convert", flash, tmp_path / "run.octavo", "-q")
    for path in (flash, tmp_path / "run.octavo"):
        facts, stats = run_json("info", path), run_json("stats", path)
        assert facts["leaves"] == stats["leaves"]
        if facts["block"] is None:
            continue
        assert facts["block"] == [4, 4, 4] and facts["cells"] == 64 * facts["blocks"]
        for level, counted in zip(facts["levels"], run_json("stats", path)["fields"]["dens"]["levels"], strict=False):
            assert level["cells"] == 64 * level["blocks"] and level["leaves"] % 64 == 0 and counted
        assert "4 x 4 x 4" in run("info", path).stdout


def test_real_flash_file_has_its_leaves(run_json, data):
    """8,704 leaves in 136 leaf blocks of 8 x 8."""
    for path in sorted((data / "flash").rglob("*hdf5_chk_000*")):
        facts = run_json("info", path)
        assert facts["leaves"] == run_json("stats", path, "--no-particles")["leaves"], path


def test_stats_json_is_the_stable_interface(run_json, sample):
    stats = run_json("stats", sample)
    assert stats["leaves"] == run_json("info", sample)["leaves"]
    assert {"min", "max", "mean", "integral", "nan"} <= set(stats["fields"]["density"])
    assert {"min", "max", "sum"} <= set(stats["particles"]["mass"])


def test_overwriting_takes_a_word(run, sample, tmp_path):
    out = tmp_path / "run.octavo"
    run("convert", sample, out)
    assert run("convert", sample, out, check=False).returncode == 2
    run("convert", sample, out, "-f", "--codec", "point:1e-2")
    assert run("verify", out).returncode == 0
    run("convert", sample, f"{out}/", "-f")  # with the slash that a shell's completion puts there
    assert run("verify", out).returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.octavo"]
    picture = tmp_path / "map.npy"
    run("map", out, "--field", "density", "-o", picture, "--pixels", 16)
    assert run("map", out, "--field", "density", "-o", picture, "--pixels", 16, check=False).returncode == 2
    run("map", out, "--field", "density", "-o", picture, "--pixels", 32, "-f")
    assert np.load(picture).shape == (32, 32)


def test_force_never_replaces_what_is_no_store(run, sample, tmp_path):
    mine = tmp_path / "thesis"
    mine.mkdir()
    (mine / "chapter1").write_text("years of work")
    assert run("convert", sample, mine, "-f", check=False).returncode == 2
    assert (mine / "chapter1").read_text() == "years of work"


def test_several_outputs_are_steps_of_one_store(run, run_json, sample, tmp_path):
    for number in (3, 20, 100):
        run("sample", tmp_path / f"output_{number:05}", "--levels", "3-4", "--domains", 2, "--seed", number, "-q")
    out = tmp_path / "run.octavo"
    run("convert", str(tmp_path / "output_*"), out)
    assert [step["step"] for step in run_json("ls", out)["steps"]] == [3, 20, 100]
    one, its_step = tmp_path / "output_00020", run_json("stats", out, "--step", 20)
    assert its_step["fields"] == run_json("stats", one)["fields"]
    run("convert", sample, out, "--append")
    assert [step["step"] for step in run_json("ls", out)["steps"]] == [3, 7, 20, 100]
    assert run("convert", sample, out, "--append", check=False).returncode == 2
    assert run("info", out, "--step", 4, check=False).returncode in (2, 3)


def test_maps_of_every_ending_hold_the_same_numbers(run, sample, tmp_path):
    import h5py

    for ending in ("npy", "h5", "png"):
        run("map", sample, "--field", "density", "--pixels", 48, "-o", tmp_path / f"map.{ending}")
    with h5py.File(tmp_path / "map.h5") as file:
        assert np.array_equal(file["map"][()], np.load(tmp_path / "map.npy"))
        assert file["map"].attrs["unit"]
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_quiet_is_quiet(run, sample, tmp_path):
    done = run("convert", sample, tmp_path / "o", "-q")
    assert done.stdout == "" and done.stderr == ""


def test_ctrl_c_leaves_no_partial_step(run, sample, tmp_path):
    """A store that is being replaced stays what it was."""
    import signal
    import time

    from conftest import OCTAVO

    big, out = tmp_path / "output_00001", tmp_path / "run.octavo"
    run("sample", big, "--levels", "5-7", "--domains", 12, "-q")
    run("convert", sample, out, "-q")
    before = run("ls", out, "--json").stdout
    known = set(os.listdir(tmp_path))
    for delay in (0, 0.05, 0.2):
        process = subprocess.Popen(
            [OCTAVO, "convert", big, out, "-f", "-j", "1", "--effort", "max"], stderr=subprocess.PIPE
        )
        # Not before the new store is begun: a signal may hit the interpreter while it can do nothing but die of it.
        while process.poll() is None and set(os.listdir(tmp_path)) == known:
            time.sleep(0.005)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=600)
        assert process.returncode == 130, message
        assert b"Traceback" not in message
        assert run("ls", out, "--json").stdout == before
        assert run("verify", out).returncode == 0


def test_a_full_disk_is_5_and_keeps_what_was_complete(run, run_json, sample, tmp_path):
    """A small tmpfs where one may be mounted, else a limit on file sizes."""
    out, limit = tmp_path / "run.octavo", 200_000
    if os.geteuid() == 0 and shutil.which("mount"):
        small = tmp_path / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", small], capture_output=True)
        if mounted.returncode == 0:
            try:
                _check_full(run, run_json, sample, tmp_path, small / "run.octavo", {})
            finally:
                subprocess.run(["umount", small], check=True)
            return
    _check_full(run, run_json, sample, tmp_path, out, {"preexec_fn": lambda: _limit_files(limit)})


def _limit_files(size):
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _check_full(run, run_json, sample, tmp_path, out, limits):
    tiny = tmp_path / "output_00001"
    run("sample", tiny, "--levels", "3-3", "--domains", 2, "-q")
    run("convert", tiny, out, "-q")
    done = run("convert", sample, out, "--append", check=False, **limits)
    assert done.returncode == 5, done.stderr
    assert [step["step"] for step in run_json("ls", out)["steps"]] == [1]
    assert run("verify", out).returncode == 0


def test_info_costs_little_more_than_the_interpreter(sample):
    """CPU seconds of the whole process, least of five."""
    from conftest import OCTAVO

    def cost():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([OCTAVO, "info", sample, "--json"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cost() for _ in range(5)) < 0.15


def test_a_closed_pipe_is_no_error(sample):
    from conftest import OCTAVO

    text = f"{OCTAVO} stats {sample} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_h5py_and_octavo_live_together():
    for order in ("import h5py, octavo; octavo.open", "import octavo; octavo.open; import h5py"):
        subprocess.run([sys.executable, "-c", order], check=True)


def test_json_of_ls_names_codecs(run_json, run, sample, tmp_path):
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--codec", "point:1e-3,pressure=abs:1e-2,density=lossless")
    fields = {f["field"]: f for f in run_json("ls", out)["steps"][0]["fields"]}
    assert json.dumps(fields["density"]["codecs"]).find("point") < 0
    assert any("point" in codec for codec in fields["velocity_x"]["codecs"])
    assert any("abs" in codec for codec in fields["pressure"]["codecs"])


NAMED_OUTPUTS = ["out.vtu", "out.vtk", "out.h5", "run.octavo.zip", "a.PNG"]


@pytest.mark.parametrize("name", NAMED_OUTPUTS)
def test_an_unknown_ending_of_an_output_is_refused(run, sample, tmp_path, name):
    out = tmp_path / name
    for words in (
        ["convert", sample, out],
        ["repack", sample, out],
        ["sample", out, "--to", "octavo"],
        ["sample", out],
    ):
        done = run(*words, check=False)
        assert done.returncode == 2 and name[-4:] in done.stderr, words
    assert not list(tmp_path.iterdir())
    run("convert", sample, out, "--to", "octavo", "-q")  # said in full, it is meant


@pytest.mark.parametrize(
    "words, said",
    [
        (["--to", "flash", "--max-box", 8], "max_box: an option of AMReX outputs only"),
        (["--periodic", "xyz"], "periodic: an option of RAMSES, AMReX, FLASH outputs only"),
        (["--to", "vtkhdf", "--lossy-ok"], "lossy_ok: an option of RAMSES, AMReX, FLASH outputs only"),
        (["--kind", "plotfile"], "kind: an option of AMReX, FLASH outputs only"),
        (["--rename", "density=dens"], "rename: an option of RAMSES, AMReX, FLASH outputs only"),
        (["--to", "vtkhdf", "--refine", 1], "refine: an option of stores, RAMSES, AMReX, FLASH outputs only"),
        (["--boundary", "a.cli"], "boundary: an option of MED, Gmsh outputs only"),
        (["--boundary-out", "a.cli"], "a file of triangles that has no groups"),
        (["--over-time", "max"], "files of triangles: SERAFIN, MED, VTKHDF, UGRID, Gmsh"),
        (["--to", "ramses", "--report"], "errors are measured of a store"),
        (["--to", "amrex", "--kind", "checkpoint", "--dt", "-1"], "option dt: expected numbers above 0"),
        (["--to", "ramses", "--ordering", "angular"], "invalid choice"),
    ],
)
def test_an_option_of_another_output_is_refused(run, sample, data, tmp_path, words, said):
    source = data / "serafin" / "geo_gouttedo.slf" if "vtkhdf" in words else sample
    done = run("convert", source, tmp_path / "out", *words, check=False)
    assert done.returncode in (2, 4) and said in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_a_sample_is_an_output_of_any_format_of_cells(run, run_json, tmp_path):
    words = ["--levels", "3-4", "--domains", 2, "-q"]
    leaves = {
        to: run_json("sample", tmp_path / to, "--to", to, *words)["leaves"] for to in ("octavo", "ramses", "amrex")
    }
    assert len(set(leaves.values())) == 1, leaves


def test_numbers_and_no_ending_are_stores(run, sample, tmp_path):
    for name in ("run", "run.0042", "run.OCTAVO", "z0.5"):
        run("convert", sample, tmp_path / name, "-q")
        assert run("verify", tmp_path / name).returncode == 0


def run_without(package, *words, cwd):
    """The command where a Python package is not installed."""
    code = f"import sys; sys.modules[{package!r}] = None\nfrom octavo.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, cwd=cwd)


@pytest.mark.parametrize(
    "package, words",
    [
        ("matplotlib", ["map", "IT", "--field", "density", "-o", "a.png", "--pixels", 8]),
        ("h5py", ["map", "IT", "--field", "density", "-o", "a.h5", "--pixels", 8]),
        ("numpy", ["map", "IT", "--field", "density", "-o", "a.png", "--pixels", 8]),
    ],
)
def test_a_missing_package_is_a_sentence(sample, tmp_path, package, words):
    done = run_without(package, *[sample if word == "IT" else word for word in words], cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr and source_of(package) in done.stderr
    assert not list(tmp_path.iterdir())


def test_json_needs_no_optional_package(sample, tmp_path):
    assert run_without("rich", "info", sample, "--json", cwd=tmp_path).returncode == 0


def test_tracebacks_are_for_debug_alone(sample):
    """A bug of ours, as one that nobody has found yet."""
    code = (
        "import sys, octavo.cli.files.info as info\n"
        "def run(arguments): raise KeyError('a\x1b[31m')\n"
        "info.run = run\nfrom octavo.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    plain = subprocess.run([sys.executable, "-c", code, "info", sample], capture_output=True, text=True)
    assert plain.returncode == 3 and "Traceback" not in plain.stderr and "unexpected: KeyError" in plain.stderr
    assert "\x1b" not in plain.stderr and "--debug" in plain.stderr
    debug = subprocess.run([sys.executable, "-c", code, "info", sample, "--debug"], capture_output=True, text=True)
    assert "Traceback" in debug.stderr


@pytest.fixture(scope="module")
def inputs(run, sample, tmp_path_factory):
    """An input of each format that is read part by part; those that need a library only where it is."""
    folder = tmp_path_factory.mktemp("inputs")
    basin = Path(__file__).resolve().parents[2] / "tests" / "golden" / "partel" / "basin.slf"
    made = {"ramses": sample, "serafin": basin}
    for name, source, words in (
        ("store", sample, []),
        ("flash", sample, ["--to", "flash", "--fill"]),
        ("amrex", sample, ["--to", "amrex", "--kind", "plotfile"]),
        ("med", basin, ["--to", "med"]),
        ("vtkhdf", basin, ["--to", "vtkhdf"]),
    ):
        done = run("convert", source, folder / name, *words, "-q", check=False)
        if done.returncode == 0:
            made[name] = folder / name
        else:
            assert done.returncode == 4, done.stderr
    return made


@pytest.mark.parametrize(
    "name",
    mostly_long(
        "ramses", "store", "flash", "amrex", "serafin", "med", "vtkhdf", short=["ramses", "store", "flash", "med"]
    ),
)
def test_no_input_is_read_past_the_limit_of_memory(run, inputs, tmp_path, name):
    if name not in inputs:
        pytest.skip(f"this build writes no {name}")
    path = inputs[name]
    cells = name in ("ramses", "store", "flash", "amrex")
    field = "density" if name != "flash" else "dens"
    calls = [["stats", path], ["verify", path], ["diff", path, path], ["convert", path, tmp_path / "copy", "-f"]]
    if cells:
        calls.append(["stats", path, "--field", field, "--no-particles"])
        calls.append(["map", path, "--field", field, "-o", tmp_path / "map.npy", "-f", "--pixels", "16"])
        if name != "flash":
            calls.append(["convert", path, tmp_path / "copy_flash", "--to", "flash", "--fill", "-f"])
    if name == "amrex":  # its text headers are asked for first
        done = run("stats", path, "--memory", "1B", check=False)
        assert done.returncode == 5 and "Header takes" in done.stderr, done.stderr
    limit = 250_000 if name == "amrex" else 1
    for words in calls:
        done = run(*words, "--memory", f"{limit}B", check=False)
        assert done.returncode == 5, (words, done.stdout, done.stderr)
        if words[0] == "map" and limit == 1:  # the image comes before any part
            assert "an image of 16 x 16 pixels takes 4096 bytes" in done.stderr, done.stderr
            continue
        assert "reading a part takes " in done.stderr and "part 0" in done.stderr, (words, done.stderr)
        assert f"bytes of memory, the limit is {limit}\n" in done.stderr
        assert name == "store" or path.name in done.stderr, (words, done.stderr)
        assert not list(tmp_path.glob("copy*")) and "damaged" not in done.stdout
    for words in calls:
        done = run(*words, "--memory", "1GiB", check=False)
        assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize(
    "name",
    [
        "amrex/hdf5plt3d_r2/plt_singledset.h5",
        "amrex/parts2d_bigid_r4/plt00007",
        "flash/sedov3d_octant_par3/sedov3do_hdf5_chk_0001",
        "serafin/r3d_stratification.slf",
        "serafin/geo_gouttedo.med",
    ],
)
def test_no_real_input_is_read_past_the_limit_of_memory(run, data, name):
    path = data / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    for verb in ("stats", "verify"):
        assert run(verb, path, "--memory", "1B", check=False).returncode == 5
        assert run(verb, path, "--memory", f"{max(1, 8 * size_of(path) // 10**6)}MB", check=False).returncode in (0, 4)


def size_of(path):
    return sum(p.stat().st_size for p in [path, *path.rglob("*")] if p.is_file())


def test_what_nothing_has_is_nowhere(sample, run, run_json):
    """The extremes of an empty selection are at no place and on no level."""
    nothing = octavo.open(sample).in_domains(99).stats("density")["fields"]["density"]
    assert nothing["leaves"] == 0 and all(
        nothing[name] is None for name in ("min_at", "max_at", "min_level", "max_level")
    )
    assert run_json("stats", sample, "--roi", "domains:99")["fields"]["density"]["min_at"] is None
    assert "(0, 0" not in run("stats", sample, "--roi", "domains:99", "--field", "density").stdout


@pytest.mark.parametrize("level", ["a", 5.5, None])
def test_a_level_is_a_whole_number(sample, level):
    with pytest.raises(octavo.UsageError, match="a level is a whole number"):
        octavo.open(sample).level(level)
    assert octavo.open(sample).level(np.int32(4)).stats("density")["leaves"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["help", "mpa"], "no verb 'mpa'; did you mean map?"),
        (["stats", "s", "--memory", "lots"], "an amount of memory such as 8GiB, found 'lots'"),
        (["map", "s", "--field", "density", "--limits", "nan,1", "-o", "x.png"], "expected two finite numbers"),
        (["contour", "s", "--field", "density", "--at", "1", "-o", "x.geojson"], "of 3-D data it finds a surface"),
    ],
)
def test_wrong_words_are_answered_with_right_ones(run, sample, tmp_path, words, message):
    done = run(*[sample if word == "s" else word for word in words], check=False, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert "try: 3-D data" not in done.stderr


def test_a_note_is_said_once(run, sample, tmp_path):
    done = run("publish", sample, "-o", tmp_path / "site", "--field", "density", "--zooms", 1)
    assert done.stderr.count("datacite.json lacks") == 1
