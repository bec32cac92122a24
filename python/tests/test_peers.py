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
rho = ad["ramses", "Density"].to_ndarray() if ("ramses", "Density") in ds.field_list else ad["ramses", "density"].to_ndarray()
volume = (ad["index", "dx"].to("code_length").to_ndarray()) ** 3
print(json.dumps([len(rho), rho.min(), rho.max(), float((rho * volume).sum() / volume.sum())]))
"""

OSYRIS = """
import sys, json, osyris
from pathlib import Path
path = Path(sys.argv[1])
data = osyris.RamsesDataset(int(path.name[-5:]), path=str(path.parent)).load()["mesh"]
rho = data["density"].values; unit = data["density"].unit
print(json.dumps([len(rho)]))
"""


def peer(code, path):
    import json

    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module", params=["sample", "real"])
def written(request, run, sample, tmp_path_factory):
    if request.param == "sample":
        return sample
    data = request.getfixturevalue("data")
    out = tmp_path_factory.mktemp("peers") / "output_00002"
    run("convert", data / "ramses" / "sedov3d_4ranks" / "output_00002", out, "--to", "ramses")
    return out


def test_yt_reads_what_we_write(written, run_json):
    pytest.importorskip("yt")
    stats = run_json("stats", written)
    leaves, low, high, mean = peer(YT, written)
    density = stats["fields"]["density"]
    assert (leaves, low, high) == (stats["leaves"], density["min"], density["max"])
    assert mean == pytest.approx(density["volume_mean"], rel=1e-10)


def test_osyris_reads_what_we_write(written, run_json):
    pytest.importorskip("osyris")
    assert peer(OSYRIS, written) == [run_json("stats", written)["leaves"]]
