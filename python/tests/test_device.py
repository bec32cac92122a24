"""Arrays in device memory from Python: what device_cases.py promises, on the stand-in for CUDA's driver."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_engine import ENVIRONMENT, ROOT

STANDIN = ROOT / "build/release/liboctavo_standin_cuda.so"
pytestmark = [
    pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun on this machine"),
    pytest.mark.skipif(not STANDIN.exists(), reason="the stand-in for CUDA's driver is not built"),
]


@pytest.mark.parametrize(
    ("name", "ranks"), [("write", 1), ("write", 3), ("errors", 2), ("no_driver", 2), ("wave", 2), ("sod", 2)]
)
def test_device_arrays(name, ranks, tmp_path):
    pytest.importorskip("mpi4py")
    words = [sys.executable, "-m", "mpi4py", str(Path(__file__).with_name("device_cases.py")), name]
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), *words, str(tmp_path / "run.octavo")],
        capture_output=True, text=True, timeout=600, env={**ENVIRONMENT, "OCTAVO_CUDA_DRIVER": str(STANDIN)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "lines"), [("sine_wave.py", 70), ("sod.py", 90)])
def test_an_example_restarts_on_another_number_of_ranks(name, lines, tmp_path):
    pytest.importorskip("mpi4py")
    example = ROOT / "examples" / name
    assert len(example.read_text().splitlines()) <= lines
    said = []
    for ranks, last in ((2, 20), (3, 40), (1, 40)):  # the last run finds the end, and computes nothing
        words = [sys.executable, "-m", "mpi4py", str(example), str(tmp_path / "run.octavo"), str(last)]
        done = subprocess.run(
            ["mpirun", "-n", str(ranks), *words], capture_output=True, text=True, timeout=600, env=ENVIRONMENT
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout.strip())
    assert said[1] == said[2] != "", said


@pytest.mark.parametrize(("driver", "works", "says"), [
    (str(STANDIN), True, "; the device packs"), ("/nowhere/libcuda.so.1", False, "need CUDA's driver: /nowhere/libcuda.so.1")
])  # fmt: skip
def test_the_doctor_says_whether_there_is_a_driver(driver, works, says, run_json, monkeypatch):
    monkeypatch.setenv("OCTAVO_CUDA_DRIVER", driver)
    row = next(row for row in run_json("doctor")["checks"] if row["name"] == "GPU driver")
    assert row["works"] is works
    assert says in row["says"]
