"""What we write, other codes' readers read: yt and osyris give the same leaves and values. Long: make test-long installs
them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

YT = """
import sys, json, numpy as np, yt
yt.set_log_level(50)
ds = yt.load(sys.argv[1]); ad = ds.all_data()
rho = ad["gas", "density"].to("code_mass/code_length**3").to_ndarray()
volume = (ad["index", "dx"].to("code_length").to_ndarray()) ** 3
print(json.dumps([len(rho), rho.min(), rho.max(), float((rho * volume).sum() / volume.sum())]))
"""

OSYRIS = """
import sys, json, osyris
from pathlib import Path
path = Path(sys.argv[1])
data = osyris.RamsesDataset(int(path.name[-5:]), path=str(path.parent)).load()["mesh"]
rho = data["density"].values
print(json.dumps([len(rho), float(rho.min()), float(rho.max())]))
"""


def peer(code, path):
    import json

    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module", params=[[], ["--domains", 7]])
def rewritten(request, data, run, tmp_path_factory):
    """A real output, and what we make of it."""
    real = data / "ramses" / "sedov3d_4ranks" / "output_00002"
    out = tmp_path_factory.mktemp("peers") / "output_00002"
    run("convert", real, out, "--to", "ramses", *request.param)
    return real, out


def test_yt_reads_a_sample(sample, run_json):
    pytest.importorskip("yt")
    stats = run_json("stats", sample)
    leaves, low, high, mean = peer(YT, sample)
    density = stats["fields"]["density"]
    assert (leaves, low, high) == (stats["leaves"], density["min"], density["max"])
    assert mean == pytest.approx(density["volume_mean"], rel=1e-10)


def test_yt_finds_what_it_found_in_the_real_output(rewritten):
    """yt rescales by boxlen, so a box that is not 1 is compared with yt itself."""
    pytest.importorskip("yt")
    real, out = rewritten
    assert peer(YT, out) == peer(YT, real)


def test_osyris_reads_what_we_write(sample, rewritten, run_json):
    pytest.importorskip("osyris")
    for path in (sample, rewritten[1]):
        density = run_json("stats", path)["fields"]["density"]
        leaves, low, high = peer(OSYRIS, path)
        assert leaves == run_json("stats", path)["leaves"]
        assert (low, high) == pytest.approx((density["min"], density["max"]), rel=1e-12)
