"""octavo partition, split, merge and refine on TELEMAC's own meshes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import octavo


@pytest.fixture(scope="module")
def serafin(data) -> Path:
    return data / "serafin"


@pytest.fixture(scope="module")
def result(serafin, tmp_path_factory) -> Path:
    """A result whose ranks on the boundary are in its header, as TELEMAC writes them."""
    return serafin / "f2d_malpasset-small_pos.slf"


@pytest.mark.parametrize("layout", ["concat", "files"])
@pytest.mark.parametrize("method", ["metis", "hilbert", "scotch"])
def test_a_result_cut_along_and_merged_is_the_same_bytes(run, run_json, serafin, result, tmp_path, layout, method):
    words = ["--boundary", serafin / "geo_malpasset-small.cli", "--also", f"RES={result}", "--method", method]
    report = run_json(
        "partition",
        serafin / "geo_malpasset-small.slf",
        "-o",
        tmp_path / "T2D",
        "--parts",
        7,
        "--layout",
        layout,
        *words,
    )
    assert report["elements"] == 26000
    assert len(report["files"]) == (8 if layout == "concat" else 28)
    assert sorted(Path(name).name for name in report["files"]) == sorted(path.name for path in tmp_path.iterdir())
    run("merge", tmp_path / "T2DRES", "-o", tmp_path / "merged.slf", "--mesh", serafin / "geo_malpasset-small.slf")
    assert (tmp_path / "merged.slf").read_bytes() == result.read_bytes()


def test_a_result_in_3d_is_split_and_merged(run, run_json, serafin, tmp_path):
    whole = serafin / "f3d_gouttedo.slf"
    run("partition", serafin / "geo_gouttedo.slf", "-o", tmp_path / "T3D", "--parts", 5, "--method", "hilbert")
    run("split", whole, "--like", tmp_path / "T3DGEO", "-o", tmp_path / "T3DPRE")
    run("merge", tmp_path / "T3DPRE-CONCAT", "-o", tmp_path / "merged.slf", "--mesh", serafin / "geo_gouttedo.slf")
    merged, before = (tmp_path / "merged.slf").read_bytes(), whole.read_bytes()
    differ = [at for at in range(len(merged)) if merged[at] != before[at]]
    # The title's tag, and the number of boundary points, which this old file has not.
    assert set(differ) <= {*range(76, 84), *range(88 + 16 + 40 * 4 + 4 + 28, 88 + 16 + 40 * 4 + 4 + 32)}


def test_lost_boundary_numbers_are_found_again(run, serafin, tmp_path):
    done = run("partition", serafin / "f3d_malpasset_pos_p2.slf", "-o", tmp_path / "T3D", "--parts", 3)
    assert "IPOBO is zero everywhere" in done.stderr


def test_refined_twice_it_can_be_cut(run, run_json, serafin, tmp_path):
    mesh, boundary = serafin / "geo_malpasset-small.slf", serafin / "geo_malpasset-small.cli"
    words = ["--times", 2, "--boundary", boundary, "--boundary-out", tmp_path / "fine.cli"]
    report = run_json("refine", mesh, "-o", tmp_path / "fine.slf", *words)
    assert (report["elements"], report["points"], report["boundary_points"]) == (416000, 210161, 4320)
    words = ["--boundary", tmp_path / "fine.cli", "--parts", 42]
    cut = {
        method: run_json("partition", tmp_path / "fine.slf", "-o", tmp_path / "T2D", "--method", method, *words)
        for method in ("metis", "inertial", "hilbert")
    }
    for method, worse in {"inertial": 1.3, "hilbert": 1.6}.items():
        assert cut[method]["most_elements"] <= 1.03 * 416000 / 42 + 1
        assert cut[method]["cut_edges"] <= worse * cut["metis"]["cut_edges"]


def test_wrong_wishes_and_damage_have_their_exit_codes(run, serafin, tmp_path):
    mesh = serafin / "geo_gouttedo.slf"
    wrong = [
        (2, "geo_gouttedo", ["partition", mesh, "-o", tmp_path / "A", "--parts", 100000]),
        (2, "folder of the output", ["partition", mesh, "-o", tmp_path / "no" / "A", "--parts", 2]),
        (3, "element 1: expected", ["partition", serafin / "geo_malpasset-small.slf", "-o", tmp_path / "A", "--parts", 2, "--also", serafin / "f3d_malpasset_pos_p2.slf"]),
        (3, "from 1 to 4624", ["partition", mesh, "-o", tmp_path / "A", "--parts", 2, "--boundary", serafin / "geo_malpasset-small.cli"]),
        (3, "another mesh", ["partition", mesh, "-o", tmp_path / "A", "--parts", 2, "--also", serafin / "f3d_malpasset_pos_p2.slf"]),
        (3, "title record", ["partition", serafin / "oracle.json", "-o", tmp_path / "A", "--parts", 2]),
        (3, "no pieces", ["merge", tmp_path / "nothing", "-o", tmp_path / "m.slf"]),
        (3, "global number", ["merge", serafin / "f2d_gouttedo.slf", "-o", tmp_path / "m.slf"]),
        (4, "prisms", ["refine", serafin / "f3d_gouttedo.slf", "-o", tmp_path / "m.slf"]),
        (2, "exists", ["refine", mesh, "-o", __file__]),
    ]  # fmt: skip
    for code, word, words in wrong:
        done = run(*words, check=False)
        assert done.returncode == code, done.stderr
        assert word in done.stderr, (words, done.stderr)
    assert not list(tmp_path.glob("*.partial"))


def test_what_is_no_piece_is_replaced_by_force_only(run, serafin, tmp_path):
    words = ["partition", serafin / "geo_gouttedo.slf", "-o", tmp_path / "T2D", "--parts", 2]
    (tmp_path / "T2DGEO-CONCAT").write_text("mine")
    done = run(*words, check=False)
    assert done.returncode == 2
    assert "is no piece" in done.stderr
    assert (tmp_path / "T2DGEO-CONCAT").read_text() == "mine"
    run(*words, "-f")
    run("split", serafin / "f2d_gouttedo.slf", "--like", tmp_path / "T2DGEO", "-o", tmp_path / "RES")
    (tmp_path / "RES-INDEX").write_text("mine")
    split = ["split", serafin / "f2d_gouttedo.slf", "--like", tmp_path / "T2DGEO", "-o", tmp_path / "RES"]
    assert run(*split, check=False).returncode == 2
    run(*split, "-f")


def test_real_pieces_of_partel_merge_to_the_mesh_they_came_from(run, serafin, tmp_path):
    mesh = serafin / "geo_gouttedo.slf"
    run("merge", serafin / "partel_example_gouttedo_p2" / "T2DGEO", "-o", tmp_path / "m.slf", "--mesh", mesh)
    merged, before = (tmp_path / "m.slf").read_bytes(), mesh.read_bytes()
    assert len(merged) == len(before)
    header = 88 + 16 + 40 + 48
    assert merged[header:] == before[header:]


def test_json_is_json(run, serafin, tmp_path):
    done = run("split", serafin / "f2d_gouttedo.slf", "--like", serafin / "partel_example_gouttedo_p2" / "T2DGEO",
               "-o", tmp_path / "PRE", "--json")  # fmt: skip
    assert json.loads(done.stdout)["steps"] == 21


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_write_what_one_process_writes(run, serafin, result, tmp_path, ranks):
    words = ["--parts", 7, "--boundary", serafin / "geo_malpasset-small.cli", "--also", f"PRE={result}"]
    (tmp_path / "sec").write_text("sections\n2 0\nupper\n5061. 3975. 5061. 4600.\nmiddle\n6093. 4110. 6093. 4462.\n")
    (tmp_path / "zfi").write_text("".join(f"{point} {point % 3}\n" for point in range(1, 13542)))
    (tmp_path / "seu").write_text(
        "weirs\n1 0 0.5\na group\n1\nx\ny\nz\n1 5061. 4332. 70. 2311 2310 2312 2316 5091. 4342. 70. 4712 11468 4742 4713 0 0 0. 0.\n"
    )
    words += ["--sections", tmp_path / "sec", "--zones", tmp_path / "zfi", "--weirs", tmp_path / "seu"]
    mesh = serafin / "geo_malpasset-small.slf"
    for name, options in ((f"{ranks}", {"ranks": ranks}), ("1", {})):
        (tmp_path / name).mkdir()
        run("partition", mesh, "-o", tmp_path / name / "T2D", "--method", "inertial", *words, **options)
    one, many = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("1", f"{ranks}"))
    assert one == many
    assert "T2DSEC00006-00006" in one  # what TELEMAC opens, beside T2DGEO-CONCAT
    assert "T2DGEO-CONCAT" in one


def test_from_python_as_from_the_command(serafin, result, tmp_path):
    from octavo import pieces

    mesh = serafin / "geo_malpasset-small.slf"
    cut = pieces.partition(mesh, tmp_path / "T2D", 3, method="inertial", also={"RES": result})
    assert cut["most_elements"] <= 1.03 * 26000 / 3 + 1
    again = pieces.split(result, tmp_path / "T2DRES", tmp_path / "AGAIN")
    assert again["steps"] == 2
    merged = pieces.merge(tmp_path / "AGAIN", tmp_path / "merged.slf", mesh=mesh)
    assert merged["parts"] == 3
    assert (tmp_path / "merged.slf").read_bytes() == result.read_bytes()
    assert pieces.refine(mesh, tmp_path / "fine.slf")["elements"] == 104000


def test_a_store_of_parts_is_a_store_and_is_merged(run, run_json, serafin, tmp_path):
    result, geometry = serafin / "f2d_malpasset-small_pos.slf", serafin / "geo_malpasset-small.slf"
    words = ["partition", geometry, "-o", tmp_path / "T2D", "--parts", 7, "--method", "inertial", "--layout", "octavo"]
    run(*words, "--also", f"RES={result}", "--boundary", serafin / "geo_malpasset-small.cli")
    names = ["CLI-CONCAT", "CLI-INDEX", "GEO.octavo", "PAR-CONCAT", "PAR-INDEX", "RES.octavo"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["T2D" + name for name in names]
    assert run_json("info", tmp_path / "T2DRES.octavo")["cells"] == 26000
    assert run_json("diff", result, tmp_path / "T2DRES.octavo")["equal"]
    assert run_json("merge", tmp_path / "T2DRES", "-o", tmp_path / "merged.slf")["parts"] == 7
    assert (tmp_path / "merged.slf").read_bytes() == result.read_bytes()
    done = run(*words, "--also", result, "--also", result, check=False)
    assert done.returncode == 2 and "NAME=FILE" in done.stderr


def test_a_cut_is_given_and_written_from_python_and_the_command(run, serafin, tmp_path):
    import numpy as np

    from octavo import errors, pieces

    mesh = serafin / "geo_gouttedo.slf"
    for name in ("made", "array", "text", "npy", "ranks"):
        (tmp_path / name).mkdir()
    words = {"boundary": serafin / "geo_gouttedo.cli"}
    pieces.partition(mesh, tmp_path / "made" / "T2D", 4, method="hilbert", write_cut=tmp_path / "cut.npy", **words)
    cut = np.load(tmp_path / "cut.npy")
    assert cut.dtype == np.int32 and np.bincount(cut).size == 4
    np.savetxt(tmp_path / "cut.txt", cut, fmt="%d")
    report = pieces.partition(mesh, tmp_path / "array" / "T2D", None, cut=cut.astype(np.uint8)[::1], **words)
    assert report["parts"] == 4
    pieces.partition(mesh, tmp_path / "text" / "T2D", 4, cut=tmp_path / "cut.txt", **words)
    again = ["--boundary", words["boundary"], "--write-cut", tmp_path / "again.txt"]
    run("partition", mesh, "-o", tmp_path / "npy" / "T2D", "--cut", tmp_path / "cut.npy", *again)
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "cut.txt").read_bytes()
    expected = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()}
    for name in ("array", "text", "npy"):
        assert {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} == expected
    for wrong in (cut.astype(float), cut.reshape(-1, 2), cut - 1):
        with pytest.raises(errors.UsageError, match="cut"):
            pieces.partition(mesh, tmp_path / "T2D", 4, cut=wrong)
    with pytest.raises(errors.UsageError, match="method"):
        pieces.partition(mesh, tmp_path / "T2D", 4, cut=cut, method="metis")
    with pytest.raises(errors.Damaged, match="expected 8978 part numbers"):
        pieces.partition(mesh, tmp_path / "T2D", 4, cut=cut[:-1])
    (tmp_path / "mine").write_text("my notes")
    wrong_words = [
        (2, "is no piece", ["--parts", 2, "--write-cut", tmp_path / "mine"]),
        (2, "over a piece", ["--parts", 2, "--write-cut", tmp_path / "T2DGEO-CONCAT"]),
        (2, "would replace", ["--cut", tmp_path / "cut.txt", "--write-cut", tmp_path / "cut.txt"]),
        (3, "without an element", ["--parts", 5, "--cut", tmp_path / "cut.txt"]),
        (3, "found my", ["--cut", tmp_path / "mine"]),
    ]
    for code, text, more in wrong_words:
        done = run("partition", mesh, "-o", tmp_path / "T2D", *more, check=False)
        assert done.returncode == code and text in done.stderr, (more, done.stderr)
    assert not list(tmp_path.glob("T2D*")) and not list(tmp_path.glob("*.partial"))


def test_parts_that_metis_leaves_empty_are_filled(run, serafin, tmp_path):
    mesh = Path(__file__).resolve().parents[2] / "tests" / "golden" / "partel" / "basin.slf"
    for method, parts in (("metis", 120), ("metis", 246), ("scotch", 246)):
        done = run(
            "partition",
            mesh,
            "-o",
            tmp_path / "T2D",
            "--parts",
            parts,
            "--method",
            method,
            "--write-cut",
            tmp_path / "cut",
        )
        counts = [(tmp_path / "cut").read_text().split().count(str(part)) for part in range(parts)]
        assert min(counts) >= 1 and max(counts) <= 3
        assert ("without an element" in done.stderr) == (method == "metis")


@pytest.mark.parametrize("ranks", [0, 2])
def test_artemis_gets_no_empty_part(run, tmp_path, ranks):
    """All elements along the boundary stay in the first part: only others fill what they leave empty."""
    golden = Path(__file__).resolve().parents[2] / "tests" / "golden" / "partel"
    part = octavo.open(golden / "basin.slf").part(0)
    boundary = {int(line.split()[11]) - 1 for line in (golden / "basin.cli").read_text().splitlines()}
    along = [not boundary.isdisjoint(element) for element in part.triangles.tolist()]
    most = along.count(False) + 1  # parts, where each other element is one
    method = "inertial" if ranks else "metis"
    words = ["partition", golden / "basin.slf", "-o", tmp_path / "ART", "--write-cut", tmp_path / "cut", "--method"]
    for parts in (40, 100, most):
        done = run(*words, method, "--parts", parts, ranks=ranks)
        cut = [int(part) for part in (tmp_path / "cut").read_text().split()]
        assert set(cut) == set(range(parts))
        assert all(cut[element] == 0 for element, is_along in enumerate(along) if is_along)
        assert "with the boundary in the first part left" in done.stderr
    for parts, text in ((most + 1, f"expected 1 to {most} parts"), (len(along) + 1, "more parts than elements")):
        done = run(*words, method, "--parts", parts, ranks=ranks, check=False)
        assert done.returncode == 2 and text in done.stderr, done.stderr
