"""Damage is named, at its place, and never passed over: bytes flipped and cut in stores and native outputs."""

from __future__ import annotations

import json
import random
import shutil

import pytest


@pytest.fixture(scope="module")
def small(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    run("sample", folder / "output_00001", "--levels", "3-4", "--domains", 3, "--particles", 100, "-q")
    run("convert", folder / "output_00001", folder / "run.octavo", "--per-file", 2, "-q")
    return folder


def flip(path, position):
    data = bytearray(path.read_bytes())
    data[position] ^= 1 << (position % 8)
    path.write_bytes(data)


def test_every_flip_in_a_store_is_found(run, small, tmp_path):
    files = sorted(p for p in (small / "run.octavo").rglob("*") if p.is_file())
    rng = random.Random(3)
    for turn in range(60):
        copy = tmp_path / f"{turn}.octavo"
        shutil.copytree(small / "run.octavo", copy)
        victim = rng.choice(files).relative_to(small / "run.octavo")
        position = rng.randrange((copy / victim).stat().st_size)
        flip(copy / victim, position)
        done = run("verify", copy, "--json", check=False)
        assert done.returncode in (1, 3), f"bit flip at byte {position} of {victim} was not found"
        if done.returncode == 1:
            assert json.loads(done.stdout)["findings"]


@pytest.mark.parametrize("kind", ["amr", "hydro", "part"])
def test_a_cut_file_is_named(run, small, tmp_path, kind):
    source = small / "output_00001"
    rng = random.Random(4)
    size = (source / f"{kind}_00001.out00002").stat().st_size
    for cut in [0, 1, 3, 7, size - 1, size - 5] + [rng.randrange(size) for _ in range(6)]:
        copy = tmp_path / "output_00001"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy)
        victim = copy / f"{kind}_00001.out00002"
        victim.write_bytes(victim.read_bytes()[:cut])
        done = run("stats", copy, check=False)
        assert done.returncode == 3, (cut, done.stdout)
        assert victim.name in done.stderr
        assert "Traceback" not in done.stderr
        assert run("verify", copy, "-q", check=False).returncode in (1, 3)


@pytest.mark.parametrize(
    "name", ["amr_00001.out00003", "hydro_00001.out00001", "part_00001.out00002", "info_00001.txt"]
)
def test_a_missing_file_is_named(run, small, tmp_path, name):
    copy = tmp_path / "output_00001"
    shutil.copytree(small / "output_00001", copy)
    (copy / name).unlink()
    done = run("stats", copy, check=False)
    assert done.returncode == 3
    assert name.split(".out")[0].split("_")[0] in done.stderr


def test_mixed_outputs_are_found(run, small, tmp_path):
    run("sample", tmp_path / "output_00001", "--levels", "3-5", "--domains", 3, "--seed", 9, "-q")
    shutil.copy(small / "output_00001" / "amr_00001.out00002", tmp_path / "output_00001")
    assert run("stats", tmp_path / "output_00001", check=False).returncode == 3


def test_a_damaged_stream_hurts_only_who_reads_it(run, run_json, small, tmp_path):
    copy = tmp_path / "run.octavo"
    shutil.copytree(small / "run.octavo", copy)
    streams = run_json("ls", copy, "--streams")["steps"][0]["streams"]
    victim = next(s for s in streams if s["field"] == "pressure" and s["stored_bytes"] > 40)
    flip(copy / "analysis" / victim["file"].rsplit("/", 1)[-1], victim["offset"] + 30)
    assert run("stats", copy, "--field", "density").returncode == 0
    done = run("stats", copy, "--field", "pressure", check=False)
    assert done.returncode == 3
    assert "pressure" in done.stderr and "checksum" in done.stderr
    findings = json.loads(run("verify", copy, "--json", check=False).stdout)["findings"]
    assert any("pressure" in finding["where"] for finding in findings)


@pytest.fixture(scope="module")
def two_steps(run, small, tmp_path_factory):
    """Steps 1 and 2, of two files each."""
    folder = tmp_path_factory.mktemp("two")
    shutil.copytree(small / "run.octavo", folder / "run.octavo")
    run("sample", folder / "output_00002", "--levels", "3-4", "--domains", 3, "--seed", 2, "-q")
    run("convert", folder / "output_00002", folder / "run.octavo", "--per-file", 2, "--append", "-q")
    return folder / "run.octavo"


def test_ls_names_a_step_with_a_damaged_table_and_lists_the_others(run, run_json, two_steps, tmp_path):
    copy = tmp_path / "run.octavo"
    shutil.copytree(two_steps, copy)
    file = copy / "analysis" / "data.000"
    assert [step["step"] for step in run_json("ls", copy)["steps"]] == [1, 2]
    flip(file, file.read_bytes().index(b"fheader"))  # the first key of the older step's table
    done = run("ls", copy, "--json", check=False)
    listed = json.loads(done.stdout)
    assert done.returncode == 1
    assert [step["step"] for step in listed["steps"]] == [2]
    assert [step["step"] for step in listed["damaged"]] == [1]
    assert "analysis step 1" in done.stderr and "table" in done.stderr
    shown = run("ls", copy, check=False)
    assert shown.returncode == 1 and "analysis step 2" in shown.stdout
    flip(file, file.read_bytes().rindex(b"fheader"))
    assert run("ls", copy, check=False).returncode == 3  # nothing is left to list


def test_verify_reads_on_behind_a_damaged_head(run, two_steps, tmp_path):
    copy = tmp_path / "run.octavo"
    shutil.copytree(two_steps, copy)
    flip(copy / "analysis" / "data.000", 20)
    done = run("verify", copy, "--json", check=False)
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["steps"] == 2
    assert ["head of the subfile" in finding["what"] for finding in report["findings"]] == [True]
    assert "density" in run("stats", copy).stdout


def test_verify_tells_notes(run, two_steps, tmp_path):
    copy = tmp_path / "run.octavo"
    shutil.copytree(two_steps, copy)
    (copy / "analysis" / "data.099").write_bytes(b"")
    done = run("verify", copy)
    assert "good" in done.stdout and "note: " in done.stderr and "data.099" in done.stderr
    assert len(json.loads(run("verify", copy, "--quick", "--json").stdout)["notes"]) == 1
