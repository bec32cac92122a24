"""Results that the ranks of TELEMAC-2D (V8P4) wrote, put together: tests/golden/telemac has those of two ranks on the
basin of tests/golden/partel, 3 steps, as SERAFIN and as MED."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import octavo

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
MESH = GOLDEN / "partel" / "basin.slf"
BOUNDARY = GOLDEN / "telemac" / "walls.cli"
RESULTS = GOLDEN / "telemac"


@pytest.fixture(autouse=True)
def needs_med(run):
    if run("info", RESULTS / "med" / "T2DRES00001-00000", check=False).returncode == 4:
        pytest.skip("no MED in this build, or no libmedC here")


def fields_of(path: Path, step: int) -> dict[str, np.ndarray]:
    return dict(octavo.open(path, step=step).part(0).fields)


@pytest.mark.parametrize("given", [["--mesh", MESH], []])
def test_med_results_of_ranks_merge_to_what_serafin_results_merge_to(run, run_json, tmp_path, given):
    for kind in ("med", "serafin"):
        report = run_json("merge", RESULTS / kind / "T2DRES", "-o", tmp_path / f"{kind}.slf", *given)
        assert (report["parts"], report["steps"], report["points"]) == (2, 3, 150)
    med, serafin = octavo.open(tmp_path / "med.slf"), octavo.open(tmp_path / "serafin.slf")
    assert med.attributes["iparam"] == serafin.attributes["iparam"] == [1, 0, 300000, 6000000, 0, 0, 0, 54, 0, 1]
    assert med.attributes["date"] == serafin.attributes["date"]
    for name in ("x", "y", "triangles"):
        assert np.array_equal(getattr(med.part(0), name), getattr(serafin.part(0), name))
    for step in range(3):
        found, expected = (fields_of(tmp_path / f"{kind}.slf", step) for kind in ("med", "serafin"))
        assert found.keys() == expected.keys() == {"VELOCITY U", "WATER DEPTH", "IPOBO"}
        for name, values in expected.items():
            assert np.array_equal(found[name].astype(values.dtype), values), name
    assert fields_of(tmp_path / "med.slf", 2)["VELOCITY U"].any()


@pytest.mark.parametrize("kind", ["med", "serafin"])
def test_merged_to_med_it_is_the_same_result(run, tmp_path, kind):
    words = ["--mesh", MESH, "--boundary", BOUNDARY]
    run("merge", RESULTS / kind / "T2DRES", "-o", tmp_path / "whole.slf", *words)
    run("merge", RESULTS / kind / "T2DRES", "-o", tmp_path / "whole.med", *words)
    run("convert", tmp_path / "whole.med", tmp_path / "back.slf")
    assert (tmp_path / "back.slf").read_bytes() == (tmp_path / "whole.slf").read_bytes()
    with h5py.File(tmp_path / "whole.med") as file:
        assert list(file["ENS_MAA"]) == ["MESH"]
        assert not [name for name in file["NUM_DATA"] if name.startswith("NPTIR")]
        groups = list(file["FAS/MESH/ELEME"])
        assert len(groups) == 1 and "CONLIM_2222" in groups[0]


def test_boundary_groups_of_a_mesh_in_med_go_along(run, tmp_path):
    run("convert", MESH, tmp_path / "geo.med", "--boundary", BOUNDARY)
    for kind in ("med", "serafin"):
        run("merge", RESULTS / kind / "T2DRES", "-o", tmp_path / f"{kind}.med", "--mesh", tmp_path / "geo.med")
        with h5py.File(tmp_path / f"{kind}.med") as file:
            assert "CONLIM_2222" in next(iter(file["FAS/MESH/ELEME"]))


def test_a_whole_file_beside_the_pieces_is_not_one_of_them(run, tmp_path):
    for path in (RESULTS / "med").iterdir():
        shutil.copy(path, tmp_path)
    run("merge", tmp_path / "T2DRES", "-o", tmp_path / "first.med", "--mesh", MESH)
    shutil.copy(tmp_path / "first.med", tmp_path / "T2DRES")
    run("merge", tmp_path / "T2DRES", "-o", tmp_path / "second.med", "--mesh", MESH)
    for name in ("first", "second"):
        run("convert", tmp_path / f"{name}.med", tmp_path / f"{name}.slf")
    assert (tmp_path / "first.slf").read_bytes() == (tmp_path / "second.slf").read_bytes()


def test_pieces_that_are_missing_or_of_other_runs_are_named(run, tmp_path):
    first, second = (RESULTS / "med" / f"T2DRES00001-0000{part}" for part in (0, 1))
    done = run("merge", first, "-o", tmp_path / "out.slf", check=False)
    assert done.returncode == 3 and "missing" in done.stderr
    shutil.copy(first, tmp_path / "a00001-00000")
    shutil.copy(RESULTS / "serafin" / "T2DRES00001-00001", tmp_path / "a00001-00001")
    done = run("merge", tmp_path / "a", "-o", tmp_path / "out.slf", check=False)
    assert done.returncode == 3 and "a00001-00001" in done.stderr
    shutil.copy(second, tmp_path / "a00001-00001")
    with h5py.File(tmp_path / "a00001-00001", "r+") as file:
        step = next(iter(file["CHA/WATER DEPTH"].values()))
        step.attrs["PDT"] = np.float64(77)
        other = next(iter(file["CHA/VELOCITY U"].values()))
        other.attrs["PDT"] = np.float64(77)
    done = run("merge", tmp_path / "a", "-o", tmp_path / "out.slf", check=False)
    assert done.returncode == 3 and "different runs" in done.stderr and "77" in done.stderr
    assert not (tmp_path / "out.slf").exists()


def test_no_input_is_replaced(run, tmp_path):
    for path in (RESULTS / "med").iterdir():
        shutil.copy(path, tmp_path)
    shutil.copy(MESH, tmp_path / "geo.slf")
    for out in ("T2DRES00001-00001", "geo.slf"):
        before = (tmp_path / out).read_bytes()
        done = run(
            "merge", tmp_path / "T2DRES", "-o", tmp_path / out, "--mesh", tmp_path / "geo.slf", "-f", check=False
        )
        assert done.returncode == 2 and "would replace" in done.stderr
        assert (tmp_path / out).read_bytes() == before


def test_a_mesh_replaces_a_mesh_alone(run, tmp_path):
    out, boundary = tmp_path / "fine.slf", tmp_path / "fine.cli"
    for words in ([], ["-f"]):
        run("refine", MESH, "-o", out, "-q", *words)
    out.write_text("years of work")
    done = run("refine", MESH, "-o", out, "-q", "-f", check=False)
    assert done.returncode == 2 and "-f replaces a SERAFIN file" in done.stderr, done.stderr
    assert out.read_text() == "years of work"
    shutil.copy(MESH, boundary)  # a mesh by the name of a boundary
    done = run("convert", MESH, tmp_path / "new.slf", "--boundary-out", boundary, "-q", "-f", check=False)
    assert done.returncode == 2 and boundary.read_bytes() == MESH.read_bytes(), done.stderr


def test_one_plane_has_nothing_to_weigh(run, run_json, tmp_path):
    field = run_json("info", MESH)["fields"][0]["name"]
    words = ["--field", f'"{field}"', "--weight", f'"{field}"', "--kind", "mean", "-o", tmp_path / "a.npy"]
    done = run("map", MESH, *words, check=False)
    assert done.returncode == 4 and "no mean to weigh" in done.stderr and "plane" not in done.stderr, done.stderr


def test_a_file_is_split_as_pieces_beside_it(run, tmp_path):
    """The launcher's folder: T2DGEO is the whole mesh, and its pieces lie beside it under the same prefix."""
    shutil.copy(MESH, tmp_path / "T2DGEO")
    shutil.copy(MESH, tmp_path / "T2DPRE")
    run("partition", tmp_path / "T2DGEO", "-o", tmp_path / "T2D", "--parts", 3, "--layout", "files")
    run("split", tmp_path / "T2DPRE", "--like", tmp_path / "T2DGEO", "-o", tmp_path / "T2DPRE", "--layout", "files")
    for part in range(3):
        name = f"00002-0000{part}"
        assert (tmp_path / f"T2DPRE{name}").read_bytes() == (tmp_path / f"T2DGEO{name}").read_bytes()
