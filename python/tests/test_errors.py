"""Errors of lossy stores: they cancel over the leaves of real fields, what fills a chunk comes back exactly, every bound holds,
and `convert --report` prints what NumPy finds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import octavo

BOUNDS = [
    "point:2e-2",
    "point:2e-3",
    "point:2e-4",
    "abs:2e-2",
    "abs:2e-3",
    "abs:2e-4",
    "range:2e-2",
    "range:2e-3",
    "range:2e-4",
]
QUICK = [
    "ramses/sedov3d_1rank/output_00002",
    "ramses/tracer2d_3ranks/output_00002",
    "flash/sedov2d_pm4_serial/sedov2d_hdf5_chk_0002",
    "amrex/single2d_r3/plt00007",
    "amrex/single2d_r3/chk00007",
]  # fmt: skip


def leaf_weights(part, dim):
    """The volumes of the leaves of each level, 0 for other cells; one number a cell of the tree."""
    return [
        (np.asarray(owned, bool) & ~np.asarray(refined, bool)) * 2.0 ** (-dim * level)
        for level, (owned, refined) in enumerate(zip(part.owned, part.refined, strict=True))
    ]


def most_frequent_is_exact(given, found, where):
    """One of the values that are most frequent, if they fill more than a tenth, has all its bits."""
    bits = given.view(f"u{given.itemsize}")
    values, counts = np.unique(bits, return_counts=True)
    top = values[counts == counts.max()] if counts.max() > max(1, len(bits) / 10) else []
    exact = [np.array_equal(found.view(bits.dtype)[bits == value], bits[bits == value]) for value in top]
    assert any(exact) or not exact, where


def compare(source, store, kind, bound, ranges):
    """name -> (errors, volumes, values) over all parts; checks bounds and frequent values on the way."""
    dim, collected = source._data.dim, {}
    for number in range(source._data.num_parts):
        given, found = source.part(number), store.part(number)
        weights = leaf_weights(given, dim)
        for name, values in given.fields.items():
            x = np.asarray(values)
            if x.dtype.kind != "f":
                continue
            cells = sum(map(len, weights))
            x, y = x.reshape(cells, -1), np.asarray(found.fields[name]).reshape(cells, -1)
            limit = bound * {"point": np.abs(x).astype(np.float64), "abs": 1.0, "range": ranges.get(name, 0)}[kind]
            ok = np.isfinite(x)
            difference = y.astype(np.float64) - x.astype(np.float64)  # in float32 it would be rounded
            assert np.all((np.abs(difference) <= limit * (1 + 1e-12))[ok]), name
            first = 0
            for level, weight in enumerate(weights):
                here = slice(first, first + len(weight))
                first += len(weight)
                for chosen in (weight >= 0, weight > 0):
                    if chosen.any():
                        a, b = x[here][chosen].ravel(), y[here][chosen].ravel()
                        most_frequent_is_exact(a, b, (name, number, level))
            w = np.repeat(np.concatenate(weights), x.shape[1])
            e = difference.ravel()
            kept = ok.ravel() & (w > 0)
            collected.setdefault(name, []).append((e[kept], w[kept], x.ravel()[kept].astype(np.float64)))
    return {name: tuple(map(np.concatenate, zip(*pieces, strict=True))) for name, pieces in collected.items()}


def check(run, source, codec, folder):
    store = folder / "s.octavo"
    report = json.loads(
        run("convert", source, store, "-f", "--no-particles", "--codec", codec, "--report", "--json").stdout
    )
    kind, bound = codec.split(":")
    given, found = octavo.open(source), octavo.open(store)
    ranges = {}
    if kind == "range":
        for number in range(given._data.num_parts):
            for name, x in given.part(number).fields.items():
                x = np.asarray(x)[np.isfinite(x)]
                lo, hi = ranges.get(name, (np.inf, -np.inf))
                ranges[name] = (min(lo, x.min(initial=np.inf)), max(hi, x.max(initial=-np.inf)))
        ranges = {name: float(hi) - float(lo) for name, (lo, hi) in ranges.items()}
    for name, (e, w, x) in compare(given, found, kind, float(bound), ranges).items():
        size, extent = np.abs(x), x.max() - x.min()
        total, deviation = math.fsum(w * e), math.sqrt(math.fsum((w * e) ** 2))
        rounding = 2.0**-53 * math.fsum(w * size)  # what the sum of the values themselves cannot tell
        assert abs(total) <= 4 * deviation + rounding, (name, total / deviation)
        errors = report["fields"][name]["errors"]
        assert errors["values"] == len(e)
        assert errors["largest"] == np.abs(e).max(initial=0)
        assert errors["mean"] == pytest.approx(total / w.sum(), rel=1e-9, abs=1e-3 * deviation / w.sum())
        assert errors["standard_error"] == pytest.approx(deviation / w.sum(), rel=1e-9)
        magnitudes = math.fsum(w * size)
        assert errors["drift"] * magnitudes == pytest.approx(total, rel=1e-9, abs=1e-3 * deviation)
        rms = np.sqrt(np.mean(e**2))
        if rms > 0 and extent > 0:
            assert errors["nrmse"] == pytest.approx(rms / extent, rel=1e-9)
            assert errors["psnr"] == pytest.approx(20 * np.log10(extent / rms), rel=1e-9)


@pytest.mark.parametrize("source", QUICK)
def test_errors_of_a_real_set_cancel(data, run, tmp_path, source):
    if not (data / source).exists():
        pytest.skip(f"no {source} in {data}: set OCTAVO_DATA")
    for codec in ("point:2e-3", "abs:2e-2", "range:2e-3"):
        check(run, data / source, codec, tmp_path)


def test_the_correlation_is_that_of_neighbours_in_memory(run, tmp_path):
    run("sample", tmp_path / "run.octavo", "--to", "octavo", "--levels", "3-5", "--domains", 3, "-q")
    words = ("convert", tmp_path / "run.octavo", tmp_path / "lossy.octavo", "--codec", "point:1e-1")
    report = json.loads(run(*words, "--report", "--json").stdout)["fields"]
    given, found = octavo.open(tmp_path / "run.octavo"), octavo.open(tmp_path / "lossy.octavo")
    for name in given.fields:
        levels = []
        for number in range(given._data.num_parts):
            a, b = given.part(number), found.part(number)
            weights = leaf_weights(a, given._data.dim)
            error = np.asarray(b.fields[name]) - np.asarray(a.fields[name])
            assert error.ndim == 1
            levels += [
                e[w > 0] for e, w in zip(np.split(error, np.cumsum([*map(len, weights)])[:-1]), weights, strict=True)
            ]
        mean, variance = np.concatenate(levels).mean(), np.concatenate(levels).var()
        products = np.concatenate([(e[1:] - mean) * (e[:-1] - mean) for e in levels])
        assert report[name]["errors"]["autocorrelation"] == pytest.approx(
            products.mean() / variance, rel=1e-6, abs=1e-9
        )


@pytest.mark.long
@pytest.mark.parametrize("codec", BOUNDS)
def test_errors_of_every_real_set_cancel(data, run, tmp_path, codec):
    sources = [*data.glob("ramses/*/output_*"), *(p for p in data.glob("amrex/*/*") if p.is_dir())]
    sources += [p for p in data.glob("flash/*/*_hdf5_*") if "part" not in p.name]
    for source in sorted(sources):
        if run("info", source, check=False).returncode == 0:
            check(run, source, codec, tmp_path)


def test_a_report_is_a_table_and_json(run, tmp_path):
    run("sample", tmp_path / "run.octavo", "--to", "octavo", "--levels", "3-4")
    words = ("convert", tmp_path / "run.octavo", tmp_path / "lossy.octavo", "-f", "--codec", "point:1e-2", "--report")
    text = run(*words).stdout
    for word in ("bound", "point:0.01", "lag-1", "+-"):
        assert word in text
    fields = json.loads(run(*words, "--json").stdout)["fields"]
    field = next(f for f in fields.values() if "errors" in f)
    assert field["bound"] == "point:0.01" and field["codecs"]
    assert 0 < field["errors"]["largest_ratio"] <= 0.01
    # Measured from the store: the same without a bound has none.
    fields = json.loads(run(*words[:-3], "--report", "--json").stdout)["fields"]
    assert all(f["errors"]["largest"] == 0 for f in fields.values() if "errors" in f)


def test_a_report_of_another_output_is_wrong_use(run, tmp_path):
    run("sample", tmp_path / "run.octavo", "--to", "octavo", "--levels", "3-3")
    done = run("convert", tmp_path / "run.octavo", tmp_path / "x", "--to", "flash", "--report", check=False)
    assert done.returncode == 2 and "--report" in done.stderr
