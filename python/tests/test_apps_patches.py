"""octavo-wave and octavo-bubble from the command line: exact answers, restarts, a finer mesh, bad input, a signal."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess

import pytest
from conftest import ROOT, until

import octavo

APPS = ROOT / "build" / "release" / "apps"
pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not (APPS / "octavo-bubble").exists(), reason="the simulations are not built"),
]
WAVE = ["--dim", "2", "--cells-yz", "16", "--block", "8", "--max-box", "16", "--bins", "3"]
BUBBLE = ["--block", "8", "--roots", "4"]


def run(program, ranks, *words, check=True):
    command = ["mpirun", "-n", str(ranks), str(APPS / program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if not check:
        return done
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_the_wave_is_second_order_after_half_a_period():
    errors = [run("octavo-wave", 2, *WAVE, "--cells", cells, "--io", "off")["error"] for cells in (16, 32)]
    assert errors[1] < 0.004 and errors[0] / errors[1] > 3.5


def test_a_wave_goes_on_from_its_checkpoint_on_other_ranks(tmp_path):
    words = [*WAVE, "--cells", 32, "--store", tmp_path / "wave.octavo", "--checkpoint-every", 7]
    run("octavo-wave", 2, *words, "--steps", 10, "--analysis-every", 5)
    rest = run("octavo-wave", 3, *words, "--restart")
    whole = run("octavo-wave", 1, *WAVE, "--cells", 32, "--io", "off")
    assert rest["error"] == pytest.approx(whole["error"], rel=1e-5) and rest["time"] == whole["time"] == 0.5
    assert len(octavo.open(tmp_path / "wave.octavo", flow="checkpoint", step=20).fields) == 3


def test_bubbles_go_on_with_a_finer_mesh_and_keep_no_divergence(tmp_path):
    store = tmp_path / "bubble.octavo"
    first = run("octavo-bubble", 2, *BUBBLE, "--max-level", 0, "--end", 0.05, "--store", store)
    then = run("octavo-bubble", 3, *BUBBLE, "--max-level", 3, "--end", 0.1, "--store", store, "--restart")
    assert first["levels"] == 1 and then["levels"] == 4
    assert max(first["divergence"], then["divergence"]) < 1e-14
    assert abs(then["volume_change"]) < 0.1


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        ("octavo-wave", ["--bogus"], "--bogus"),
        ("octavo-wave", ["--cells", "33"], "33 cells"),
        ("octavo-wave", ["--io", "never"], "--io never"),
        ("octavo-wave", ["--steps"], "lacks its value"),
        ("octavo-bubble", ["--courant", "0.9"], "--courant 0.9"),
        ("octavo-bubble", ["--restart", "--store", "nowhere.octavo"], "no checkpoint"),
    ],
)
def test_bad_words_are_named_before_anything_runs(program, words, said):
    done = run(program, 2, *words, check=False)
    assert done.returncode == 2 and said in done.stderr and not done.stdout


def test_a_step_of_another_simulation_is_refused(tmp_path):
    store = tmp_path / "wave.octavo"
    run("octavo-wave", 1, *WAVE, "--cells", 16, "--steps", 1, "--store", store)
    done = run("octavo-bubble", 1, "--restart", "--store", store, check=False)
    assert done.returncode == 2 and "level_set" in done.stderr


def test_a_signal_ends_a_run_with_a_last_checkpoint(tmp_path):
    store = tmp_path / "bubble.octavo"
    words = [*BUBBLE, "--end", 1000, "--store", store, "--checkpoint-every", 5, "--io", "sync"]
    with subprocess.Popen([APPS / "octavo-bubble", *map(str, words)], stdout=subprocess.PIPE, text=True) as process:
        until((store / "checkpoint").is_dir)
        process.send_signal(signal.SIGTERM)
        said = json.loads(process.communicate(timeout=600)[0].strip().splitlines()[-1])
    assert process.returncode == 0
    assert octavo.open(store, flow="checkpoint", step=said["step"]).time == pytest.approx(said["time"])
