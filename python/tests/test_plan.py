"""Plans of readings, against the bytes that the process reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import open_as

import octavo


def bytes_read() -> int:
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])


@pytest.fixture(scope="module", params=["ramses", "store", "flash", "amrex"])
def ds(request, run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    output = folder / "output_00001"
    run("sample", output, "--levels", "4-6", "--domains", 8, "--particles", 500, "-q")
    return open_as(request.param, run, output, "--codec", "point:1e-3")


CHOICES = {
    "all": lambda ds: ds,
    "sphere": lambda ds: ds.sphere((0.2, 0.2, 0.2), 0.1),
    "ring": lambda ds: ds.sphere("center", 0.1) - ds.cylinder("center", "z", 0.05, 1),
    "coarse": lambda ds: ds.level(5),
    "where": lambda ds: ds.where("pressure > 0"),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_bytes_read_are_at_most_those_of_the_plan(ds, choice):
    chosen = CHOICES[choice](ds)
    stats = chosen.stats(["density"], particles=False, threads=1)  # what is read once, the first time
    counts = []
    for _ in range(5):
        before = bytes_read()
        chosen.stats(["density"], particles=False, threads=1)
        asked = bytes_read()
        own = bytes_read() - asked
        counts.append(asked - before - own)
    taken = min(counts)  # another thread of the tests may have read a message meanwhile
    plan = chosen.plan(["density"])
    assert plan.parts == chosen.parts and plan.of == ds._data.num_parts
    assert stats["leaves"] <= plan.cells
    assert plan.memory > 0
    if ds.format == "octavo":
        assert taken == plan.bytes
    elif ds.format == "flash":
        assert taken <= plan.bytes + 20_000  # HDF5's own records
    else:
        assert taken <= plan.bytes
    everything = ds.plan(particles=True)
    assert plan.bytes < everything.bytes
    assert plan.cells <= everything.cells


def test_fewer_fields_and_levels_take_fewer_bytes(ds):
    if ds.format in ("ramses", "amrex"):
        pytest.skip("counts whole files and boxes")
    one, two = ds.plan("density"), ds.plan(["density", "pressure"])
    assert one.bytes < two.bytes < ds.plan().bytes
    assert ds.plan("density*pressure").bytes == two.bytes
    assert ds.where("pressure > 0").plan("density").bytes == two.bytes
    with pytest.raises(octavo.UsageError, match="densty"):
        ds.plan("densty")


def test_a_dry_run_reads_nothing_and_writes_nothing(ds, run, run_json, tmp_path):
    plan = ds.sphere("center", 0.1).plan("density", threads=1)
    for words in (("map", "--field", "density"), ("stats", "--field", "density"), ("slice", "--field", "density"),
                  ("hist", "--field", "density", "--weight", "none"), ("profile", "--field", "density", "--weight", "none"),
                  ("line", "--field", "density", "--from", "0,0.5,0.5", "--to", "1,0.5,0.5")):  # fmt: skip
        verb, *rest = words
        text = run(verb, ds.path, *rest, "--roi", "sphere:center:0.1", "--dry-run", "-j", 1, cwd=tmp_path).stdout
        assert text.strip() == str(plan)
    assert not list(tmp_path.iterdir())
    found = run_json("stats", ds.path, "--field", "density", "--roi", "sphere:center:0.1", "--dry-run", "-j", 1)
    assert found == vars(plan) | {"schema_version": found["schema_version"]}
