"""Outputs that are half written: verbs of many outputs name them and go on with the rest."""

from __future__ import annotations

import json
import shutil
from itertools import product

import pytest
from conftest import mostly_long

import octavo


def cut_to_an_empty_folder(path):
    for file in path.iterdir():
        file.unlink()


def cut_the_info_file(path):
    (file,) = path.glob("info_*.txt")
    file.write_bytes(file.read_bytes()[:40])


def cut_the_cells(path):
    """As it is while the ranks still write them: the info file comes first."""
    for file in path.iterdir():
        if not file.name.startswith("info_"):
            file.unlink()


CUTS = [cut_to_an_empty_folder, cut_the_info_file, cut_the_cells]


@pytest.fixture(scope="module")
def three(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    for number in (1, 2, 3):
        run("sample", folder / f"output_0000{number}", "--levels", "3-4", "--domains", 2, "--seed", number, "-q")
    return folder


@pytest.fixture
def outputs(three, tmp_path):
    """Two whole outputs, and a third that is whole in a folder of its own."""
    shutil.copytree(three, tmp_path, dirs_exist_ok=True)
    shutil.copytree(three / "output_00003", tmp_path / "whole" / "output_00003")
    return tmp_path


def complete(outputs):
    shutil.rmtree(outputs / "output_00003")
    shutil.copytree(outputs / "whole" / "output_00003", outputs / "output_00003")


@pytest.mark.parametrize(
    ("verb", "cut"),
    mostly_long(
        *product(("series", "movie", "export"), CUTS), short=zip(("series", "movie", "export"), CUTS, strict=True)
    ),
)
def test_verbs_of_many_outputs_leave_it_out_and_name_it(outputs, run, verb, cut):
    cut(outputs / "output_00003")
    words = {
        "series": ["series", outputs / "output_*", "--field", "density", "--json"],
        "movie": ["movie", outputs / "output_*", "--field", "density", "--pixels", 16, "-o", outputs / "m.gif", "-q"],
        "export": ["export", outputs / "output_*", outputs / "run.vtkhdf", "--json"],
    }[verb]
    done = run(*words, check=False)
    assert done.returncode == 0, done.stderr
    assert "left out" in done.stderr and "output_00003" in done.stderr and "Traceback" not in done.stderr
    if verb == "series":
        assert json.loads(done.stdout)["steps"] == [1, 2]
    elif verb == "export":
        assert json.loads(done.stdout)["steps"] == 2


def test_a_series_in_python_says_what_it_lacks(outputs):
    cut_the_info_file(outputs / "output_00003")
    series = octavo.series(outputs / "output_*")
    assert len(series) == 2 and len(series.skipped) == 1 and "output_00003" in str(series.skipped[0])


@pytest.mark.parametrize("cut", CUTS)
def test_an_output_named_alone_is_an_error(outputs, run, cut):
    cut(outputs / "output_00003")
    for path in (outputs / "output_00003", outputs / "output_0000[3]"):
        done = run("series", path, "--field", "density", check=False)
        assert done.returncode in (2, 3, 4) and "output_00003" in done.stderr, done.stderr
    done = run("series", outputs / "output_00001", outputs / "nothing", "--field", "density", check=False)
    assert done.returncode == 3 and "nothing" in done.stderr


@pytest.mark.parametrize("cut", CUTS)
def test_the_view_lists_the_rest_and_takes_it_up_once_it_is_whole(outputs, run, cut):
    pytest.importorskip("uvicorn")
    from test_view import View

    cut(outputs / "output_00003")
    with View(str(outputs / "output_*")) as running:
        found = running.json("steps")
        assert [row["step"] for row in found["steps"]] == [1, 2]
        assert len(found["skipped"]) == 1 and "output_00003" in found["skipped"][0]
        run("sample", outputs / "output_00004", "--levels", "3-4", "--domains", 2, "-q")
        assert [row["step"] for row in running.json("steps")["steps"]] == [1, 2, 4]
        complete(outputs)
        found = running.json("steps")
        assert [row["step"] for row in found["steps"]] == [1, 2, 4, 3] and found["skipped"] == []
        status, _ = running.get("step/3/tile", field="density", zoom=0, column=0, row=0)
        assert status == 200
