"""The simulations of apps/ from the command line: meshes and formats that they change into, bad input, a signal."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess

import pytest
from conftest import ROOT

import octavo

SEDOV = ROOT / "build" / "release" / "apps" / "octavo-sedov"
BLOCKS = ROOT / "build" / "release" / "apps" / "octavo_apps_blocks_test"
pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not SEDOV.exists(), reason="the simulations are not built"),
    pytest.mark.skipif(not BLOCKS.exists(), reason="built without p4est"),
]
SMALL = ["--roots", "4", "--block", "8", "--max-level", "2", "--tracers", "8", "--quiet"]


def sedov(ranks, *words, check=True):
    command = ["mpirun", "-n", str(ranks), str(SEDOV), *SMALL, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert not check or done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def blast(tmp_path_factory):
    """A store of blocks with checkpoint 30, and its report."""
    folder = tmp_path_factory.mktemp("blast")
    sedov(
        2, "--steps", 30, "--store", folder / "run.octavo", "--checkpoint-every", 10, "--analysis-every", 10,
        "--report", folder / "report.json",
    )  # fmt: skip
    return folder / "run.octavo", json.loads((folder / "report.json").read_text())


def test_a_run_keeps_mass_and_energy_and_finds_the_shock(blast):
    _, report = blast
    assert abs(report["mass_change"]) < 1e-13 and abs(report["energy_change"]) < 1e-12
    assert report["tracers"] == 64 and report["levels"] == 3
    assert abs(report["shock_radius"] / report["exact_radius"] - 1) < 0.1


@pytest.mark.parametrize(("start", "other"), [("blocks", "patches"), ("patches", "blocks")])
def test_a_run_goes_on_on_the_other_mesh_from_the_same_values(blast, tmp_path, start, other):
    store = blast[0]
    if start == "patches":
        store = tmp_path / "start.octavo"
        sedov(2, "--mesh", "patches", "--steps", 30, "--store", store, "--checkpoint-every", 30)
    # No step is made: what was read is written again.
    sedov(3, "--mesh", other, "--restart", store, "--steps", 30, "--store", tmp_path / "same.octavo")
    a, b = (octavo.open(path, flow="checkpoint", step=30) for path in (store, tmp_path / "same.octavo"))
    report = octavo.diff(a, b, same_mesh=True)
    assert report["equal"], report["reasons"]


def test_a_flash_output_has_what_flash_goes_on_from(tmp_path):
    h5py, np = pytest.importorskip("h5py"), pytest.importorskip("numpy")
    sedov(2, "--steps", 60, "--native", "flash", "--native-every", 60, "--native-prefix", tmp_path / "r")
    with h5py.File(tmp_path / "r_hdf5_chk_0060") as file:
        gas = {
            name: file[name][()] for name in ("dens", "velx", "vely", "velz", "pres", "ener", "eint", "gamc", "game")
        }
        names = [name[0].decode().strip() for name in file["particle names"]]
        rows = {name: file["tracer particles"][:, column] for column, name in enumerate(names)}
        scalars = {row["name"].decode().strip(): row["value"] for row in file["real scalars"]}
        limits = {row["name"].decode().strip(): row["value"] for row in file["integer runtime parameters"]}
    # Hydro starts with these: FLASH calls no equation of state before.
    assert (gas["gamc"] == 1.4).all() and (gas["game"] == 1.4).all() and (gas["velz"] == 0).all()
    assert np.allclose(gas["pres"], 0.4 * gas["dens"] * gas["eint"], rtol=1e-12)
    assert {"blk", "posx", "posy", "posz", "proc", "tag", "velx", "vely", "velz"} <= set(names)
    assert sorted(rows["tag"]) == list(range(1, 65)) and limits["pt_maxperproc"] > 0
    speed = np.hypot(rows["velx"], rows["vely"])
    assert 0 < speed.max() < 1.5 * np.hypot(gas["velx"], gas["vely"]).max() and (rows["velz"] == 0).all()
    assert 0 < scalars["dt"] < scalars["time"] and scalars["dtold"] == scalars["dt"]


@pytest.mark.parametrize(
    ("native", "name", "mesh"),
    [
        ("flash", "r_hdf5_chk_0030", "patches"),
        ("amrex", "r_plt00030", "blocks"),
        ("amrex-checkpoint", "r_chk00030", "patches"),
    ],
)
def test_native_outputs_hold_the_same_values_and_a_run_goes_on_from_them(blast, tmp_path, native, name, mesh):
    sedov(
        2, "--restart", blast[0], "--restart-step", 20, "--steps", 30, "--native", native, "--native-every", 30,
        "--native-prefix", tmp_path / "r",
    )  # fmt: skip
    ours = octavo.open(blast[0], flow="checkpoint", step=30)
    names = {"density": "dens"} if native == "flash" else {}
    row = octavo.diff(ours, octavo.open(tmp_path / name), names=names, ignore=["particles"])["variables"]["density"]
    assert row["differing"] == 0
    on = tmp_path / "on.octavo"
    words = ["--steps", 30, "--store", on, "--report", tmp_path / "report"]
    sedov(3, "--mesh", mesh, "--restart", tmp_path / name, *words)
    report = octavo.diff(ours, octavo.open(on, flow="checkpoint", step=30), relative=1e-12, absolute=1e-12)
    assert report["variables"]["density"]["differing"] == 0 and report["equal"], report["reasons"]
    assert json.loads((tmp_path / "report").read_text())["tracers"] == 64
    done = sedov(1, "--dim", 3, "--restart", tmp_path / name, "--steps", 31, check=False)
    assert done.returncode == 2 and "2 dimensions" in done.stderr


@pytest.mark.parametrize("mesh", ["blocks", "patches"])
def test_a_run_goes_on_from_a_checkpoint_in_single_precision(tmp_path, mesh):
    store = tmp_path / "run.octavo"
    words = ["--mesh", mesh, "--store", store, "--option", "checkpoint.single_precision=true"]
    sedov(2, *words, "--steps", 4)
    sedov(2, *words, "--steps", 6, "--restart", store)
    first, last = (octavo.open(store, flow="checkpoint", step=step) for step in (4, 6))
    assert {str(step.part(0).fields["density"].dtype) for step in (first, last)} == {"float32"}
    assert last.sum("density", weight="volume") == pytest.approx(first.sum("density", weight="volume"), rel=1e-6)


def test_a_signal_ends_a_run_with_a_last_checkpoint(tmp_path):
    store = tmp_path / "run.octavo"
    words = ["mpirun", "-n", "2", SEDOV, *SMALL[:-1], "--steps", 10**7, "--store", store]  # not quiet
    words += ["--checkpoint-every", 10**6, "--analysis-every", 5]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    job = subprocess.Popen([str(w) for w in words], **pipes)
    assert any("time" in line for line in job.stderr)  # it is under way; libraries may have said something before
    job.send_signal(signal.SIGUSR1)  # mpirun passes it on
    text = job.communicate(timeout=600)[0]
    assert job.returncode == 0 and "stopped by a signal" in text
    assert [s["flow"] for s in octavo.steps(store)].count("checkpoint") == 2  # that of step 0 and the last


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--io", "off", "--store", "x"], "contradict"),
        (["--restart-step", "3"], "wants --restart"),
        (["--native", "flash"], "wants --native-every"),
        (["--mesh", "triangles"], "it may be blocks, patches"),
        (["--frobnicate"], "no option"),
        (["--option", "lend=true"], "lend"),
        (["--restart", "nowhere.octavo"], "no checkpoint to go on from"),
        (["--max-level", "40"], "finest level"),
        (["--min-level", "3"], "--min-level"),
    ],
)
def test_what_cannot_be_is_said_before_anything_runs(words, message):
    done = sedov(1, *words, check=False)
    assert done.returncode == 2 and message in done.stderr


def test_another_problem_or_block_size_is_refused(blast):
    done = sedov(1, "--restart", blast[0], "--block", 16, "--steps", 31, check=False)
    assert done.returncode == 2 and "--block 8" in done.stderr
    words = [str(SEDOV.with_name("octavo-sod")), "--dim", "2", "--restart", str(blast[0])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2 and "of problem sedov" in done.stderr
