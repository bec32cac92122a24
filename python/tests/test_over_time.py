"""Series, movies and batches: many outputs as one."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from octavo.errors import Unreadable, UsageError

import octavo


@pytest.fixture(scope="module")
def outputs(run, tmp_path_factory):
    """Three 2-D outputs whose numbers sort otherwise than their names, and a store with all of them."""
    folder = tmp_path_factory.mktemp("outputs")
    for seed in (2, 9, 10):
        run("sample", folder / f"output_{seed}", "--dim", 2, "--levels", "3-5", "--domains", 2, "--seed", seed, "-q")
    run("convert", *(folder / f"output_{seed}" for seed in (2, 9, 10)), folder / "run.octavo", "-q")
    return folder


def test_a_table_has_what_stats_gives_of_each_output(outputs, run, run_json):
    pattern = outputs / "output_*"
    facts = run_json("series", pattern, "--field", "density", "--of", "min,integral")
    assert [path.rsplit("_")[-1] for path in facts["paths"]] == ["2", "9", "10"]
    for row, path in enumerate(facts["paths"]):
        stats = run_json("stats", path, "--field", "density", "--no-particles")
        for quantity in ("min", "integral"):
            assert facts["fields"]["density"][quantity][row] == stats["fields"]["density"][quantity]
        assert facts["leaves"][row] == stats["leaves"]
    store = run_json("series", outputs / "run.octavo", "--field", "density", "--of", "min,integral")
    assert {**store, "paths": 0} == {**facts, "paths": 0}
    lines = run("series", pattern, "--field", "density", "--of", "min,integral", "--csv").stdout.splitlines()
    assert lines[0] == "path,step,time,leaves,density min,density integral"
    assert [float(line.split(",")[5]) for line in lines[1:]] == facts["fields"]["density"]["integral"]


def test_ranks_share_a_table(outputs, run_json):
    words = ("series", outputs / "output_*", "--roi", "sphere:0.5,0.5:0.3")
    assert run_json(*words, ranks=2) == run_json(*words)


def test_a_series_in_python_opens_what_is_asked_for(outputs):
    series = octavo.series(outputs / "output_*")
    assert len(series) == 3 and len(series[1:]) == 2
    assert [ds.path for ds in series] == [snapshot.path for snapshot in series.snapshots]
    table = series.table("density", of=["integral"], select=lambda ds: ds.sphere("center", 0.2))
    expected = [ds.sphere("center", 0.2).sum("density", weight="volume") for ds in series]
    assert table["density"]["integral"].tolist() == expected
    assert [row[1] for row in table.rows()] == [2, 9, 10]
    with pytest.raises(UsageError, match="no quantity 'middle'"):
        series.table("density", of=["middle"])
    with pytest.raises(Unreadable, match="nothing is there"):
        octavo.series(outputs / "missing_*")


def test_a_step_that_a_run_repeated_is_shown_once(outputs, run, tmp_path):
    again = tmp_path / "again.octavo"
    run("convert", outputs / "output_9", again, "-q")
    series = octavo.series([outputs / "run.octavo", again])
    assert [(os.path.basename(s.path), s.step) for s in series.snapshots] == [
        ("run.octavo", 2), ("again.octavo", 9), ("run.octavo", 10),
    ]  # fmt: skip


def test_an_output_without_a_number_is_step_0(outputs, tmp_path):
    shutil.copytree(outputs / "output_9", tmp_path / "plain")
    series = octavo.series(tmp_path / "plain")
    assert series[0].fields == octavo.open(tmp_path / "plain").fields


def test_a_series_draws_values_and_integrals_apart(outputs, run, tmp_path):
    run("series", outputs / "output_*", "--field", "density", "-o", tmp_path / "t.png")
    assert (tmp_path / "t.png").stat().st_size > 10_000
    table = octavo.series(outputs / "output_*").table("density")
    assert [(title, list(lines)) for title, lines in table.panels()] == [
        ("density", ["min", "max", "volume_mean"]), ("density, integral", ["integral"]),
    ]  # fmt: skip


def frames_of(path):
    from PIL import Image, ImageSequence

    with Image.open(path) as movie:
        return [np.asarray(frame.convert("RGB"), np.int16) for frame in ImageSequence.Iterator(movie)]


def bar_of(frame):
    """The part of a frame right of the map: the colour bar with its numbers."""
    return frame[:, int(frame.shape[1] * 0.86) :]


def test_all_pictures_of_a_movie_have_the_same_colours(outputs, run, tmp_path):
    words = ("--field", "density", "--pixels", 64)
    run("movie", outputs / "output_*", *words, "-o", tmp_path / "m")
    names = sorted(os.listdir(tmp_path / "m"))
    assert names == ["00000.png", "00001.png", "00002.png"]
    frames = [frames_of(tmp_path / "m" / name)[0] for name in names]
    assert len({frame.shape for frame in frames}) == 1
    assert all((bar_of(frame) == bar_of(frames[0])).all() for frame in frames)
    assert (frames[1] != frames[0]).any()
    # Each output alone has colours of its own.
    for number, seed in enumerate((2, 9, 10)):
        run("movie", outputs / f"output_{seed}", *words, "-o", tmp_path / f"alone{number}")
    alone = [frames_of(tmp_path / f"alone{number}" / "00000.png")[0] for number in range(3)]
    assert any((bar_of(frame) != bar_of(alone[0])).any() for frame in alone)


@pytest.mark.long
def test_a_movie_is_the_same_from_ranks_and_with_limits_known(outputs, run, run_json, tmp_path):
    words = ("movie", outputs / "output_*", "--field", "density", "--pixels", 64)
    facts = run_json(*words, "--fps", 5, "-o", tmp_path / "one.gif")
    assert facts["frames"] == 3 and len(frames_of(tmp_path / "one.gif")) == 3
    run(*words, "--fps", 5, "-o", tmp_path / "two.gif", ranks=2)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    lows_highs = [
        (image.min(), image.max())
        for image in (ds.map("density", pixels=64).values for ds in octavo.series(outputs / "output_*"))
    ]
    low, high = min(low for low, _ in lows_highs), max(high for _, high in lows_highs)
    run(
        *words,
        "--fps",
        5,
        "--limits",
        f"{low!r},{high!r}".replace("np.float64(", "").replace(")", ""),
        "-o",
        tmp_path / "three.gif",
    )
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "three.gif").read_bytes()
    octavo.series(outputs / "output_*").movie(tmp_path / "four.gif", lambda ds: ds.map("density", pixels=64), fps=5)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "four.gif").read_bytes()


def test_a_movie_of_slices(outputs, run, tmp_path):
    run("movie", outputs / "output_*", "--field", "density", "--normal", "z", "--pixels", 64, "-o", tmp_path / "s.gif")
    octavo.series(outputs / "output_*").movie(tmp_path / "t.gif", lambda ds: ds.slice("density", pixels=64))
    assert (tmp_path / "s.gif").read_bytes() == (tmp_path / "t.gif").read_bytes()


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_movie_that_fails_leaves_what_was_there(outputs, run, tmp_path, ranks):
    (tmp_path / "m.gif").write_bytes(b"before")
    words = ("movie", outputs / "output_*", "-o", tmp_path / "m.gif", "-f")
    done = run(*words, "--field", "densty", check=False, ranks=ranks)
    assert done.returncode == 2 and "densty" in done.stderr
    assert os.listdir(tmp_path) == ["m.gif"] and (tmp_path / "m.gif").read_bytes() == b"before"


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg")
def test_a_movie_as_mp4(outputs, run, tmp_path):
    run("movie", outputs / "output_*", "--field", "density", "--pixels", 64, "-o", tmp_path / "m.mp4")
    assert (tmp_path / "m.mp4").read_bytes()[4:8] == b"ftyp"


def test_errors_of_movies(outputs, run, tmp_path):
    words = ("movie", outputs / "output_2", "--field", "density")
    for more, text in [
        (["-o", tmp_path / "m.avi"], "'.avi' is no ending of a movie"),
        (["-o", tmp_path / "m.gif", "--normal", "z", "--kind", "max"], "--normal cuts slices"),
        (["-o", tmp_path / "m.gif", "--fps", "0"], "expected a number above 0"),
    ]:
        done = run(*words, *more, check=False)
        assert done.returncode == 2 and text in done.stderr
    done = run(*words, "-o", tmp_path / "m.mp4", check=False, env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 3 and "needs the program ffmpeg" in done.stderr


RECIPE = """
inputs = ["output_*"]
folder = "out"
[[job]]
verb = "map"
output = "{name}.npy"
options = { field = "density", pixels = 16 }
[[job]]
verb = "stats"
output = "{name}.json"
options = { json = true, field = ["density"] }
"""


@pytest.fixture
def recipe(outputs, tmp_path):
    for seed in (2, 9):
        shutil.copytree(outputs / f"output_{seed}", tmp_path / f"output_{seed}")
    (tmp_path / "recipe.toml").write_text(RECIPE)
    return tmp_path / "recipe.toml"


def states(facts):
    return [job["state"] for job in facts["jobs"]]


def test_a_batch_does_what_is_not_done(recipe, run_json):
    folder = recipe.parent
    assert states(run_json("batch", recipe, "--dry-run")) == ["to do"] * 4
    assert not (folder / "out").exists()
    assert states(run_json("batch", recipe)) == ["made"] * 4
    assert np.load(folder / "out" / "output_2.npy").shape == (16, 16)
    assert json.loads((folder / "out" / "output_9.json").read_text())["fields"]["density"]["nan"] == 0
    assert states(run_json("batch", recipe)) == ["there"] * 4
    (folder / "out" / "output_9.npy").unlink()
    assert states(run_json("batch", recipe)) == ["there", "there", "made", "there"]
    os.utime(next((folder / "output_2").iterdir()))  # the input changes
    assert states(run_json("batch", recipe)) == ["made", "made", "there", "there"]
    recipe.write_text(RECIPE.replace("16", "8"))
    assert states(run_json("batch", recipe)) == ["made", "there", "made", "there"]
    assert np.load(folder / "out" / "output_2.npy").shape == (8, 8)


def test_a_job_that_fails_does_not_stop_others_and_is_tried_again(recipe, run, run_json):
    folder = recipe.parent
    run_json("batch", recipe)
    (folder / "output_2" / "info_00002.txt").rename(folder / "kept")
    done = run("batch", recipe, "--json", check=False)
    facts = json.loads(done.stdout)
    assert done.returncode == 1 and states(facts) == ["failed", "failed", "there", "there"]
    assert "info_00002.txt" in facts["jobs"][0]["error"] or "output_2" in facts["jobs"][0]["error"]
    assert np.load(folder / "out" / "output_2.npy").shape == (16, 16)  # the old one
    (folder / "kept").rename(folder / "output_2" / "info_00002.txt")
    assert states(run_json("batch", recipe))[2:] == ["there", "there"]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("inputs", "input", "no key 'input'"),
        ('["output_*"]', '"output_*"', "expected inputs, a list of paths"),
        ('"map"', '"mapp"', "expected a verb that reads one input, found 'mapp'"),
        ("{name}.npy", "one.npy", "expected an output with {name} in it"),
        ("{name}.json", "{name}.npy", "two jobs have the same output"),
        ("pixels = 16", "force = true", "output and force are no options here"),
        ('folder = "out"', "folder = ", "this is no TOML"),
    ],
)
def test_recipes_that_are_none(recipe, run, before, after, text):
    recipe.write_text(RECIPE.replace(before, after))
    done = run("batch", recipe, check=False)
    assert done.returncode == 2 and text in done.stderr
    assert "recipe.toml" in done.stderr


def test_a_recipe_may_name_a_launcher(recipe, run, run_json):
    recipe.write_text('launch = "no-such-program"\n' + RECIPE)
    done = run("batch", recipe, check=False)
    assert done.returncode == 3 and "no-such-program" in done.stderr
    recipe.write_text('launch = "mpirun -n 2"\n' + RECIPE)
    assert states(run_json("batch", recipe)) == ["made"] * 4
