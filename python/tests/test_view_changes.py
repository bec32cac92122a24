"""Files that change while `octavo view` shows them: damaged and mended, replaced in place, half written, written on."""

from __future__ import annotations

import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import octavo

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from octavo.view import changes, tiles
from test_damage import flip
from test_view import View


def made(run, path, *, levels="3-5", domains=4, seed=1):
    run("sample", path, "--levels", levels, "--domains", domains, "--seed", seed, "-q")
    return path


def tile(view, step=0, **words):
    """(facts, values) of the whole domain."""
    status, body = view.get(f"step/{step}/tile", **{"field": "density", "zoom": 0, "column": 0, "row": 0, **words})
    assert status == 200, body
    return tiles.unpacked(body)


def picture(path, **choice):
    return octavo.open(path, **choice).slice("density", pixels=256).values


def test_a_twentieth_of_the_time_goes_into_looking(monkeypatch):
    """And a change is seen with the next look."""
    now, looks = 0.0, []

    def look(_path):
        nonlocal now
        looks.append(now)
        now += 2  # s that a look takes
        return [(1, 1, len(looks), 1)]

    monkeypatch.setattr(changes, "files_at", look)
    monkeypatch.setattr(changes, "time", SimpleNamespace(monotonic=lambda: now))
    files, states = changes.Files(), []
    while now < 1000:
        states.append(files.state("output"))
        now += 1
    assert 20 <= len(looks) <= 1000 * changes.SHARE / 2 + 1
    assert len(set(states)) == len(looks)


@pytest.fixture
def steps(run, run_json, tmp_path):
    """A store of two steps; domain 2 of the first has a damaged chunk of density."""
    for number in (1, 2):
        made(run, tmp_path / f"output_0000{number}", seed=number)
    store = tmp_path / "run.octavo"
    run("convert", tmp_path / "output_00001", tmp_path / "output_00002", store, "-q")
    streams = run_json("ls", store, "--streams")["steps"][0]["streams"]
    victim = next(s for s in streams if s["field"] == "density" and s["part"] == 1 and s["stored_bytes"] > 100)
    flip(store / "analysis" / victim["file"].rsplit("/", 1)[-1], victim["offset"] + victim["stored_bytes"] // 2)
    return store


def test_damage_of_a_step_is_not_another_step_s(steps):
    with View(steps) as running:
        assert "domain 2 is damaged" in tile(running, 0)[0]["damaged"][0]
        facts, values = tile(running, 1)
        assert facts["damaged"] == []
        np.testing.assert_allclose(values, picture(steps, step=2), rtol=1e-6)
        for step, damaged in ((0, 1), (1, 0)):
            status, body = running.get(f"step/{step}/brick", field="density", zoom=0, i=0, j=0, k=0)
            assert status == 200 and len(tiles.unpacked(body)[0]["damaged"]) == damaged


def test_a_damaged_chunk_that_was_mended_is_shown(steps, run, tmp_path):
    with View(steps) as running:
        assert tile(running, 0)[0]["damaged"]
        whole = tmp_path / "whole.octavo"
        run("convert", tmp_path / "output_00001", tmp_path / "output_00002", whole, "-q")
        (file,) = (steps / "analysis").glob("data.*")
        file.write_bytes((whole / "analysis" / file.name).read_bytes())
        facts, values = tile(running, 0)
        assert facts["damaged"] == []
        np.testing.assert_allclose(values, picture(whole, step=1), rtol=1e-6)


def mend_in_place(victim, whole):
    victim.write_bytes(whole)


def mend_by_a_new_file_with_old_times(victim, whole):
    """As rsync -t does."""
    times = os.stat(victim)
    beside = victim.with_name("beside")
    beside.write_bytes(whole)
    os.utime(beside, ns=(times.st_atime_ns, times.st_mtime_ns))
    os.replace(beside, victim)


@pytest.mark.parametrize("mend", [mend_in_place, mend_by_a_new_file_with_old_times])
def test_a_file_that_was_cut_and_mended_is_shown(run, tmp_path, mend):
    path = made(run, tmp_path / "output_00001")
    victim = path / "hydro_00001.out00003"
    whole = victim.read_bytes()
    victim.write_bytes(whole[:100])
    with View(path) as running:
        facts, values = tile(running)
        assert "domain 3 is damaged" in facts["damaged"][0] and np.isnan(values).any()
        status, body = running.get("step/0/brick", field="density", zoom=0, i=0, j=0, k=0)
        assert status == 200 and tiles.unpacked(body)[0]["damaged"]
        mend(victim, whole)
        facts, values = tile(running)
        assert facts["damaged"] == [] and not np.isnan(values).any()
        np.testing.assert_allclose(values, picture(path), rtol=1e-7)
        status, body = running.get("step/0/brick", field="density", zoom=0, i=0, j=0, k=0)
        assert status == 200 and not tiles.unpacked(body)[0]["damaged"]


@pytest.mark.parametrize("how", ["by a name", "into the same files"])
def test_an_output_replaced_in_place_is_shown_as_it_is_now(run, tmp_path, how):
    """With other levels and domains, so that whoever reads it by the old headers finds nothing."""
    path = made(run, tmp_path / "output_00001", levels="3-4", domains=2)
    other = made(run, tmp_path / "other" / "output_00001", levels="4-6", domains=8, seed=9)
    with View(path) as running:
        facts = running.json("step/0")
        tile(running)
        running.json("step/0/stats", field="density")
        if how == "by a name":
            path.rename(tmp_path / "old")
            other.rename(path)
        else:
            for file in other.iterdir():
                shutil.copyfile(file, path / file.name)
        np.testing.assert_allclose(tile(running)[1], picture(path), rtol=1e-7)
        found, values = tile(running, field="pressure")
        assert found["pixels"] == [256, 256]
        np.testing.assert_allclose(values, octavo.open(path).slice("pressure", pixels=256).values, rtol=1e-7)
        assert len(running.json("step/0")["levels"]) > len(facts["levels"])
        leaves = octavo.open(path).stats(["density"])["leaves"]
        assert running.json("step/0/stats", field="density")["leaves"] == leaves


def test_a_store_replaced_in_place_is_shown_as_it_is_now(run, tmp_path):
    for number in (1, 2):
        made(run, tmp_path / f"output_0000{number}", seed=number)
    run("convert", tmp_path / "output_00001", tmp_path / "run.octavo", "-q")
    with View(tmp_path / "run.octavo") as running:
        before = tile(running)[1]
        (tmp_path / "output_00002").rename(tmp_path / "again")
        shutil.rmtree(tmp_path / "output_00001")
        made(run, tmp_path / "output_00001", seed=7)
        run("convert", tmp_path / "output_00001", tmp_path / "run.octavo", "-q", "-f")
        after = tile(running)[1]
        np.testing.assert_allclose(after, picture(tmp_path / "run.octavo"), rtol=1e-6)
        assert not np.allclose(after, before)


def state_of(view, step=0):
    import urllib.request

    with urllib.request.urlopen(f"{view.url}step/{step}/tile?field=density&zoom=0&column=0&row=0") as answer:
        return answer.headers["octavo-state"]


def test_the_answer_says_which_files_it_is_of(run, tmp_path):
    """And a store that a run writes on is the same: pages would ask for all tiles again at each step."""
    path = made(run, tmp_path / "output_00001")
    made(run, tmp_path / "output_00002", seed=2)
    run("convert", path, tmp_path / "run.octavo", "-q")
    with View(path, tmp_path / "run.octavo") as running:
        states = [state_of(running, step) for step in (0, 1)]
        assert all(states) and states == [state_of(running, step) for step in (0, 1)]
        run("convert", tmp_path / "output_00002", tmp_path / "run.octavo", "--append", "-q")
        os.utime(path / "hydro_00001.out00003")
        assert state_of(running, 0) != states[0] and state_of(running, 1) == states[1]
        table = running.json("steps")["steps"]
        assert [row["state"] for row in table] == [state_of(running, 0), states[1], None]


def test_a_file_of_steps_that_grows_is_the_same_and_another_one_is_not(data, tmp_path):
    source = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    path = tmp_path / "r2d.slf"
    whole = source.read_bytes()
    path.write_bytes(whole)
    with View(path) as running:

        def state():
            import urllib.request

            field = "WATER%20DEPTH"
            with urllib.request.urlopen(f"{running.url}step/1/tile?field={field}&zoom=0&column=0&row=0") as answer:
                return answer.headers["octavo-state"]

        before = state()
        with open(path, "ab") as file:  # a record that is not whole yet
            file.write(b"\0" * 100)
        assert state() == before
        beside = tmp_path / "beside"
        beside.write_bytes(whole)
        os.replace(beside, path)
        assert state() != before
