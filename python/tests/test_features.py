"""What other writers may put in a store, judged by the command and the restart: read, skipped or said to be unsupported, never
taken for damage, and never an older step in its place."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import octavo

pytest.importorskip("cbor2")
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "reader"))
import rewrite

TREE = octavo.Octree([np.array([False])], [np.array([True])])


def write(store: Path, **fields) -> Path:
    """Steps 1 and 2 of the checkpoint flow, of one cell each."""
    with octavo.Writer(None, store, octavo.Header(roots=(1, 1, 1)), mode="sync", keep_last=0) as writer:
        for step in (1, 2):
            writer.begin_step("checkpoint", step, step / 4)
            writer.put_mesh(TREE)
            writer.put_field("density", np.array([float(step)]))
            for name, values in fields.items():
                writer.put_field(name, values)
            writer.put_bytes("seed", bytes([step, 255]))
            writer.end_step()
    return store


@pytest.fixture
def store(tmp_path) -> Path:
    pytest.importorskip("mpi4py")
    return write(tmp_path / "run.octavo")


def newest(store: Path) -> Path:
    return store / "checkpoint" / "000" / "000" / "000000002" / "data.000"


def codes(run, store: Path) -> dict[str, int]:
    words = {
        "ls": [],
        "info": [],
        "verify": [],
        "map": ["--field", "density", "-o", store.parent / "map.npy"],
        "stats": [],
    }
    return {verb: run(verb, store, *more, check=False).returncode for verb, more in words.items()}


def expect_unsupported(run, store: Path, name: str) -> None:
    assert set(codes(run, store).values()) == {4}
    for verb in ("ls", "info", "verify"):
        done = run(verb, store, check=False)
        assert name in done.stdout + done.stderr
    for _ in range(2):  # also once a start has failed
        with pytest.raises(octavo.Unsupported, match=name):
            octavo.restart(None, store, remember_failed_restarts=True)


def test_a_step_with_an_unknown_feature(run, store):
    rewrite.rewrite_segment(newest(store), lambda segment: segment.footer.update(must_understand=["knots"]))
    expect_unsupported(run, store, "knots")
    listed = json.loads(run("ls", store, "--json", check=False).stdout)
    assert [step["step"] for step in listed["steps"]] == [1] and [step["step"] for step in listed["unsupported"]] == [2]
    report = json.loads(run("verify", store, "--json", check=False).stdout)
    assert [finding["kind"] for finding in report["findings"]] == ["unsupported"]
    assert json.loads(run("info", store, "--step", 1, "--json").stdout)["time"] == 0.25
    assert octavo.restart(None, store, step=1).step == 1
    newest(store).write_bytes(newest(store).read_bytes()[:-1])  # damage counts before what is not known
    assert run("verify", store, check=False).returncode == 1


@pytest.mark.parametrize(("old", "new"), [(b"float64", b"float96"), (b"cell", b"edge")])
def test_an_unknown_type_or_centring(run, store, old, new):
    rewrite.rewrite_segment(newest(store), rewrite.replace_text(old, new))
    expect_unsupported(run, store, new.decode())


def test_an_unknown_kind_of_stream_and_a_newer_minor_version(run, store):
    rewrite.rewrite_segment(newest(store), rewrite.add_unknown_stream)
    rewrite.set_version(newest(store), 2, 9)
    assert set(codes(run, store).values()) == {0}
    assert "kind 9" in run("ls", store, "--streams").stdout
    start = octavo.restart(None, store)
    assert start.step == 2 and start.fields["density"].tolist() == [2.0]


def test_another_major_version(run, store):
    rewrite.set_version(newest(store), 3, 0)
    expect_unsupported(run, store, "3.0")


def test_the_writer_is_named(run, store):
    listed = json.loads(run("ls", store, "--json").stdout)
    assert [step["writer"] for step in listed["steps"]] == [f"Octavo {octavo.__version__}"] * 2
    assert f"Octavo {octavo.__version__}" in run("info", store).stdout


def test_opaque_bytes_come_back(store):
    assert octavo.restart(None, store, opaque=True).opaque == {0: {"seed": b"\x02\xff"}}
    assert octavo.restart(None, store, step=1, opaque=True, keep_parts=False).opaque == {0: {"seed": b"\x01\xff"}}
    assert octavo.restart(None, store).opaque == {}


def test_all_types_come_back(run, tmp_path):
    pytest.importorskip("mpi4py")
    values = {
        "flag": np.array([True]),
        "count": np.array([4000000000], "uint32"),
        "half": np.array([65504], "float16"),
    }
    store = write(tmp_path / "run.octavo", **values)
    start = octavo.restart(None, store)
    part = octavo.open(store).part(0)
    for name, value in values.items():
        for found in (start.fields[name], part.fields[name]):
            assert found.dtype == value.dtype and found.tolist() == value.tolist()
    found = json.loads(run("info", store, "--json").stdout)["fields"]
    assert {field["name"]: field["dtype"] for field in found} | {
        "flag": "bool",
        "count": "uint32",
        "half": "float16",
    } == {field["name"]: field["dtype"] for field in found}
    shown = json.loads(run("stats", store, "--json").stdout)
    assert "65504" in json.dumps(shown)


def test_numpy_has_bfloat16_as_its_bits(run, tmp_path):
    store = tmp_path / "run.octavo"
    shutil.copytree(Path(__file__).parents[2] / "tests" / "golden" / "v2.0-layouts" / "run.octavo", store)
    found = json.loads(run("info", store, "--json").stdout)["fields"]
    assert {field["name"]: field["dtype"] for field in found}["bfloat16"] == "bfloat16"
    ds = octavo.open(store)
    assert ds.part(0).fields["bfloat16"].dtype == np.uint16


def test_an_index_can_be_made_anew(run, store):
    assert run("verify", store, "--rebuild-index").returncode == 0
    index = store / "checkpoint.index"
    lines = index.read_text().splitlines()
    assert (
        lines[-1].startswith("step 2 order 2 segments 1 ") and " in checkpoint/000/000/000000002/data.000 " in lines[-1]
    )
    index.write_text(index.read_text()[:-5])
    assert "checkpoint.index" in run("verify", store).stderr
    assert octavo.restart(None, store).step == 2


def blocks(store: Path, block: tuple[int, ...] = (4, 4, 4), **fields) -> Path:
    """One checkpoint of 2 x 2 x 2 blocks; `fields` are types of "value"."""
    pytest.importorskip("mpi4py")
    shape = (8, *block) if block != (1, 1, 1) else (8,)
    tree = octavo.Octree([np.zeros(8, bool)], [np.ones(8, bool)], roots=(2, 2, 2), block=block)
    header = octavo.Header(roots=(2, 2, 2), block=block)
    with octavo.Writer(None, store, header, mode="sync") as writer:
        writer.begin_step("checkpoint", 3, 0.5)
        writer.put_attribute("level_dt", [0.25])
        writer.put_mesh(tree)
        for name in ("density", "velocity_x", "velocity_y", "velocity_z", "pressure"):
            writer.put_field(name, np.random.default_rng(1).random(shape) + 1)
        for name, dtype in fields.items():
            writer.put_field(name, (np.arange(np.prod(shape)) % 7 / 8).reshape(shape).astype(dtype))
        writer.put_bytes("seed", b"\x01\x02")
        writer.end_step()
    return store


TO_CODES = {
    "run_hdf5_chk_0003": ["--to", "flash"],
    "plt00003": ["--to", "amrex"],
    "chk00003": ["--to", "amrex", "--kind", "checkpoint"],
    "output_00003": ["--to", "ramses"],
}


@pytest.mark.parametrize("out", TO_CODES)
def test_halves_go_into_files_of_codes_exactly(run, tmp_path, out):
    block = (1, 1, 1) if out == "output_00003" else (4, 4, 4)
    store = blocks(tmp_path / "run.octavo", block, half="float16")
    done = run("convert", store, tmp_path / out, "--flow", "checkpoint", *TO_CODES[out])
    assert "left out are half" not in done.stderr
    run("diff", store, tmp_path / out, "--ignore", "time")


def test_integers_that_ramses_rounds_are_named(run, tmp_path):
    store = blocks(tmp_path / "run.octavo", (1, 1, 1), small="int32", wide="int64")
    done = run("convert", store, tmp_path / "output_00003", "--flow", "checkpoint", "--to", "ramses")
    assert "rounded in wide" in done.stderr and "rounded in small" not in done.stderr


def test_booleans_go_into_flash_as_bytes(run, tmp_path):
    store = blocks(tmp_path / "run.octavo", flag="bool")
    out = tmp_path / "run_hdf5_chk_0003"
    run("convert", store, out, "--to", "flash", "--flow", "checkpoint")
    run("diff", store, out, "--ignore", "time")
    done = run("convert", store, tmp_path / "plt00003", "--to", "amrex", "--flow", "checkpoint")
    assert "left out are flag" in done.stderr


@pytest.mark.parametrize("out", TO_CODES)
def test_bytes_that_no_code_holds_are_named(run, tmp_path, out):
    store = blocks(tmp_path / "run.octavo", (1, 1, 1) if out == "output_00003" else (4, 4, 4))
    done = run("convert", store, tmp_path / out, "--flow", "checkpoint", *TO_CODES[out])
    assert "seed" in done.stderr


def test_convert_keeps_bytes_with_their_parts(run, store, tmp_path):
    run("convert", store, tmp_path / "copy.octavo", "--flow", "checkpoint")
    assert octavo.restart(None, tmp_path / "copy.octavo", opaque=True).opaque == {0: {"seed": b"\x02\xff"}}
    finer = run("convert", store, tmp_path / "finer.octavo", "--flow", "checkpoint", "--refine", 1)
    assert "seed" in finer.stderr
    assert octavo.restart(None, tmp_path / "finer.octavo", opaque=True).opaque == {}


def test_repack_names_bytes_that_new_parts_have_not(run, tmp_path):
    store = blocks(tmp_path / "run.octavo", (1, 1, 1))
    assert "seed" not in run("repack", store, tmp_path / "same.octavo").stderr
    assert octavo.restart(None, tmp_path / "same.octavo", opaque=True).opaque == {0: {"seed": b"\x01\x02"}}
    assert "seed" in run("repack", store, tmp_path / "two.octavo", "--domains", 2).stderr


def test_a_step_of_another_code_says_its_time_step_to_amrex(run, tmp_path):
    store = blocks(tmp_path / "run.octavo")
    run("convert", store, tmp_path / "chk00003", "--flow", "checkpoint", *TO_CODES["chk00003"])
    assert (tmp_path / "chk00003" / "Header").read_text().splitlines()[3].strip() == "0.25"


@pytest.mark.parametrize("out", ["r2d.slf", "r2d.vtkhdf"])
def test_integers_that_files_of_triangles_have_no_place_for_are_named(run, tmp_path, out):
    pytest.importorskip("mpi4py")
    x, y = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    with octavo.Writer(None, tmp_path / "run.octavo", octavo.Header(dim=2), mode="sync") as writer:
        writer.begin_step("checkpoint", 1, 0.5)
        writer.put_triangles(x, y, np.array([[0, 1, 2]], np.int32))
        writer.put_field("DEPTH", x)
        writer.put_field("ZONE", np.array([1, 2, 3], np.int32))
        writer.end_step()
    done = run("convert", tmp_path / "run.octavo", tmp_path / out, "--flow", "checkpoint")
    assert "left out are ZONE" in done.stderr
