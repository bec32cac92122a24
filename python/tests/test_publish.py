"""`octavo publish`: files beside what the view answers, sums, the registration's JSON, a run that was cut off."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess

import numpy as np
import pytest
from conftest import OCTAVO, peak_of, until
from octavo.view import datacite, tiles
from octavo.view.publish import places
from test_killed_convert import preload  # noqa: F401  (a fixture)

import octavo


@pytest.fixture(scope="module")
def store(run, tmp_path_factory):
    """Two steps of a small sample."""
    folder = tmp_path_factory.mktemp("published")
    for number, seed in ((7, 1), (8, 5)):
        run("sample", folder / f"output_0000{number}", "--domains", 4, "--levels", "4-6", "--seed", seed, "-q")
    run("convert", folder / "output_00007", folder / "output_00008", folder / "run.octavo", "-q")
    return folder / "run.octavo"


WORDS = [
    "--field",
    "density,2*pressure",
    "--kind",
    "slice,max",
    "--at",
    "0.25,0.5",
    "--axis",
    "x,z",
    "--zooms",
    "2",
    "--volume",
    "2",
]


def publish(store, out, *more, words=WORDS, **options):
    command = [OCTAVO, "publish", store, "-o", out, *words, *more]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def site(store, tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    done = publish(store, out, "-j", 2, "--title", "A box")
    assert done.returncode == 0, done.stderr
    return out


def files_of(folder):
    """Bytes by relative name, without what tells when and of which files the site was made."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".octavo-publish.json"
    }


def look_of(site, **words):
    facts = json.loads((site / "site.json").read_text())
    return next(look for look in facts["looks"] if all(look.get(name) == value for name, value in words.items()))


# ------------------------------------------------------------------ what the files hold


@pytest.mark.parametrize("words", [
    {"field": "density", "kind": "slice", "axis": "z", "at": 0.25}, {"field": "2*pressure", "kind": "max", "axis": "x"},
])  # fmt: skip
def test_tiles_are_parts_of_the_picture(site, store, words):
    folder = site / "step" / "1" / look_of(site, **words)["folder"]
    ds = octavo.open(store, step=8)
    expected = (
        ds.slice(words["field"], normal="z", at=(0.5, 0.5, 0.25), pixels=512)
        if words["kind"] == "slice"
        else ds.map(words["field"], axis="x", kind="max", pixels=512)
    )

    def tile(column, row):
        return tiles.unpacked(gzip.decompress((folder / "1" / str(column) / f"{row}.tile").read_bytes()))[1]

    found = np.block([[tile(column, row) for column in (0, 1)] for row in (0, 1)])
    np.testing.assert_allclose(found, expected.values, rtol=3e-7)


def test_bricks_and_statistics_are_those_of_the_data(site, store):
    ds = octavo.open(store, step=7)
    folder = site / "step" / "0" / look_of(site, field="density", bricks=2)["folder"]
    _, values = tiles.unpacked(gzip.decompress((folder / "1" / "1" / "0" / "1.brick").read_bytes()))
    expected = ds.cube("density")["density"][32:, :32, 32:]
    np.testing.assert_allclose(values.reshape(expected.shape), expected, rtol=1e-7)
    stats = json.loads((site / "step" / "0" / "stats" / "0.json").read_text())
    assert stats["field"]["integral"] == ds.stats(["density"])["fields"]["density"]["integral"]


def test_all_that_was_planned_is_there(run_json, store, site):
    planned = run_json("publish", store, "-o", site, *WORDS, "--dry-run")
    found = [path for path in site.rglob("*") if path.suffix in (".tile", ".brick")]
    # For each of 2 steps: 2 fields as (2 planes + a maximum) along 2 axes, 1 + 4 tiles each; 2 volumes of 1 + 8 bricks.
    assert len(found) == planned["files"] == 2 * (2 * 3 * 2 * 5 + 2 * 9)
    assert sum(len(gzip.decompress(path.read_bytes())) for path in found) < planned["bytes"] + 1000 * len(found)


def test_statistics_are_of_the_condition_and_planes_have_folders_of_their_own(store, tmp_path):
    words = ["--field", "density", "--where", "density > 1", "--at", "0.1234567,0.12345674", "--zooms", "1"]
    assert publish(store, tmp_path / "site", words=words).returncode == 0
    stats = json.loads((tmp_path / "site" / "step" / "0" / "stats" / "0.json").read_text())
    assert stats["leaves"] == octavo.open(store, step=7).where("density > 1").stats(["density"])["leaves"]
    assert len(list((tmp_path / "site" / "step" / "0").rglob("*.tile"))) == 2


def test_a_site_of_a_defined_field(store, tmp_path):
    """The site knows which definitions it was made with: others make another one."""
    words = ["--field", "temperature", "--zooms", "1"]
    done = publish(store, tmp_path / "site", "--define", "mu=0.6", words=words)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "site/step/0/stats/0.json").read_text())["field"]
    ds = octavo.open(store, step=7).derive("mu", "0.6")
    assert told["max"] == ds.stats("temperature")["fields"]["temperature"]["max"]
    assert publish(store, tmp_path / "site", "--define", "mu=0.6", words=words).returncode == 0
    assert publish(store, tmp_path / "site", "--define", "mu=1.2", words=words).returncode == 2
    assert publish(store, tmp_path / "none", words=words).returncode == 2


def test_places_cover_a_long_domain_once():
    assert list(places((0, 0), (4, 1), 1)) == [(0, 0), (1, 0)]
    assert len(list(places((0, 0, 0), (4, 1, 2.1), 2))) == 4 * 1 * 3


def test_the_sums_are_those_of_sha256sum(site, tmp_path):
    done = subprocess.run(["sha256sum", "--quiet", "-c", "checksums.sha256"], cwd=site, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    listed = {line.split("  ", 1)[1] for line in (site / "checksums.sha256").read_text().splitlines()}
    assert listed == set(files_of(site)) - {"checksums.sha256"}
    copy = tmp_path / "copy"
    shutil.copytree(site, copy)
    victim = next(copy.rglob("*.tile"))
    victim.write_bytes(victim.read_bytes()[:-1])
    assert subprocess.run(["sha256sum", "--status", "-c", "checksums.sha256"], cwd=copy).returncode == 1


def test_no_file_names_a_place_of_this_machine(site, store):
    secret = str(store.parent).encode()
    for name, data in files_of(site).items():
        assert secret not in data, name
        if name.endswith((".tile", ".brick")):
            assert secret not in gzip.decompress(data), name


# ------------------------------------------------------------------ the registration


def test_the_registration_is_of_the_schema(site, store, tmp_path):
    given = {
        "creators": [{"name": "Doe, Jane", "nameType": "Personal"}], "publisher": {"name": "An archive"}, "publicationYear": "2026",
        "rightsList": [{"rights": "CC BY 4.0", "rightsIdentifier": "CC-BY-4.0"}], "titles": [{"title": "A box"}],
    }  # fmt: skip
    (tmp_path / "given.json").write_text(json.dumps(given))
    done = publish(
        store, tmp_path / "site", "--metadata", tmp_path / "given.json", words=["--field", "density", "--zooms", "1"]
    )
    assert done.returncode == 0 and "lacks" not in done.stderr, done.stderr
    made = [json.loads((folder / "datacite.json").read_text()) for folder in (site, tmp_path / "site")]
    assert made[1]["creators"] == given["creators"] and made[1]["rightsList"] == given["rightsList"]
    assert made[0]["titles"] == [{"title": "A box"}]
    assert f"{len(files_of(site))} files" in made[0]["sizes"]
    schema = pytest.importorskip("datacite.schema45")
    for one in made:
        schema.validator.validate(one)


@pytest.mark.parametrize(("text", "says"), [
    ("{", "no JSON"), ("[]", "an object"), ('{"creator": []}', "'creator' is no word"), ('{"creators": ["Jane"]}', "creators"),
])  # fmt: skip
def test_wrong_metadata_is_told(store, tmp_path, text, says):
    (tmp_path / "given.json").write_text(text)
    done = publish(store, tmp_path / "site", "--metadata", tmp_path / "given.json")
    assert done.returncode == 2 and says in done.stderr and "given.json" in done.stderr
    assert not (tmp_path / "site").exists()


def test_what_nobody_gave_is_named():
    made, missing = datacite.record(None, {}, "")
    assert missing == ["creators", "publisher", "titles"]
    assert made["creators"] == [{"name": "(:tba)"}] and datacite.about(made) == [["Year", made["publicationYear"]]]


# ------------------------------------------------------------------ the run


def test_the_same_bits_for_any_number_of_threads(store, site, tmp_path):
    assert publish(store, tmp_path / "site", "-j", 1, "--title", "A box").returncode == 0
    assert files_of(tmp_path / "site") == files_of(site)


def test_a_run_that_was_killed_goes_on(store, site, tmp_path, preload):  # noqa: F811
    out = tmp_path / "site"
    killed = {**os.environ, "LD_PRELOAD": str(preload), "OCTAVO_AT_CALL": "120 9 .tile"}  # three calls or so a tile
    assert publish(store, out, "--title", "A box", "-j", 1, "-q", env=killed).returncode == -signal.SIGKILL
    there = {path: path.stat().st_mtime_ns for path in out.rglob("*.tile")}
    assert 20 <= len(there) < 120 and not (out / "checksums.sha256").exists()
    done = publish(store, out, "--title", "A box", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["made"] < 2 * 78 + 10 - len(there)
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert files_of(out) == files_of(site)


def test_an_interrupt_ends_it_with_its_code(store, tmp_path):
    command = [str(word) for word in (OCTAVO, "publish", store, "-o", tmp_path / "site", *WORDS, "--zooms", "5", "-q")]
    # A shell that starts the tests in the background lets them, and what they start, ignore interrupts.
    heeds = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)}
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **heeds)
    until(lambda: list(tmp_path.rglob("*.tile")))
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=600)
    assert running.returncode == 130 and "Traceback" not in errors


def test_another_plan_does_not_mix_with_a_site(store, site, tmp_path):
    out = tmp_path / "site"
    shutil.copytree(site, out)
    few = ["--field", "density", "--zooms", "1"]
    done = publish(store, out, words=few)
    assert done.returncode == 2 and "other pictures" in done.stderr
    assert files_of(out) == files_of(site)
    (out / "notes.txt").write_text("of the user")
    done = publish(store, out, "-f", words=few)
    assert done.returncode == 0, done.stderr
    assert len(list(out.rglob("*.tile"))) == 2 and not list(out.rglob("*.brick"))
    assert (out / "notes.txt").read_text() == "of the user"


def test_data_that_changed_does_not_mix(run, tmp_path):
    path, out = tmp_path / "output_00007", tmp_path / "site"
    few = ["--field", "density", "--zooms", "1"]
    run("sample", path, "--domains", 2, "--levels", "4-5", "-q")
    assert publish(path, out, words=few).returncode == 0
    assert publish(path, out, words=few).returncode == 0
    run("sample", path, "--domains", 2, "--levels", "4-5", "--seed", 9, "-f", "-q")
    assert publish(path, out, words=few).returncode == 2


@pytest.mark.parametrize(("words", "code", "says"), [
    (["--field", "densty"], 2, "densty"), (["--field", "density", "--kind", "sum"], 2, "sum"),
    (["--field", "density", "--axis", "w"], 2, "'w'"), (["--field", "density", "--at", "1.5"], 2, "fractions"),
    (["--field", "density", "--unit", "pressure=Pa"], 2, "pressure"), (["--field", "density", "--zooms", "0"], 2, "positive"),
])  # fmt: skip
def test_wrong_words_are_told(store, tmp_path, words, code, says):
    done = publish(store, tmp_path / "site", words=words)
    assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr


def test_foreign_folders_and_those_of_the_data_are_refused(run, store, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    for more in ([], ["-f"]):
        done = publish(store, tmp_path / "mine", *more)
        assert done.returncode == 2 and "not empty" in done.stderr
    assert os.listdir(tmp_path / "mine") == ["thesis.tex"]
    before = sorted(store.rglob("*"))
    done = publish(store, store / "site")
    assert done.returncode == 2 and "among the data" in done.stderr
    assert sorted(store.rglob("*")) == before


def test_damaged_data_is_not_published(run, tmp_path):
    path = tmp_path / "output_00001"
    run("sample", path, "--levels", "3-5", "--domains", 4, "-q")
    victim = path / "hydro_00001.out00003"
    victim.write_bytes(victim.read_bytes()[:100])
    done = publish(path, tmp_path / "site", words=["--field", "density"])
    assert done.returncode == 3 and "hydro_00001.out00003" in done.stderr
    assert not (tmp_path / "site" / "checksums.sha256").exists()


@pytest.mark.long
def test_memory_is_bounded_and_nothing_is_written_beside_the_data(run, tmp_path):
    """Of a sample of 255 MB, two threads: the interpreter, parts and tiles."""
    path = tmp_path / "data" / "output_00001"
    path.parent.mkdir()
    run("sample", path, "--domains", 16, "--levels", "7-8", "-q")
    before = {one: one.stat().st_mtime_ns for one in path.parent.rglob("*")}
    words = ["publish", path, "-o", tmp_path / "site", "--field", "density", "--volume", "-j", 2, "-q"]
    code, text, used = peak_of(words)
    assert code == 0, text
    assert sum(one.stat().st_size for one in before) > 200e6
    assert used < 120 << 20
    assert {one: one.stat().st_mtime_ns for one in path.parent.rglob("*")} == before


def test_triangles_over_time(data, tmp_path):
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    done = publish(path, tmp_path / "site", words=["--field", "WATER DEPTH", "--zooms", "2"])
    assert done.returncode == 0, done.stderr
    look = look_of(tmp_path / "site", field="WATER DEPTH")
    body = (tmp_path / "site" / "step" / "4" / look["folder"] / "0" / "0" / "0.tile").read_bytes()
    expected = octavo.open(path, step=len(octavo.steps(path)) - 1).map("WATER DEPTH", pixels=256).values
    np.testing.assert_allclose(tiles.unpacked(gzip.decompress(body))[1], expected, rtol=1e-6)
    done = publish(path, tmp_path / "other", words=["--field", "WATER DEPTH", "--volume"])
    assert done.returncode == 4 and "3-D" in done.stderr
