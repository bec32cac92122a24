"""Damaged domains are left out when asked to: named, and results are those of a step that never had them."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from conftest import mostly_long
from octavo.cli.console import as_json

import octavo

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine")
ALONE_AND_SHARED = [0, pytest.param(3, marks=needs_mpi)]


@pytest.fixture(scope="module")
def steps(run, tmp_path_factory):
    """A sample of 8 domains, whole; and with domain 3's hydro file cut off."""
    folder = tmp_path_factory.mktemp("damaged")
    whole, path = folder / "whole" / "output_00001", folder / "output_00001"
    whole.parent.mkdir()
    run("sample", whole, "--levels", "3-5", "--domains", 8, "--particles", 500, "-q")
    shutil.copytree(whole, path)
    victim = path / "hydro_00001.out00003"
    victim.write_bytes(victim.read_bytes()[:100])
    return whole, path


@pytest.fixture(scope="module")
def stores(run, steps, tmp_path_factory):
    """The same as stores: in the second, a byte of a stream of domain 6 is another."""
    folder = tmp_path_factory.mktemp("stores")
    whole, path = folder / "whole.octavo", folder / "run.octavo"
    run("convert", steps[0], whole, "-q")
    shutil.copytree(whole, path)
    streams = json.loads(run("ls", path, "--streams", "--json").stdout)["steps"][0]["streams"]
    victim = next(s for s in streams if s["field"] == "density" and s["part"] == 5 and s["stored_bytes"] > 40)
    name = next(path.rglob(victim["file"].rsplit("/", 1)[-1]))
    data = bytearray(name.read_bytes())
    data[victim["offset"] + 30] ^= 1
    name.write_bytes(data)
    return whole, path


def sound(path, *lacking):
    """The step that never had those domains, counted from 1."""
    data = octavo.open(path)._data
    parts = [part for part in range(data.num_parts) if part + 1 not in lacking]
    return octavo.dataset.Dataset(octavo._core.only_parts(data, parts))


VERBS = {
    "stats": ["--field", "density,pressure", "--no-particles"],
    "hist": ["--field", "density", "--bins", 9],
    "phase": ["--x", "density", "--y", "pressure", "--bins", 7],
    "profile": ["--field", "density", "--bins", 9, "--percentiles", "10,50"],
    "line": ["--field", "density", "--from", "0,0.3,0.3", "--to", "1,0.6,0.5"],
    "clumps": ["--above", 1.1],
}


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
@pytest.mark.parametrize("verb", mostly_long(*VERBS, short=["stats", "profile", "line"]))
def test_tables_are_those_of_a_step_without_the_domain(run, steps, verb, ranks):
    words = [verb, steps[1], *VERBS[verb]]
    refused = run(*words, check=False, ranks=ranks)
    assert refused.returncode == 3 and "hydro_00001.out00003" in refused.stderr
    done = run(*words, "--skip-damaged", "--json", check=False, ranks=ranks)
    assert done.returncode == 6, done.stderr
    assert "incomplete: 1 of 8 domains left out" in done.stderr and "domain 3 is damaged" in done.stderr
    found = json.loads(done.stdout)
    lacking = found.pop("incomplete")
    assert (lacking["domains"], lacking["of"]) == ([3], 8) and "hydro_00001.out00003" in lacking["damage"][0]
    ds = sound(steps[0], 3)
    right = {
        "stats": lambda: ds.stats(["density", "pressure"], particles=False),
        "hist": lambda: ds.hist("density", bins=9).table(),
        "phase": lambda: ds.phase("density", "pressure", bins=7).table(),
        "profile": lambda: ds.profile("density", bins=9, percentiles=[10, 50]).table(),
        "line": lambda: (line := ds.line("density", (0, 0.3, 0.3), (1, 0.6, 0.5))).facts() | line.rows(),
        "clumps": lambda: ds.clumps(1.1).table(),
    }[verb]()
    right = json.loads(json.dumps(as_json(right)))
    for name in set(right) - {"parts_read", "bytes_read"}:
        assert found[name] == right[name], name


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("map", ["--field", "density"]),
        ("map", ["--field", "density", "--camera", "1,1,1"]),
        ("slice", ["--field", "density"]),
    ],
)
def test_pictures_are_those_of_a_step_without_the_domain(run, steps, tmp_path, verb, words, ranks):
    out = tmp_path / "out.npy"
    words = [verb, steps[1], *words, "--pixels", 64]
    ds = sound(steps[0], 3)
    if verb == "slice":  # through a cell of domain 3
        cells = octavo._core.cells(octavo.open(steps[0])._data, 2, fields=[], **ds._chosen())
        at = [float(cells[axis][0]) for axis in "xyz"]
        words += ["--at", ",".join(map(repr, at))]
        right = ds.slice("density", at=at, pixels=64)
    else:
        right = ds.map("density", camera=(1, 1, 1) if "--camera" in words else None, pixels=64)
    done = run(*words, "--skip-damaged", "--json", "-o", out, check=False, ranks=ranks)
    assert done.returncode == 6, done.stderr
    assert json.loads(done.stdout)["incomplete"]["domains"] == [3]
    np.testing.assert_array_equal(np.load(out), right.values)
    if ranks:
        return
    from PIL import Image

    run(*words, "--skip-damaged", "-o", tmp_path / "out.png", check=False)
    facts = json.loads(Image.open(tmp_path / "out.png").text["octavo"])
    assert facts["incomplete"]["domains"] == [3]


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
def test_exports_and_contours_lack_the_domain(run, steps, tmp_path, ranks):
    done = run("export", steps[1], tmp_path / "a.vtkhdf", "--skip-damaged", "--json", check=False, ranks=ranks)
    assert done.returncode == 6, done.stderr
    report = json.loads(done.stdout)
    ds = sound(steps[0], 3)
    assert report["incomplete"]["domains"] == [3]
    assert report["leaves"] == len(ds.arrays("density")["density"])
    done = run("contour", steps[1], "--field", "density", "--at", 1.1, "-o", tmp_path / "a.ply", "--skip-damaged",
               "--json", check=False, ranks=ranks)  # fmt: skip
    assert done.returncode == 6, done.stderr
    assert json.loads(done.stdout)["triangles"] == len(ds.contour("density", 1.1).triangles)


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
def test_whole_results_say_that_they_are(run, steps, ranks):
    """Of a whole step, and of a selection that does not need the damaged domain."""
    for words in (["stats", steps[0]], ["stats", steps[1], "--roi", "domains:1-2,4-8"]):
        done = run(*words, "--skip-damaged", "--json", ranks=ranks)
        assert json.loads(done.stdout)["incomplete"] is None
        assert "incomplete" not in done.stderr


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
def test_a_stream_of_a_store_hurts_only_who_reads_it(run, run_json, stores, ranks):
    done = run("stats", stores[1], "--skip-damaged", "--field", "pressure", "--json", check=False, ranks=ranks)
    assert done.returncode == 6  # the volume-weighted mean by mass reads the density
    found = json.loads(done.stdout)
    assert found["incomplete"]["domains"] == [6]
    right = sound(stores[0], 6).stats(["pressure"])
    assert found["fields"]["pressure"]["sum"] == right["fields"]["pressure"]["sum"]
    done = run("hist", stores[1], "--skip-damaged", "--field", "pressure", "--json", ranks=ranks)
    assert json.loads(done.stdout)["incomplete"] is None


def test_where_nothing_is_left_it_is_damage(run, steps):
    done = run("hist", steps[1], "--field", "density", "--roi", "domains:3", "--skip-damaged", check=False)
    assert done.returncode == 3 and "domain 3 is damaged" in done.stderr


def test_an_error_of_use_stays_one(run, steps):
    assert run("stats", steps[1], "--field", "nothing", "--skip-damaged", check=False).returncode == 2


class TestPython:
    def test_results_lack_the_domain_and_say_so(self, steps):
        ds, right = octavo.open(steps[1], skip_damaged=True), sound(steps[0], 3)
        assert ds.damaged == {}
        image = ds.map("density", pixels=64)
        np.testing.assert_array_equal(image.values, right.map("density", pixels=64).values)
        assert image.facts["incomplete"]["domains"] == [3] and list(ds.damaged) == [3]
        assert ds.sum("density") == right.sum("density")
        assert ds.stats(["density"])["incomplete"]["of"] == 8
        assert ds.profile("density").facts["incomplete"]["domains"] == [3]
        title = image.plot().axes[0].get_title(loc="left")
        assert "incomplete: 1 of 8 domains left out" in title
        np.testing.assert_array_equal(ds.arrays("density")["density"], right.arrays("density")["density"])
        np.testing.assert_array_equal(ds.cube("density")["density"], right.cube("density")["density"])

    def test_selections_remember_too(self, steps):
        ds = octavo.open(steps[1], skip_damaged=True)
        part = ds.box((0, 0, 0), (1, 1, 1)).where("density > 0")
        assert part.hist("density").facts["incomplete"]["domains"] == [3]
        assert list(ds.damaged) == [3]

    def test_without_it_damage_is_an_error(self, steps):
        with pytest.raises(octavo.Damaged):
            octavo.open(steps[1]).map("density")


@pytest.mark.parametrize("ranks", ALONE_AND_SHARED)
class TestManySteps:
    def test_a_series_says_which_rows_lack_domains(self, run, steps, ranks):
        words = [
            "series",
            steps[0],
            steps[1].parent / "output_0000?",
            "--field",
            "density",
            "--of",
            "max,integral",
            "--json",
        ]
        second = shutil.copytree(steps[1], steps[1].parent / "output_00002", dirs_exist_ok=True)
        for file in second.glob("*_00001*"):
            file.unlink()
        for file in steps[0].glob("*_00001*"):
            text = file.read_bytes()
            name = file.name.replace("_00001", "_00002")
            (second / name).write_bytes(
                text.replace(b"time        =  0.0", b"time        =  0.1") if "info" in name else text
            )
        done = run(*words, check=False, ranks=ranks)
        assert done.returncode == 3 and "hydro_00001.out00003" in done.stderr
        done = run(*words, "--skip-damaged", check=False, ranks=ranks)
        assert done.returncode == 6, done.stderr
        found = json.loads(done.stdout)
        lacking = dict(zip(found["paths"], found["incomplete"], strict=True))
        assert lacking[str(steps[1])]["domains"] == [3] and lacking[str(second)] is None
        assert f"{steps[1]}, step 1: incomplete: 1 of 8 domains left out" in done.stderr
        at = found["paths"].index(str(steps[1]))
        right = sound(steps[0], 3).stats(["density"], particles=False)
        assert found["fields"]["density"]["integral"][at] == right["fields"]["density"]["integral"]
        assert found["leaves"][at] == right["leaves"]

    def test_a_movie_says_which_frames_do(self, run, steps, tmp_path, ranks):
        words = ["movie", steps[1], "--field", "density", "--pixels", 32, "--grid", "-o", tmp_path / "frames"]
        assert run(*words, check=False, ranks=ranks).returncode == 3
        done = run(*words, "--skip-damaged", "--json", "-f", check=False, ranks=ranks)
        assert done.returncode == 6, done.stderr
        found = json.loads(done.stdout)
        assert found["frames"] == 1 and found["incomplete"][0]["domains"] == [3]
        assert "incomplete: 1 of 8 domains left out" in done.stderr


def test_a_batch_keeps_incomplete_outputs_and_says_so(run, steps, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'inputs = ["{steps[0]}", "{steps[1].parent}/output_00001"]\nfolder = "out"\n'
        '[[job]]\nverb = "stats"\noutput = "{name}.json"\noptions = { field = "density", json = true }\n'
    )
    recipe.write_text(recipe.read_text().replace(f'"{steps[0]}", ', ""))
    assert run("batch", recipe, check=False).returncode == 1
    for again in (False, True):
        done = run("batch", recipe, "--skip-damaged", "--json", check=False)
        assert done.returncode == 6, done.stderr
        (job,) = json.loads(done.stdout)["jobs"]
        assert job["state"] == "incomplete" and "domain 3 is damaged" in job["error"]
        found = json.loads((tmp_path / "out" / "output_00001.json").read_text())
        assert found["incomplete"]["domains"] == [3]
        if not again:
            made = (tmp_path / "out" / "output_00001.json").stat().st_mtime_ns
    assert (tmp_path / "out" / "output_00001.json").stat().st_mtime_ns == made  # it was not done again


class TestSeriesInPython:
    def test_tables_say_which_rows_lack_domains(self, steps):
        table = octavo.series(steps[1], skip_damaged=True).table("density")
        assert table.incomplete[0]["domains"] == [3]
        right = sound(steps[0], 3).stats(["density"], particles=False)
        assert table["density"]["integral"][0] == right["fields"]["density"]["integral"]
        with pytest.raises(octavo.Damaged):
            octavo.series(steps[1]).table("density")

    def test_a_table_of_dask_has_no_partition_for_a_damaged_domain(self, steps):
        pytest.importorskip("dask.dataframe")
        ds = octavo.open(steps[1], skip_damaged=True)
        table = ds.to_dask("density")
        assert table.npartitions == 7 and list(ds.damaged) == [3]
        right = sound(steps[0], 3).arrays("density")["density"]
        np.testing.assert_array_equal(table.compute()["density"].to_numpy(), right)
