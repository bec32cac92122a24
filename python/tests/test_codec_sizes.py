"""The default codec on real fields: no field takes more bytes than bitshuffle and zstd (blosc2) make of the same chunks."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from conftest import ROOT
from octavo.codecs import peers

sys.path.insert(0, str(ROOT / "bench"))
import lossless_table

SHORT = [
    "ramses/dm_gas_gravity3d_3ranks/output_00002",
    "flash/sedov2d_pm4_par4/sedov2dp_hdf5_plt_cnt_0002",
    "amrex/multi3d_r4/plt00007",
    "serafin/f3d_gouttedo.slf",
    "serafin/f2d_gouttedo.slf",
]


@pytest.fixture(scope="module")
def bitshuffle():
    pytest.importorskip("blosc2")
    return next(peer for peer in peers.available()[0] if peer.name == "blosc2 bitshuffle")


def assert_no_larger(run_json, bitshuffle, source, out):
    stored = run_json("convert", source, out, "--no-particles")["fields"]
    theirs = {}
    for field, chunks in lossless_table.fields_of(out):
        packed = [bitshuffle.compress(np.ascontiguousarray(chunk), 0.0) for chunk in chunks if chunk.dtype.kind == "f"]
        theirs[field] = theirs.get(field, 0) + sum(map(peers.size_of, packed))
    larger = {
        name: (stored[name]["stored"], size) for name, size in theirs.items() if 0 < size < stored[name]["stored"]
    }
    assert not larger, "bytes of fields, ours and theirs"


@pytest.mark.parametrize("name", SHORT)
def test_no_real_field_is_larger_than_bitshuffle_makes_it(data, run_json, bitshuffle, tmp_path, name):
    assert_no_larger(run_json, bitshuffle, data / name, tmp_path / "run.octavo")


@pytest.mark.long
def test_no_field_of_any_real_set_is_larger_than_bitshuffle_makes_it(data, run, run_json, bitshuffle, tmp_path):
    sources = [path for pattern in lossless_table.REAL for path in sorted(data.glob(pattern))]
    for number, source in enumerate(sources):
        if run("info", source, check=False).returncode == 0 and run_json("info", source).get("fields"):
            assert_no_larger(run_json, bitshuffle, source, tmp_path / f"{number}.octavo")
