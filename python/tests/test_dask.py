"""octavo.dask: a delayed object for each domain, on a local cluster of processes."""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")

import octavo  # noqa: E402

EDGES = np.logspace(-4, 4, 33)


@pytest.fixture(scope="module")
def store(run, sample, tmp_path_factory):
    path = tmp_path_factory.mktemp("dask") / "run.octavo"
    run("convert", sample, path, "--per-file", 3, "-q")
    return path


@pytest.fixture(scope="module")
def cluster():
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        yield client


def histogram(domain):
    return np.histogram(domain.arrays("density")["density"], EDGES)[0]


@pytest.mark.parametrize("of", ["store", "sample"])
def test_domains_on_a_cluster_add_up_to_the_numbers_of_the_step(cluster, request, of):
    ds = octavo.open(request.getfixturevalue(of))
    domains = octavo.dask(ds)
    assert len(domains) == ds.domains == 8
    masses = [domain.sum("density", weight="volume") for domain in domains]
    counts = [dask.delayed(histogram)(domain) for domain in domains]
    images = [domain.map("density", pixels=64) for domain in domains]
    extremes = [domain.stats(["pressure"], particles=False) for domain in domains]
    masses, counts, images, extremes = dask.compute(masses, counts, images, extremes)
    assert np.isclose(sum(masses), ds.sum("density", weight="volume"), rtol=1e-14)
    assert np.array_equal(sum(counts), histogram(ds))
    whole = ds.stats(["pressure"], particles=False)
    assert max(part["fields"]["pressure"]["max"] for part in extremes) == whole["fields"]["pressure"]["max"]
    assert sum(part["leaves"] for part in extremes) == whole["leaves"]
    # Added in order of the domains, images have the bits of the whole.
    total = np.full((64, 64), -0.0)
    for image in images:
        assert image.extent == ds.map("density", pixels=64).extent
        there = ~np.isnan(image.values)
        total[there] += image.values[there]
    assert np.array_equal(total, ds.map("density", pixels=64).values)


def test_a_selection_keeps_its_region_and_level(store):
    core = octavo.open(store).sphere("center", 0.2).level(5)
    domains = octavo.dask(core)
    assert len(domains) == core.domains
    with dask.config.set(scheduler="synchronous"):
        sums = dask.compute([domain.sum("density") for domain in domains])[0]
        inner = dask.compute([domain.level(4).stats(particles=False)["leaves"] for domain in domains])[0]
    assert np.isclose(sum(sums), core.sum("density"), rtol=1e-14)
    assert sum(inner) == core.level(4).stats(particles=False)["leaves"]


def test_what_is_sent_is_small_and_reading_it_opens_one_file(store, tmp_path):
    ds = octavo.open(store)
    texts = [pickle.dumps(dask.compute(domain, scheduler="synchronous")[0]) for domain in octavo.dask(ds)]
    assert max(map(len, texts)) < 8192
    if not shutil.which("strace"):
        pytest.skip("no strace on this machine")
    (tmp_path / "domain").write_bytes(texts[5])
    code = "import pickle, sys; d = pickle.load(open(sys.argv[1], 'rb')); print(d.sum('density'))"
    words = ["strace", "-f", "-e", "trace=open,openat", "-o", str(tmp_path / "trace"), sys.executable, "-c", code]
    done = subprocess.run([*words, str(tmp_path / "domain")], capture_output=True, text=True, check=True)
    opens = re.findall(rf"{store}[^\"]*", (tmp_path / "trace").read_text())
    assert len(opens) == 1 and "data." in opens[0]
    assert float(done.stdout) == octavo.dask(ds)[5].sum("density").compute(scheduler="synchronous")


def test_the_example_runs(store):
    example = Path(__file__).parents[2] / "examples" / "dask_map.py"
    done = subprocess.run([sys.executable, example, store], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    mass = octavo.open(store).sum("density", weight="volume")
    assert float(re.search(r"mass (\S+),", done.stdout)[1]) == pytest.approx(mass, rel=1e-11)


def test_a_step_over_time_is_refused(run, tmp_path, data):
    files = sorted((data / "serafin").rglob("*.slf"))
    if not files:
        pytest.skip("no SERAFIN file")
    with pytest.raises(octavo.errors.Unsupported):
        octavo.dask(octavo.over_time(files[0], "max"))
