"""The promises of conversion: lossless is bit for bit; every value honours its bound; memory and reads are bounded."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import peak_of

import octavo


def parts(path):
    ds = octavo.open(path)
    return [ds.part(index) for index in range(ds.domains)]


def same_trees(first, second):
    return all(
        all(np.array_equal(a, b) for a, b in zip(x.refined + x.owned, y.refined + y.owned, strict=True))
        for x, y in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("effort", ["default", "fast", "max"])
def test_lossless_is_bit_for_bit(run, sample, tmp_path, effort):
    run("convert", sample, tmp_path / "o", "--effort", effort)
    native, store = parts(sample), parts(tmp_path / "o")
    assert same_trees(native, store)
    for a, b in zip(native, store, strict=True):
        for name in a.fields:
            assert a.fields[name].tobytes() == b.fields[name].tobytes()
    before, after = octavo.open(sample).particles(), octavo.open(tmp_path / "o").particles()
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)


@pytest.mark.parametrize("method", ["raw", "zstd", "tree", "delta", "pcp"])
def test_every_named_method_is_lossless(run, sample, tmp_path, method):
    run("convert", sample, tmp_path / "o", "--method", method, "--no-particles")
    for a, b in zip(parts(sample), parts(tmp_path / "o"), strict=True):
        assert all(a.fields[name].tobytes() == b.fields[name].tobytes() for name in a.fields)


@pytest.mark.parametrize("bound", [1e-1, 2e-3, 1e-6, 1e-12])
def test_point_wise_bounds_hold_for_every_value(run, sample, tmp_path, bound):
    run("convert", sample, tmp_path / "o", "--codec", f"point:{bound}")
    for a, b in zip(parts(sample), parts(tmp_path / "o"), strict=True):
        for name, values in a.fields.items():
            exact, near = values.astype(np.longdouble), b.fields[name].astype(np.longdouble)
            assert (abs(exact - near) <= np.longdouble(bound) * abs(exact)).all()


def test_absolute_and_range_bounds_hold(run, sample, tmp_path):
    run("convert", sample, tmp_path / "o", "--codec", "abs:1e-3,density=range:1e-4")
    native, store = parts(sample), parts(tmp_path / "o")
    density = np.concatenate([part.fields["density"] for part in native])
    bounds = {"density": 1e-4 * (density.max() - density.min())}
    for a, b in zip(native, store, strict=True):
        for name, values in a.fields.items():
            error = abs(values.astype(np.longdouble) - b.fields[name].astype(np.longdouble)).max()
            assert error <= np.longdouble(bounds.get(name, 1e-3))


def test_single_precision_is_the_nearest_float(run, sample, tmp_path):
    run("convert", sample, tmp_path / "o", "--precision", "single")
    for a, b in zip(parts(sample), parts(tmp_path / "o"), strict=True):
        for name, values in a.fields.items():
            assert b.fields[name].dtype == np.float32
            assert np.array_equal(values.astype(np.float32), b.fields[name])


def test_field_level_and_region_keep_what_they_say(run, run_json, sample, tmp_path):
    out = tmp_path / "o"
    run("convert", sample, out, "--field", "density", "--level", 5, "--roi", "box:0.2,0.2,0.2:0.45,0.4,0.7")
    facts = run_json("info", out)
    assert [field["name"] for field in facts["fields"]] == ["density"]
    assert max(level["level"] for level in facts["levels"] if level["leaves"]) == 5
    box = ((0.2, 0.2, 0.2), (0.45, 0.4, 0.7))
    whole = octavo.open(sample).level(5).box(*box)
    kept = octavo.open(out).box(*box)
    assert kept.sum("density", weight="volume") == pytest.approx(whole.sum("density", weight="volume"), rel=1e-12)
    first = octavo.open(sample).level(5).box(*box).map("density", pixels=60).values
    assert np.allclose(kept.map("density", pixels=60).values, first, rtol=1e-12)


def bytes_read(words, pattern):
    """Bytes that a command reads from files whose path holds the pattern, and how many of them it opens."""
    log = subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=openat,pread64,read", "-o", "/dev/stdout", *map(str, words)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    total, opened = 0, set()
    for line in log.splitlines():
        if pattern not in line:
            continue
        result = line.rsplit("= ", 1)[-1].split("<")[0].strip()
        if "openat(" in line and result.isdigit():
            opened.add(line.split('"')[1])
        elif result.isdigit():
            total += int(result)
    return total, len(opened)


@pytest.mark.skipif(not os.path.exists("/usr/bin/strace"), reason="no strace on this machine")
def test_only_the_needed_streams_are_read(run, run_json, tmp_path):
    """Domains large enough that deep levels are streams of their own."""
    from conftest import OCTAVO

    sample = tmp_path / "output_00001"
    run("sample", sample, "--domains", 8, "--levels", "5-8", "-q")
    out = tmp_path / "run.octavo"
    run("convert", sample, out, "--per-file", 1)
    listed = run_json("ls", out, "--streams")["steps"][0]["streams"]
    size = {
        "all": sum(s["stored_bytes"] for s in listed),
        "density": sum(s["stored_bytes"] for s in listed if s["field"] in ("", "?", "density")),
        "coarse": sum(
            s["stored_bytes"] for s in listed if s["field"] in ("", "?", "density") and s["first_level"] <= 5
        ),
    }
    facts = os.path.getsize(out / "analysis" / "data.000") - sum(
        s["stored_bytes"] for s in listed if s["file"].endswith("data.000")
    )
    overhead = 8 * (facts + 8192)  # heads and footers, read once or twice
    stats = [OCTAVO, "stats", out, "--field", "density", "--no-particles", "-j", 1]
    everything, opened = bytes_read(stats, "/analysis/data.")
    assert size["density"] <= everything <= size["density"] + 2 * overhead < size["all"] + 2 * overhead
    assert opened == 8
    coarse, _ = bytes_read([*stats, "--level", 6], "/analysis/data.")
    assert coarse <= size["coarse"] + 2 * overhead
    assert coarse < everything
    corner = [*stats, "--roi", "box:0,0,0:0.01,0.01,0.01"]
    region, _ = bytes_read(corner, "/analysis/data.")
    assert region < everything / 2 + 2 * overhead
    _, native = bytes_read(
        [OCTAVO, "stats", sample, "--field", "density", "--no-particles", "--roi", "box:0,0,0:0.01,0.01,0.01"],
        "/hydro_",
    )
    assert native < 8


@pytest.mark.parametrize("threads", [1, 2])
def test_peak_memory_of_convert_is_a_few_domains(run, sample, tmp_path, threads):
    """At most three times the largest domain's amr + hydro bytes a thread, plus 64 MB, above the bare interpreter: on an
    output many times larger than that."""
    big = tmp_path / "output_00001"
    run("sample", big, "--levels", "6-8", "--domains", 48, "--kind", "turbulence", "-q")
    domains = [
        sum(os.path.getsize(big / f"{kind}_00001.out{domain:05}") for kind in ("amr", "hydro"))
        for domain in range(1, 49)
    ]
    bound = 3 * max(domains) * threads + 64e6

    _, _, bare = peak_of(["info", sample, "-q"])
    code, text, used = peak_of(["convert", big, tmp_path / "o", "-j", threads, "-q"])
    assert code == 0, text
    assert used - bare < bound


def test_parts_use_the_memory_of_those_before(sample, tmp_path):
    """Pages that went back to the system are cleared and mapped again for each part."""
    fields = "density,velocity_x,velocity_y,velocity_z,pressure"
    words = ["profile", sample, "--field", fields, "-j", 1, "-q", "-f", "-o", tmp_path / "p.csv", "--roi"]
    run = "import sys; from octavo import _core; {} from octavo.cli import main; sys.exit(main(sys.argv[1:]))"

    def faults(change, domains):
        command = [sys.executable, "-c", run.format(change), *map(str, words), f"domains:{domains}"]
        child = os.posix_spawn(command[0], command, os.environ)
        _, status, usage = os.wait4(child, 0)
        assert status == 0
        return usage.ru_minflt

    def growth(change):
        return faults(change, "1-8") - faults(change, "1-2")

    assert growth("") < growth("_core.keep_freed_memory = int;") / 2
