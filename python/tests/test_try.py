"""The trials with real codes (scripts/try): without programs they say so, and a program that does nothing fails them."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

TRY = Path(__file__).resolve().parents[2] / "scripts" / "try"
# Prints what RAMSES prints without a namelist; with one it ends well and leaves no output.
IDLE_RAMSES = "#!/bin/sh\necho ' Working with nproc = 1 for ndim = 3'\necho ' Using solver = hydro with nvar = 5'\n"


def try_code(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TRY / f"{code}.py"],
        env={**os.environ, "OCTAVO_TRY": str(folder / "try"), **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def trials_of_make() -> list[str]:
    """The names after `make try-`."""
    words = re.search(r"^TRIALS := (.*)$", (TRY.parents[1] / "Makefile").read_text(), re.MULTILINE)
    return [word.removeprefix("try-") for word in words[1].split()]


@pytest.mark.parametrize("code", trials_of_make())
def test_without_programs_a_trial_is_skipped_visibly(code, tmp_path):
    nothing = dict.fromkeys(("RAMSES", "AMREX", "FLASH", "TELEMAC"), "")
    done = try_code(code.replace("-", "_"), tmp_path, **nothing)
    assert done.returncode == 0, done.stderr
    assert f"SKIP {code.replace('_', '-')}" in done.stdout and done.stdout.endswith("0 passed, 0 failed, 1 skipped\n")


def test_a_tree_that_does_not_exist_is_an_error(tmp_path):
    done = try_code("ramses", tmp_path, RAMSES=str(tmp_path / "nowhere"))
    assert done.returncode == 1 and "nowhere does not exist" in done.stderr


def test_a_program_that_leaves_no_output_fails(tmp_path):
    (tmp_path / "tree/bin").mkdir(parents=True)
    mpirun, ramses = tmp_path / "mpirun", tmp_path / "tree/bin/ramses3d"
    mpirun.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    ramses.write_text(IDLE_RAMSES)
    for path in (mpirun, ramses):
        path.chmod(0o755)
    done = try_code("ramses", tmp_path, RAMSES=str(tmp_path / "tree"), MPIRUN=str(mpirun), SETUPS="sedov")
    assert done.returncode == 1, done.stdout
    assert "FAIL ramses hydro sedov: RAMSES did not come to output 3" in done.stdout
    assert done.stdout.endswith("0 passed, 1 failed, 0 skipped\n")


def test_pieces_of_an_older_partel_differ_in_tag_and_colour_alone(monkeypatch):
    monkeypatch.syspath_prepend(str(TRY))
    import telemac

    geometry = bytes(range(200))
    tagless = geometry[:76] + b"        " + geometry[84:]
    old = {"T2DGEO00001-00000": tagless, "T2DCLI00001-00000": b"  2 2 2  0.5   162    2\n"}
    new = {"T2DGEO00001-00000": geometry, "T2DCLI00001-00000": b"  2 2 2  0.5   162   22\n"}
    assert telemac.same_but_for_version(old, new)
    assert not telemac.same_but_for_version(old, {**new, "T2DPAR00001-00000": b""})
    for name, bytes_of in (
        ("T2DGEO00001-00000", geometry[:120] + b"\0" + geometry[121:]),
        ("T2DCLI00001-00000", b"  2 2 2  0.5   163   22\n"),
    ):
        assert not telemac.same_but_for_version(old, {**new, name: bytes_of})


def serafin(value: float, date: bool) -> bytes:
    """A mesh of one triangle, one variable and one step."""
    dates = [struct.pack(">6i", 2026, 1, 1, 0, 0, 0)] if date else []
    iparam = struct.pack(">10i", 1, 0, 0, 0, 0, 0, 0, 3, 0, int(date))
    floats = [struct.pack(">3f", *values) for values in ((0, 1, 0), (0, 0, 1), (value, 2, 3))]
    records = [
        b"t".ljust(80),
        struct.pack(">2i", 1, 0),
        b"DEPTH".ljust(32),
        iparam,
        *dates,
        struct.pack(">4i", 1, 3, 3, 1),
    ]
    records += [struct.pack(">3i", 1, 2, 3)] * 2 + floats[:2] + [struct.pack(">f", 0.5), floats[2]]
    return b"".join(struct.pack(">i", len(record)) + record + struct.pack(">i", len(record)) for record in records)


def test_other_records_of_two_results_are_named(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(TRY))
    import telemac_adapter

    paths = [tmp_path / name for name in ("a.slf", "b.slf", "c.slf")]
    for path, data in zip(paths, (serafin(1, True), serafin(1.5, True), serafin(1, False)), strict=True):
        path.write_bytes(data)
    assert telemac_adapter.other_records(paths[0], paths[0]) == []
    assert telemac_adapter.other_records(paths[0], paths[1]) == ["step 0, record 1"]
    assert telemac_adapter.other_records(paths[0], paths[2]) == ["IPARAM", "date"]
