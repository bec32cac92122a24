"""`octavo bench codec`: every value that a peer is given is one of the field's, every bound is kept, metrics are NumPy's, and peers
that are not installed are named."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from octavo.codecs import codec_bench, peers

import octavo

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
STORES = ["v2.0-lossless", "v2.0-blocks", "v2.0-roots"]


def a_field(dataset):
    return next(f["name"] for f in dataset._data.fields if f["dtype"] in ("float64", "float32"))


def owned_values(values, leaves=False):
    kept = []
    for part, field in zip(values.parts, values.fields, strict=True):
        cells = np.concatenate([np.asarray(owned, bool) for owned in part.owned])
        if leaves:
            cells &= ~np.concatenate([np.asarray(refined, bool) for refined in part.refined])
        kept.append(field.reshape(len(cells), values.width)[cells].ravel())
    return np.sort(np.concatenate(kept))


@pytest.mark.parametrize("store", STORES)
def test_each_arrangement_has_every_value_once(store):
    dataset = octavo.open(GOLDEN / store / "run.octavo")
    values = codec_bench.Values(dataset, a_field(dataset))
    forms = codec_bench.arrangements(values)
    assert {"merged", "leaves"} <= set(forms)
    for form, pieces in forms.items():
        given = np.sort(np.concatenate([piece.values(piece.array) for piece in pieces]))
        wanted = np.sort(values.merged) if form == "merged" else owned_values(values, form == "leaves")
        assert np.array_equal(given, wanted, equal_nan=True), form


def test_a_level_that_fills_its_box_is_one_array_in_place():
    """Cells of 2 x 3 blocks of 4 x 2 cells: the array that they were cut from."""
    whole = np.arange(6 * 8.0).reshape(6, 8)  # y, x
    places = np.array([(x, y) for y in range(3) for x in range(2)])
    blocks = np.stack([whole[2 * y : 2 * y + 2, 4 * x : 4 * x + 4].ravel() for x, y in places])
    (piece,) = codec_bench.dense(codec_bench.Level(places + 5, blocks), [4, 2])
    assert piece.real is None and np.array_equal(piece.array, whole)
    (piece,) = codec_bench.dense(codec_bench.Level(places[[0, 1, 3, 4, 5]], blocks[[0, 1, 3, 4, 5]]), [4, 2])
    assert np.array_equal(piece.array[piece.real], whole[piece.real]) and piece.real.sum() == 40
    assert codec_bench.dense(codec_bench.Level(places[[0, 5]], blocks[[0, 5]]), [4, 2]) == []


def test_bricks_are_cubes_of_neighbours():
    n = codec_bench.BRICK
    whole = np.arange(4.0 * n * n).reshape(2 * n, 2 * n)  # y, x
    places = np.array([(x, y) for y in range(2 * n) for x in range(2 * n)])
    shuffled = np.random.default_rng(1).permutation(len(places))[:-1]  # one cell is missing: its cube is not full
    y, x = places[shuffled][:, 1], places[shuffled][:, 0]
    level = codec_bench.Level(places[shuffled], whole[y, x][:, None])
    stack, rest = codec_bench.bricks_of(level, [1, 1])
    assert stack.array.shape == (3 * n, n) and rest.array.size == n * n - 1
    for brick in stack.array.reshape(3, n, n):
        assert np.all(np.diff(brick, axis=1) == 1) and np.all(np.diff(brick, axis=0) == 2 * n)


def test_rows_are_what_numpy_finds_and_what_a_store_takes(run_json, run, tmp_path):
    source = GOLDEN / "v2.0-roots" / "run.octavo"  # of one step
    dataset = octavo.open(source)
    field = a_field(dataset)
    table, picture = tmp_path / "rows.csv", tmp_path / "rates.png"
    found = run_json("bench", "codec", source, "--field", field, "--bound", "lossless,point:2e-3,range:1e-3",
                     "--effort", "all", "--repetitions", 1, "--csv", table, "--picture", picture)  # fmt: skip
    rows = found["rows"]
    assert all(row["within"] for row in rows), [row for row in rows if not row["within"]]
    assert {row["compressor"] for row in rows} >= {"octavo", "zstd-3", "zstd-19"}
    assert picture.stat().st_size > 10_000
    with open(table, newline="") as file:
        assert [row["stored"] for row in csv.DictReader(file)] == [str(row["stored"]) for row in rows]

    given = np.concatenate([np.ravel(dataset.part(n).fields[field]) for n in range(dataset.domains)])
    for bound, effort in itertools.product(("lossless", "point:2e-3"), ("default", "fast", "max")):
        out = tmp_path / f"{bound[:5]}-{effort}.octavo"
        words = ("--codec", bound, "--effort", effort)
        report = json.loads(run("convert", source, out, "--field", field, *words, "--json").stdout)
        name = "octavo" if effort == "default" else f"octavo {effort}"
        ours = next(row for row in rows if row["compressor"] == name and row["bound"] == bound)
        assert ours["stored"] == report["fields"][field]["stored"] and ours["raw"] == given.nbytes
        store = octavo.open(out)
        error = np.concatenate([np.ravel(store.part(n).fields[field]) for n in range(store.domains)]) - given
        assert ours["max_abs_error"] == np.abs(error).max()
        if bound != "lossless":
            assert ours["nrmse"] == pytest.approx(np.sqrt(np.mean(error**2)) / np.ptp(given))
            assert ours["psnr"] == pytest.approx(20 * np.log10(np.ptp(given) / np.sqrt(np.mean(error**2))))


def test_a_broken_bound_is_seen():
    given = np.array([1.0, -2.0, 0.0, np.inf])
    bound = codec_bench.Bound("point", 1e-2)
    assert codec_bench.keeps(bound, given, np.array([1.0099, -2.0, 0.0, np.inf]))
    assert not codec_bench.keeps(bound, given, np.array([1.0101, -2.0, 0.0, np.inf]))
    assert not codec_bench.keeps(bound, given, np.array([1.0, -2.0, 1e-300, np.inf]))
    assert not codec_bench.keeps(bound, given, np.array([1.0, -2.0, 0.0, -np.inf]))
    assert not codec_bench.keeps(codec_bench.Bound(), np.array([0.0]), np.array([-0.0]))


@pytest.mark.parametrize("kind, value", [("abs", 1e-3), ("point", 2e-3)])
def test_a_peer_without_bounds_keeps_them_through_a_grid(kind, value):
    values = np.concatenate([np.random.default_rng(3).normal(size=500), [0.0, np.inf]])
    peer, bound = peers.available()[0][0], peers.Bound(kind, value)
    prepared = peers.prepare(peer, values, bound)
    back = prepared.back(peer.expand(peer.compress(prepared.given, prepared.tolerance), prepared.given))
    assert codec_bench.keeps(bound, values, back) and not codec_bench.keeps(peers.Bound(kind, value / 3), values, back)


def test_peers_that_are_not_installed_are_named(monkeypatch):
    def missing():
        raise ImportError

    monkeypatch.setattr(peers, "_MAKERS", [("SZ9", "sz9", missing)])
    assert peers.available() == ([], ["SZ9 is not measured: the Python package sz9 is not installed"])


def test_wrong_words_are_refused(run):
    source = GOLDEN / "v2.0-lossless" / "run.octavo"
    assert run("bench", "codec", source, "--bound", "point", check=False).returncode == 2
    done = run("bench", "codec", source, "--field", "nothing", check=False)
    assert done.returncode == 2 and "nothing" in done.stderr
