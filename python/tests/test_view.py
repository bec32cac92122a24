"""The server behind `octavo view`: tiles beside the maps and slices that they are parts of, who is let in, and what wrong
requests get."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import forked_command
import numpy as np
import pytest
from conftest import BOUND, OCTAVO, until
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import octavo

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from octavo.errors import Interrupted, UsageError
from octavo.view import answers, bricks, tiles
from octavo.view.work import Busy, Gone, Kept, Work

#: After a look at a step's files a view pauses twenty times as long as the look took (test_view_changes.py). These views make no
#: pause: on a busy disk it may be minutes.
_WITHOUT_PAUSE = """
import math, sys
from octavo.view import changes
changes.SHARE = math.inf
from octavo.cli import main
sys.exit(main(sys.argv[1:]))
"""


class View:
    """A running `octavo view`; `before` is a command that starts it."""

    def __init__(self, *words, environment=None, before=()):
        command = [*before, sys.executable, "-c", _WITHOUT_PAUSE, "view", *map(str, words), "--no-browser"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {})
        )
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        assert self.url.startswith("http://127.0.0.1:"), self.process.stderr.read()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=BOUND)

    @property
    def port(self):
        return int(self.url.split(":")[2].split("/")[0])

    def get(self, path, headers=None, url=None, method=None, **words):
        """(status, bytes)"""
        query = "?" + urllib.parse.urlencode(words, errors="surrogatepass") if words else ""
        request = urllib.request.Request((url or self.url) + path + query, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=BOUND) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def json(self, path, **words):
        status, body = self.get(path, **words)
        assert status == 200, body
        return json.loads(body)

    def tile(self, zoom, column, row, **words):
        status, body = self.get("step/0/tile", zoom=zoom, column=column, row=row, **words)
        assert status == 200, body
        return tiles.unpacked(body)


@pytest.fixture(scope="module")
def view(sample):
    with View(sample) as running:
        yield running


def whole(view, zoom, **words):
    """All tiles of a zoom as one picture."""
    n = 2**zoom
    return np.block([[view.tile(zoom, column, row, **words)[1] for column in range(n)] for row in range(n)])


# ------------------------------------------------------------------ tiles


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("kind", ["slice", "integral", "mean", "max", "min"])
def test_tiles_are_parts_of_the_picture(view, sample, kind, axis):
    ds = octavo.open(sample)
    at = [0.5, 0.5, 0.5]
    at["xyz".index(axis)] = 0.3
    expected = (
        ds.slice("density", normal=axis, at=at, pixels=512)
        if kind == "slice"
        else ds.map("density", axis=axis, kind=kind, pixels=512)
    )
    found = whole(view, 1, field="density", kind=kind, axis=axis, at=0.3)
    # Values travel as float32. Sums along a line of sight are taken in another order where a part is cut by a tile.
    np.testing.assert_allclose(found, expected.values, rtol=3e-7)


def test_a_tile_reads_no_level_that_is_finer_than_its_pixels(sample):
    ds = octavo.open(sample)  # levels 4 to 6: cells of 1/16 to 1/64
    data = ds._data
    assert tiles.level_for(data, 1 / 16) == 4
    assert tiles.level_for(data, 1 / 17) == 5
    assert tiles.level_for(data, 1 / 64) is None
    assert tiles.level_for(data, 1 / 1000) is None
    assert tiles.level_for(data, 2.0) == ds.levels[0]


def test_a_tile_reads_only_the_domains_that_cross_it(view, sample):
    all_parts = octavo.open(sample).domains
    facts, _ = view.tile(4, 0, 0, field="density")
    whole_domain, _ = view.tile(0, 0, 0, field="density", kind="integral")
    assert whole_domain["parts_read"] == all_parts
    assert facts["parts_read"] < all_parts
    assert facts["bytes_read"] < whole_domain["bytes_read"]


def test_windows_of_all_tiles_cover_the_domain_once(sample):
    data = octavo.open(sample)._data
    windows = [tiles.window_of(data, "z", 3, column, row) for column in range(8) for row in range(8)]
    assert sum((w.hi[0] - w.lo[0]) * (w.hi[1] - w.lo[1]) for w in windows) == pytest.approx(1)
    with pytest.raises(UsageError, match="no tile 8, 0"):
        tiles.window_of(data, "z", 3, 8, 0)


@pytest.mark.parametrize("factor", [1.0, 1e-300, 1e-40, 1e35, 1e300])
def test_values_of_any_size_travel(factor):
    values = np.array([[1.0, 2.5], [np.nan, -3.0]]) * factor
    facts, found = tiles.unpacked(tiles.packed({"label": "µ"}, values))
    np.testing.assert_allclose(found, values, rtol=1e-7)
    assert facts["label"] == "µ" and facts["low"] == -3.0 * factor and facts["positive"] == factor


def test_units_conditions_formulas_and_levels(view, sample):
    ds = octavo.open(sample)
    _, values = view.tile(0, 0, 0, field="2*density", where="density > 1")
    expected = ds.where("density > 1").slice("2*density", pixels=256).values
    np.testing.assert_allclose(values, expected, rtol=1e-7)
    facts, values = view.tile(0, 0, 0, field="density", level=4)
    assert facts["level"] == 4
    np.testing.assert_allclose(values, ds.level(4).slice("density", pixels=256).values, rtol=1e-7)
    for kind in tiles.KINDS:  # where nothing is, an empty tile
        _, values = view.tile(0, 0, 0, field="density", kind=kind, where="density > 1e30")
        assert not np.nan_to_num(values).any(), kind


# ------------------------------------------------------------------ bricks


def brick(view, zoom, i, j, k, **words):
    """(facts, values of shape (z, y, x))"""
    status, body = view.get("step/0/brick", zoom=zoom, i=i, j=j, k=k, **words)
    assert status == 200, body
    facts, values = tiles.unpacked(body)
    return facts, values.reshape(bricks.EDGE, bricks.EDGE, bricks.EDGE)


@pytest.mark.parametrize("zoom", [0, 1])
def test_bricks_are_the_cells_of_a_level(view, sample, zoom):
    """All bricks of a zoom side by side are the cube of the level whose cells are their voxels."""
    expected = octavo.open(sample).level(5 + zoom).cube("density")["density"]
    n = 2**zoom
    found = np.block(
        [[[brick(view, zoom, i, j, k, field="density")[1] for i in range(n)] for j in range(n)] for k in range(n)]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_brick_of_voxels_finer_than_all_cells_repeats_them(view, sample):
    cells = octavo.open(sample).cube("density")["density"]  # 64^3
    facts, values = brick(view, 3, 2, 5, 7, field="density")
    expected = cells[56:64, 40:48, 16:24].repeat(4, 0).repeat(4, 1).repeat(4, 2)
    np.testing.assert_allclose(values, expected, rtol=1e-7)
    assert facts["extent"] == [0.25, 0.375, 0.625, 0.75, 0.875, 1.0] and not facts["finer"]


def test_finer_says_whether_there_are_finer_cells(view, sample):
    ds = octavo.open(sample)
    found = set()
    for place in np.ndindex(4, 4, 4):
        facts, _ = brick(view, 0 if place == (0, 0, 0) else 2, *place, field="density")
        lo = [n / 4 for n in place]
        deepest = ds.stats(["level"]) if facts["level"] < 6 else ds.box(lo, [x + 0.25 for x in lo]).stats(["level"])
        assert facts["finer"] == (deepest["fields"]["level"]["max"] > facts["level"])
        found.add(facts["finer"])
    assert found == {True, False}
    assert brick(view, 0, 0, 0, 0, field="density", level=5)[0]["finer"] is False


@pytest.mark.parametrize("level", [4, 5, 6])
@pytest.mark.parametrize(("lo", "edge"), [((0.13, 0.2, 0.31), 0.37), ((-0.2, 0.6, 0.4), 0.75), ((0.5, 0.5, 0.5), 0.01)])
@pytest.mark.parametrize("most", [1 << 21, 300])
def test_voxels_of_any_place_beside_brute_force(sample, level, lo, edge, most, monkeypatch):
    """A voxel is the mean of the cells whose centres are in it, else the cell around its centre; put together from parts too."""
    monkeypatch.setattr(bricks, "MOST_CELLS", most)
    ds = octavo.open(sample)
    cells = ds.level(level).cube("density")["density"]
    n, voxel = len(cells), edge / 8
    found, units = bricks.voxels(ds._data, ["density"], None, level, bricks.Block(lo, edge, 8), lambda *_: True)
    centres = (np.arange(n) + 0.5) / n
    for k, j, i in np.ndindex(8, 8, 8):
        low = [a + m * voxel for a, m in zip(lo, (i, j, k), strict=True)]
        inside = [np.flatnonzero((centres >= a) & (centres < a + voxel)) for a in low]
        at = [int(np.floor((a + voxel / 2) * n)) for a in low]
        if any(not 0 <= one < n for one in at):
            assert np.isnan(found[0, k, j, i])
            continue
        rows = [rows if len(rows) and voxel > 1 / n else [one] for rows, one in zip(inside, at, strict=True)]
        assert found[0, k, j, i] == pytest.approx(cells[np.ix_(rows[2], rows[1], rows[0])].mean(), rel=1e-12)
    assert units == {"density": ds._data.fields[0]["unit"]}


def test_conditions_units_and_formulas_of_bricks(view, sample):
    ds = octavo.open(sample)
    _, values = brick(view, 1, 0, 0, 0, field="2*density", where="density > 1")
    expected = ds.where("density > 1").cube("2*density")["2*density"][:32, :32, :32]
    np.testing.assert_allclose(values, expected, rtol=1e-7)
    assert view.get("step/0/brick", field="density", zoom=1, i=2, j=0, k=0)[0] == 400
    assert view.get("step/0/brick", field="densty", zoom=1, i=0, j=0, k=0)[0] == 400


def test_a_brick_reads_only_the_domains_that_cross_it(view, sample):
    facts, _ = brick(view, 3, 0, 0, 0, field="density")
    every, _ = brick(view, 0, 0, 0, 0, field="density")
    assert every["parts_read"] == octavo.open(sample).domains > facts["parts_read"]
    assert facts["bytes_read"] < every["bytes_read"]


def test_flat_data_has_no_volume(data):
    with View(data / "ramses" / "implosion2d_2ranks" / "output_00002") as running:
        status, body = running.get("step/0/brick", field="density", zoom=0, i=0, j=0, k=0)
        assert status == 501 and "3-D" in json.loads(body)["error"]


# ------------------------------------------------------------------ who is let in


def test_only_the_token_opens(view):
    base = f"http://127.0.0.1:{view.port}/"
    for path in ("", "steps", "wrong/steps", view.url.split("/")[3][:-1] + "/steps", "%ff/steps"):
        status, body = view.get(path, url=base)
        assert status == 403 and "token" in json.loads(body)["error"], path


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil:80"])
def test_a_name_that_leads_here_is_refused(view, host):
    assert view.get("steps", headers={"Host": host})[0] in (400, 403)


@pytest.mark.parametrize("host", ["localhost:1234", "127.0.0.1", "LOCALHOST", "[::1]:80"])
def test_a_tunnel_may_have_another_port(view, host):
    assert view.get("steps", headers={"Host": host})[0] == 200


def test_it_listens_on_this_machine_alone(view):
    listening = [
        line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"
    ]
    assert f"0100007F:{view.port:04X}" in listening
    assert f"00000000:{view.port:04X}" not in listening


@pytest.mark.parametrize("path", ["page/../server.py", "page/..%2fserver.py", "page/%2e%2e/work.py", "page//etc/passwd",
                                  "../../etc/passwd", "page/nothing.js", "page/__init__.py", "step/0/../../steps.py"])  # fmt: skip
def test_no_other_file_is_shown(view, path):
    connection = socket.create_connection(("127.0.0.1", view.port))
    with connection:
        connection.sendall(
            f"GET {urllib.parse.urlsplit(view.url).path}{path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode()
        )
        answer = b""
        while block := connection.recv(65536):
            answer += block
    assert b" 404 " in answer.split(b"\r\n")[0] or b" 403 " in answer.split(b"\r\n")[0]
    assert b"import" not in answer and b"root:" not in answer


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_questions_alone_are_answered(view, method):
    assert view.get("steps", method=method)[0] == 405


# ------------------------------------------------------------------ wrong requests


@pytest.mark.parametrize(
    ("path", "words", "status", "says"),
    [
        ("step/7", {}, 400, "no step 7"),
        ("step/0/tile", {"zoom": 0, "column": 0, "row": 0}, 400, "field is missing"),
        ("step/0/tile", {"field": "densty", "zoom": 0, "column": 0, "row": 0}, 400, "densty"),
        ("step/0/tile", {"field": "density+", "zoom": 0, "column": 0, "row": 0}, 400, "density+"),
        ("step/0/tile", {"field": "density", "zoom": 99, "column": 0, "row": 0}, 400, "zoom"),
        ("step/0/tile", {"field": "density", "zoom": 1, "column": 5, "row": 0}, 400, "no tile 5"),
        ("step/0/tile", {"field": "density", "zoom": 1, "column": "1e9", "row": 0}, 400, "column=1e9"),
        ("step/0/tile", {"field": "density", "zoom": 0, "column": 0, "row": 0, "kind": "sum"}, 400, "kind=sum"),
        ("step/0/tile", {"field": "density", "zoom": 0, "column": 0, "row": 0, "at": "nan"}, 400, "at=nan"),
        ("step/0/tile", {"field": "density", "zoom": 0, "column": 0, "row": 0, "unit": "Msun"}, 400, "Msun"),
        ("step/0/tile", {"field": "x" * 5000, "zoom": 0, "column": 0, "row": 0}, 400, "longer"),
        ("step/0/stats", {"field": "density", "region": "cube:1"}, 400, "cube"),
        ("step/0/particles", {"species": "none", "x0": 0, "x1": 1, "y0": 0, "y1": 1}, 400, "no species"),
        ("step/0/edges", {"x0": 0, "x1": 1, "y0": 0, "y1": 1}, 400, "cells have no edges"),
        ("step/0/brick", {"field": "density", "zoom": 99, "i": 0, "j": 0, "k": 0}, 400, "zoom"),
        ("step/0/line", {"field": "density", "start": "0,0,0"}, 400, "end is missing"),
        ("step/0/line", {"field": "density", "start": "0,0,0", "end": "0,0,0"}, 400, "length"),
        ("step/0/lines", {"field": "density", "what": "volume", "towards": "0,0,0", "up": "0,0,1"}, 400, "towards"),
        ("step/0/file", {"field": "density", "pixels": 10**6}, 400, "pixels"),
        ("step/0/file", {"field": "density", "as": "gif", "pixels": 9}, 400, "as=gif"),
        ("step/0/nothing", {}, 404, "no such page"),
        ("nothing", {}, 404, "no such page"),
    ],
)
def test_a_wrong_request_is_told_why(view, path, words, status, says):
    found, body = view.get(path, **words)
    assert found == status
    assert says in json.loads(body)["error"]


VALUES = st.one_of(
    st.text(max_size=30), st.sampled_from(["", "density", "0", "-1", "nan", "inf", "1e400", "0.5", "slice", "integral", "box:0,0,0:1,1,1"]),
    st.integers(-(2**70), 2**70).map(str), st.floats().map(str),
)  # fmt: skip
NAMES = st.sampled_from(
    ["field", "kind", "axis", "at", "zoom", "column", "row", "weight", "where", "unit", "level", "region", "x0", "x1", "y0",
     "y1", "species", "from", "to", "other", "centre", "log", "what", "low", "high", "scale", "colours", "i", "j", "k", "start", "end", "towards", "up", "value", "less_step", "less_field", "as", "pixels"]
)  # fmt: skip
USUAL = {
    "field": "density", "i": "0", "j": "0", "k": "0", "pixels": "8", "start": "0,0.5,0.5", "end": "1,0.5,0.5", "zoom": "0", "column": "0",
    "row": "0", "x0": "0", "x1": "1", "y0": "0", "y1": "1",
}  # fmt: skip


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(
    what=st.sampled_from(
        ["tile", "brick", "line", "file", "stats", "profile", "phase", "particles", "edges", "lines", "tile/x", ""]
    ),
    words=st.dictionaries(NAMES, VALUES, max_size=3),
    usual=st.booleans(),
)
def test_no_request_breaks_it(view, what, words, usual):
    status, body = view.get(f"step/0/{what}", **((USUAL if usual else {}) | words))
    assert status in (200, 400, 404, 501), body
    if status != 200:
        assert json.loads(body)["error"]
    assert view.process.poll() is None


def test_nothing_is_written_beside_the_data(sample):
    def state():
        return {path: path.stat().st_mtime_ns for path in (sample, *sample.rglob("*"))}

    before = state()
    with View(sample) as running:
        running.tile(0, 0, 0, field="density")
        running.json("step/0/stats", field="density")
        running.json("step/0/profile", field="density")
    assert state() == before


# ------------------------------------------------------------------ what is computed and taken away


def test_statistics_profile_and_phase_are_those_of_the_command(view, sample):
    ball = octavo.open(sample).inside("sphere:0.5,0.5,0.5:0.2")
    found = view.json("step/0/stats", field="density", region="sphere:0.5,0.5,0.5:0.2")
    assert found["field"]["integral"] == ball.stats(["density"])["fields"]["density"]["integral"]
    found = view.json("step/0/profile", field="density", region="sphere:0.5,0.5,0.5:0.2", other="radius")
    assert found["fields"]["density"]["mean"] == pytest.approx(
        [None if value != value else value for value in ball.profile("density")["density"]]
    )
    found = view.json("step/0/phase", field="density", region="sphere:0.5,0.5,0.5:0.2", other="pressure")
    np.testing.assert_array_equal(found["weights"], ball.phase("density", "pressure", bins=96).weights)


def test_particles_are_those_in_the_window(view, sample):
    words = {"x0": 0.25, "x1": 0.5, "y0": 0.1, "y1": 0.9}
    known = view.json("step/0")["species"][0]["name"]
    status, body = view.get("step/0/particles", **(words | {"species": known}))
    assert status == 200
    facts, points = tiles.unpacked(body)
    assert facts["count"] == len(points) and facts["parts_read"] > 0 and facts["bytes_read"] > 0
    inside = octavo.open(sample).box((0.25, 0.1, 0), (0.5, 0.9, 1)).particles()
    expected = np.stack([inside["position_x"] - 0.25, inside["position_y"] - 0.1], axis=1)
    np.testing.assert_allclose(np.sort(points, axis=0), np.sort(expected, axis=0), atol=1e-6)
    assert len(points) > 50


@pytest.fixture(scope="module")
def in_units(run, tmp_path_factory):
    """An output that says its units, and a view of it."""
    path = tmp_path_factory.mktemp("units") / "output_00001"
    run("sample", path, "--levels", "3-4", "--domains", 2, "-q")
    info = path / "info_00001.txt"
    text = info.read_text()
    for name, value in (("unit_l", 3.08567758128e23), ("unit_d", 1.67e-24), ("unit_t", 3.15576e15)):
        text = re.sub(rf"^{name} *=.*$", f"{name:<12}={value:23.15E}", text, flags=re.MULTILINE)
    info.write_text(text)
    with View(path) as running:
        yield running, octavo.open(path)


def test_statistics_profile_and_phase_have_the_unit_of_the_picture(in_units):
    (view, ds), words = in_units, {"field": "density", "unit": "H/cc"}
    found = view.json("step/0/stats", **words)["field"]
    expected = ds.stats(["density"], units={"density": "H/cc"})["fields"]["density"]
    assert (
        found["unit"] == "H/cc" and found["max"] == expected["max"] != ds.stats(["density"])["fields"]["density"]["max"]
    )
    found = view.json("step/0/profile", **words)["fields"]["density"]
    expected = ds.profile("density", units={"density": "H/cc"})
    assert found["unit"] == "H/cc" and found["mean"] == pytest.approx(
        [None if value != value else value for value in expected["density"]]
    )
    axis = view.json("step/0/phase", **words, other="pressure")["axes"][0]
    assert axis["unit"] == "H/cc"
    assert axis["edges"] == ds.phase("density", "pressure", bins=96, units={"density": "H/cc"}).axes[0].edges.tolist()


@pytest.mark.parametrize(
    ("region", "centre"),
    [
        ("box:0.25,0.25,0.25:0.5,0.75,0.35", "0.375,0.5,0.3"),
        ("box:0,0,1e-3:0.5,0.5,0.5 - sphere:center:0.1", "0.25,0.25,0.2505"),
        ("sphere:0.3,0.4,0.5:0.2", "0.3,0.4,0.5"),
        ("( shell:0.3,0.4,0.5:0.1:0.2 | box:0,0,0:1,1,1)", "0.3,0.4,0.5"),
        ("sphere:max:density:0.1", "max:density"),
        ("sphere:center:0.1 - cylinder:center:z:0.02:1", "center"),
        ("halfspace:0.5,0.5,0.5:x", "center"),
        ("", "center"),
    ],
)
def test_a_profile_of_a_region_starts_in_its_middle(view, sample, region, centre):
    words = {"field": "density", "other": "radius", "region": region}
    found = view.json("step/0/profile", **words)
    assert found["centre"] == centre
    place = [float(word) for word in centre.split(",")] if centre[0].isdigit() else centre
    chosen = octavo.open(sample).inside(region) if region else octavo.open(sample)
    expected = chosen.profile("density", centre=place)
    assert found["axes"][0]["edges"] == pytest.approx(expected.axes[0].edges)
    lines = view.json("step/0/lines", **words, what="profile", unit="H/cc")
    assert f"--centre={centre}" in lines["command"] and "--unit=density=H/cc" in lines["command"]


@pytest.mark.parametrize("what", ["stats", "profile", "phase"])
def test_lines_of_tables_with_a_unit_run(in_units, what, tmp_path):
    view, _ = in_units
    lines = view.json("step/0/lines", field="density", unit="H/cc", what=what, other="pressure")
    for words in ([OCTAVO, *shlex.split(lines["command"])[1:]], [sys.executable, "-c", lines["python"]]):
        done = forked_command.run(words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        for made in tmp_path.iterdir():
            made.unlink()


def test_particles_by_family_and_their_bytes(data):
    """Of a run with dark matter alone; and sinks of a table that lies there."""
    path = data / "ramses" / "dm_gas_gravity3d_3ranks" / "output_00002"
    ds = octavo.open(path)
    whole = {"x0": ds._data.lo[0], "x1": ds._data.hi[0], "y0": ds._data.lo[1], "y1": ds._data.hi[1]}
    with View(path) as running:
        offered = running.json("step/0")["particles"]
        assert {"dm", "star", "cloud"} <= set(offered)
        for name in offered:
            facts, points = tiles.unpacked(running.get("step/0/particles", **whole, species=name)[1])
            expected = len(next(iter(ds.particles(name).values()), ()))
            assert facts["count"] == expected and len(points) == min(expected, len(points)), name
            assert facts["bytes_read"] > 0
        assert len(ds.particles("dm")["identity"]) > 0
        status, body = running.get("step/0/particles", **whole, species="planets")
        assert status == 400 and "planets" in json.loads(body)["error"]


@pytest.mark.parametrize("kind", ["slice", "mean"])
def test_lines_reproduce_the_picture(view, sample, kind, tmp_path):
    words = {"field": "density", "kind": kind, "axis": "x", "at": 0.3, "where": "density > 0.5", "x0": 0.25, "x1": 0.5,
             "y0": 0.5, "y1": 0.75, "low": 0.1, "high": 10, "scale": "log", "colours": "magma"}  # fmt: skip
    lines = view.json("step/0/lines", **words)
    command = shlex.split(lines["command"])
    assert command[0] == "octavo"
    done = forked_command.run([OCTAVO, *command[1:-1], tmp_path / "a.npy", "--pixels", "256"])
    assert done.returncode == 0, done.stderr
    _, expected = view.tile(2, 1, 2, **{name: words[name] for name in ("field", "kind", "axis", "at", "where")})
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), expected, rtol=3e-7)
    done = forked_command.run([OCTAVO, *command[1:]], cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "view.png").exists(), done.stderr
    (tmp_path / "view.png").unlink()
    done = forked_command.run([sys.executable, "-c", lines["python"]], cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "view.png").exists(), done.stderr


@pytest.mark.parametrize("what", ["stats", "profile", "phase"])
def test_lines_of_tables_run(view, what, tmp_path):
    other = "pressure" if what == "phase" else "radius"
    lines = view.json("step/0/lines", field="density", what=what, region="sphere:0.5,0.5,0.5:0.2", other=other)
    for words in ([OCTAVO, *shlex.split(lines["command"])[1:]], [sys.executable, "-c", lines["python"]]):
        done = forked_command.run(words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_lines_of_a_line_run(view, sample, tmp_path):
    words = {"field": "density", "start": "0.1,0.2,0.3", "end": "0.9,0.7,0.5", "where": "density > 0.1"}
    found = view.json("step/0/line", **words)
    expected = octavo.open(sample).where("density > 0.1").line("density", (0.1, 0.2, 0.3), (0.9, 0.7, 0.5))
    np.testing.assert_array_equal(found["values"], expected["density"])
    np.testing.assert_array_equal(found["at"], np.stack([expected.entry, expected.exit], axis=1))
    lines = view.json("step/0/lines", what="line", **words)
    for words in ([OCTAVO, *shlex.split(lines["command"])[1:]], [sys.executable, "-c", lines["python"]]):
        done = forked_command.run(words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert len((tmp_path / "line.csv").read_text().splitlines()) > len(expected)


def test_a_long_line_reads_no_level_that_is_finer_than_the_screen(sample, monkeypatch):
    monkeypatch.setattr(answers, "LINE_CELLS", 20)
    found = answers.line(octavo.open(sample), tiles.Look("density"), None, "0,0.51,0.51", "1,0.51,0.51")
    assert min(end - begin for begin, end in found["at"]) == pytest.approx(1 / 32)  # of level 5


def test_the_line_through_triangles(data):
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    ds = octavo.open(path)
    found = answers.line(ds, tiles.Look("WATER DEPTH"), None, "0.2,0.2", "0.6,0.3")
    expected = ds.line("WATER DEPTH", "0.2,0.2", "0.6,0.3")
    np.testing.assert_array_equal(found["values"], expected["WATER DEPTH"])
    np.testing.assert_array_equal(found["at"], expected.distance)


@pytest.mark.parametrize("kind", ["slice", "max"])
def test_lines_of_a_difference_make_it(run, sample, kind, tmp_path):
    """The copied words make the difference of the two tiles, in Python and in a shell."""
    later = tmp_path / "output_00008"
    run("sample", later, "--domains", 2, "--levels", "4-5", "--seed", 5, "-q")
    with View(sample, later) as running:
        words = {"field": "density", "kind": kind, "less_step": 0, "less_field": "density", "less_kind": kind}
        lines = running.json("step/1/lines", x0=0, x1=1, y0=0, y1=1, low=-1, high=1, **words)
        before, after = (
            running.get(f"step/{n}/tile", field="density", kind=kind, zoom=0, column=0, row=0)[1] for n in (0, 1)
        )
        status, pdf = running.get("step/1/file", x0=0, x1=1, y0=0, y1=1, pixels=100, **{**words, "as": "pdf"})
        assert status == 200 and pdf.startswith(b"%PDF")
    made = lines["python"].replace("view.png", "view.npy").replace("octavo.open(", "octavo.open(")
    exec(compile(made.replace("'view.npy'", repr(str(tmp_path / "view.npy"))), "copied", "exec"), {})
    found = np.load(tmp_path / "view.npy")[2::4, 2::4]  # 1024 pixels
    np.testing.assert_allclose(found, tiles.unpacked(after)[1] - tiles.unpacked(before)[1], atol=1e-6)
    python = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-c", lines["command"]], capture_output=True, text=True, cwd=tmp_path, env={"PATH": python}
    )
    assert done.returncode == 0 and (tmp_path / "view.png").exists(), done.stderr


def test_pictures_of_other_windows_have_no_difference(sample):
    ds = octavo.open(sample)
    with pytest.raises(UsageError, match="different windows"):
        ds.slice("density", pixels=64) - ds.slice("density", pixels=32)
    with pytest.raises(UsageError, match="one picture is in"):
        ds.map("density", pixels=64) - ds.map("density", kind="max", pixels=64)


def test_lines_of_volumes_run(view, sample, tmp_path):
    words = {"field": "density", "towards": "1,0.5,0.3", "up": "0,0,1", "value": 1.5, "unit": ""}
    for what, made in (("volume", "view.png"), ("surface", "view.ply")):
        lines = view.json("step/0/lines", what=what, **words)
        for words_ in ([OCTAVO, *shlex.split(lines["command"])[1:]], [sys.executable, "-c", lines["python"]]):
            done = forked_command.run(words_, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            (tmp_path / made).unlink()


def test_files_hold_the_picture(view, sample):
    window = {"field": "density", "kind": "max", "x0": 0.25, "x1": 0.75, "y0": 0.5, "y1": 1, "pixels": 128}
    status, body = view.get(
        "step/0/file", **window, **{"as": "pdf", "low": 0.1, "high": 10, "scale": "log", "colours": "magma"}
    )
    assert status == 200 and body.startswith(b"%PDF") and len(body) > 5000
    status, body = view.get("step/0/file", **window, **{"as": "tif"})
    rasterio = pytest.importorskip("rasterio")
    assert status == 200, body
    with rasterio.MemoryFile(body) as memory, memory.open() as file:
        assert file.bounds == (0.25, 0.5, 0.75, 1.0)
        expected = octavo.open(sample).inside("box:0.25,0.5,0:0.75,1,1").map("density", kind="max", pixels=128).values
        np.testing.assert_allclose(file.read(1)[::-1], expected, rtol=1e-12)


def test_a_missing_library_is_a_sentence(sample, tmp_path):
    (tmp_path / "rasterio.py").write_text("raise ImportError('none here')")
    with View(sample, environment={"PYTHONPATH": str(tmp_path)}) as running:
        words = {"field": "density", "x0": 0, "x1": 1, "y0": 0, "y1": 1, "pixels": 8, "as": "tif"}
        status, body = running.get("step/0/file", **words)
    assert status == 501 and "rasterio" in json.loads(body)["error"] and "pip install" in json.loads(body)["hint"]


# ------------------------------------------------------------------ other data


def test_triangles_over_time(data, tmp_path):
    paths = sorted((data / "serafin").rglob("*.slf"))
    path = next(
        path for path in paths if len(octavo.steps(path)) > 2 and any("DEPTH" in f for f in octavo.open(path).fields)
    )
    with View(path) as running:
        facts = running.json("step/1")
        assert facts["triangles"] and facts["levels"] == []
        field = next(row["name"] for row in facts["fields"] if "DEPTH" in row["name"])
        ds = octavo.open(path, step=1)
        status, body = running.get("step/1/tile", field=field, zoom=0, column=0, row=0)
        assert status == 200, body
        np.testing.assert_allclose(tiles.unpacked(body)[1], ds.map(field, pixels=256).values, rtol=1e-6)
        (x0, y0), (x1, y1) = facts["lo"], facts["hi"]
        status, body = running.get("step/1/edges", x0=x0, x1=x1, y0=y0, y1=y1)
        edges_facts, edges = tiles.unpacked(body)
        assert status == 200 and edges.shape == (edges_facts["count"], 4) and edges_facts["bytes_read"] > 0
        assert running.get("step/1/tile", field=field, zoom=0, column=0, row=0, axis="x")[0] == 400


def test_flat_cells(data):
    with View(data / "ramses" / "implosion2d_2ranks" / "output_00002") as running:
        ds = octavo.open(data / "ramses" / "implosion2d_2ranks" / "output_00002")
        facts, values = running.tile(0, 0, 0, field="density")
        assert facts["label"] == "density"  # not: slice at z = 0.5
        np.testing.assert_allclose(values, ds.slice("density", pixels=256).values, rtol=1e-7)
        status, body = running.get("step/0/tile", field="density", axis="x", zoom=0, column=0, row=0)
        assert status == 400 and "2-D" in json.loads(body)["error"]


def test_files_that_vanish_are_said(run, tmp_path):
    path = tmp_path / "output_00003"
    run("sample", path, "--domains", 2, "--levels", "3-4", "-q")
    with View(path) as running:
        running.tile(0, 0, 0, field="density")
        path.rename(tmp_path / "elsewhere")
        status, body = running.get("step/0/tile", field="pressure", zoom=0, column=0, row=0)
        assert status == 404 and "output_00003" in str(json.loads(body)["places"])
        (tmp_path / "elsewhere").rename(path)
        assert running.get("step/0/tile", field="pressure", zoom=0, column=0, row=0)[0] == 200


def test_a_run_that_goes_on(run, tmp_path):
    for number, seed in ((3, 1), (4, 2)):
        run("sample", tmp_path / f"output_0000{number}", "--domains", 2, "--levels", "3-4", "--seed", seed, "-q")
    run("convert", tmp_path / "output_00003", tmp_path / "run.octavo", "-q")
    with View(tmp_path / "run.octavo") as running:
        assert [row["step"] for row in running.json("steps")["steps"]] == [3]
        assert "--step" not in running.json("step/0/lines", field="density", what="stats")["command"]
        run("convert", tmp_path / "output_00004", tmp_path / "run.octavo", "--append", "-q")
        assert [row["step"] for row in running.json("steps")["steps"]] == [3, 4]
        status, body = running.get("step/1/tile", field="density", zoom=0, column=0, row=0)
        assert status == 200
        expected = octavo.open(tmp_path / "output_00004").slice("density", pixels=256).values
        np.testing.assert_allclose(tiles.unpacked(body)[1], expected, rtol=1e-7)
        assert "--step 3" in running.json("step/0/lines", field="density", what="stats")["command"]
        shutil.rmtree(tmp_path / "run.octavo")
        assert len(running.json("steps")["steps"]) == 2


# ------------------------------------------------------------------ start and end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(sample, number):
    running = View(sample)
    stop = threading.Event()

    asked = 0

    def keep_busy():
        nonlocal asked
        while not stop.is_set():
            asked += 1
            try:
                running.get("step/0/tile", field=f"density*{time.time()}", kind="integral", zoom=0, column=0, row=0)
            except (OSError, http.client.HTTPException):
                return

    busy = threading.Thread(target=keep_busy)
    busy.start()
    until(lambda: asked > 3)
    running.process.send_signal(number)
    _, errors = running.process.communicate(timeout=BOUND)
    stop.set()
    busy.join()
    assert running.process.returncode == 0
    assert "Traceback" not in errors and "error" not in errors


def test_a_port_that_is_taken(view, run):
    done = run("view", "--port", view.port, "--no-browser", Path(__file__).parent, check=False)
    assert done.returncode == 3  # the path is looked at first
    done = subprocess.run([OCTAVO, "view", "x", "--port", "99999"], capture_output=True, text=True)
    assert done.returncode == 2 and "1 to 65535" in done.stderr


def test_a_taken_port_of_good_data(view, sample, run):
    done = run("view", sample, "--port", view.port, "--no-browser", check=False)
    assert done.returncode == 2 and f"port {view.port} is taken" in done.stderr


def test_paths_without_data(run, tmp_path):
    done = run("view", tmp_path / "nothing", "--no-browser", check=False)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    done = run("view", tmp_path, "--no-browser", check=False)
    assert done.returncode in (2, 3) and "Traceback" not in done.stderr


def test_without_its_packages_it_says_so(sample):
    code = f"import sys; sys.modules['uvicorn'] = None; from octavo.cli import main; sys.exit(main(['view', {str(sample)!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 4
    assert "uvicorn" in done.stderr and "pip install" in done.stderr and "Traceback" not in done.stderr


# ------------------------------------------------------------------ work


def work(**changes):
    return Work(**({"at_once": 1, "waiting": 3, "kept": 1000, "on_signal": lambda: None} | changes))


async def forever():
    await asyncio.Event().wait()


def test_a_job_that_many_ask_for_is_done_once():
    calls = []

    def job(_):
        calls.append(1)
        time.sleep(0.05)
        return b"answer"

    async def main():
        jobs = work()
        answers = await asyncio.gather(*(jobs.do("key", job, forever) for _ in range(8)))
        answers.append(await jobs.do("key", job, forever))
        jobs.close()
        return answers

    assert asyncio.run(main()) == [b"answer"] * 9
    assert len(calls) == 1


def test_work_stops_when_all_who_asked_have_gone():
    stopped = threading.Event()

    def job(goes_on):
        while goes_on(0, 1):
            time.sleep(0.005)
        stopped.set()
        raise Interrupted("stopped")

    async def main():
        signals = []
        jobs = work(on_signal=lambda: signals.append(1))
        left = asyncio.Event()

        async def gone():
            await left.wait()

        async def leave():
            await asyncio.sleep(0.05)
            left.set()

        with pytest.raises(Gone):
            await asyncio.gather(jobs.do("slow", job, gone), leave())
        assert await jobs.do("next", lambda _: b"next", forever) == b"next"
        jobs.close()
        return signals

    assert asyncio.run(main()) == []
    assert stopped.wait(BOUND)


def test_a_job_that_a_signal_stopped_is_told():
    def job(_):
        raise Interrupted("stopped")

    async def main():
        signals = []
        jobs = work(on_signal=lambda: signals.append(1))
        with pytest.raises(Interrupted):
            await jobs.do("key", job, forever)
        jobs.close()
        return signals

    assert asyncio.run(main()) == [1]


def test_more_than_can_wait_is_refused():
    free = threading.Event()

    async def main():
        jobs = work()
        waiting = [asyncio.ensure_future(jobs.do(i, lambda _: b"%d" % free.wait(BOUND), forever)) for i in range(4)]
        await asyncio.sleep(0.01)
        with pytest.raises(Busy):
            await jobs.do("more", lambda _: b"", forever)
        free.set()
        assert await asyncio.gather(*waiting) == [b"1"] * 4
        jobs.close()

    asyncio.run(main())


def test_the_newest_is_done_first():
    free, order = threading.Event(), []

    async def main():
        jobs = work(waiting=10)

        def job(name):
            return lambda _: (free.wait(BOUND), order.append(name), b"")[2]

        waiting = []
        for name in "abcd":
            waiting.append(asyncio.ensure_future(jobs.do(name, job(name), forever)))
            await asyncio.sleep(0.01)
        free.set()
        await asyncio.gather(*waiting)
        jobs.close()

    asyncio.run(main())
    assert order == ["a", "d", "c", "b"]


def test_long_jobs_leave_a_thread_to_short_ones():
    free, began = threading.Event(), []

    def long_job(name):
        return lambda _: (began.append(name), free.wait(BOUND), b"")[2]

    async def main():
        jobs = work(at_once=2, waiting=10)
        waiting = [asyncio.ensure_future(jobs.do(name, long_job(name), forever, long=True)) for name in "ab"]
        while not began:
            await asyncio.sleep(0.001)
        assert await asyncio.wait_for(jobs.do("tile", lambda _: b"tile", forever), BOUND) == b"tile"
        assert began == ["a"]
        free.set()
        await asyncio.gather(*waiting)
        jobs.close()

    asyncio.run(main())
    assert began == ["a", "b"]


def test_kept_answers_are_bounded():
    kept = Kept(100)
    for i in range(50):
        kept.put(i, b"x" * 30)
        assert kept.held <= 100
    assert kept.get(49) and kept.get(0) is None
    kept.put("large", b"x" * 101)
    assert kept.get("large") is None and kept.held == 0
    kept.put("a", b"xx")
    kept.put("a", b"xxx")
    assert kept.held == 3


def test_eight_views_stay_responsive_within_memory(sample):
    with View(sample) as running:
        words = [
            {"field": field, "kind": kind}
            for field in ("density", "pressure")
            for kind in ("slice", "integral", "max", "min")
        ]
        waits = []

        def look(of):
            for k in range(16):
                begin = time.monotonic()
                running.tile(2, k % 4, k // 4, **of)
                waits.append(time.monotonic() - begin)

        threads = [threading.Thread(target=look, args=(of,)) for of in words]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        peak = next(
            line for line in Path(f"/proc/{running.process.pid}/status").read_text().splitlines() if "VmHWM" in line
        )
    assert len(waits) == 128 and max(waits) < BOUND
    assert int(peak.split()[1]) < 300 * 1024


# ------------------------------------------------------------------ damage


@pytest.fixture(scope="module")
def damaged(run, tmp_path_factory):
    """A sample of 8 domains, whole, and with domain 3's hydro file cut off."""
    folder = tmp_path_factory.mktemp("damaged")
    whole_path, path = folder / "whole" / "output_00001", folder / "output_00001"
    whole_path.parent.mkdir()
    run("sample", whole_path, "--levels", "3-5", "--domains", 8, "-q")
    shutil.copytree(whole_path, path)
    victim = path / "hydro_00001.out00003"
    victim.write_bytes(victim.read_bytes()[:100])
    return whole_path, path


@pytest.mark.parametrize("kind", tiles.KINDS)
def test_a_damaged_domain_is_named_and_left_out(damaged, kind):
    """Values of the rest are right, and no pixel shows what lacks the domain."""
    sound = octavo.open(damaged[0])
    with View(damaged[1]) as running:
        facts, values = running.tile(0, 0, 0, field="density", kind=kind)
        assert len(facts["damaged"]) == 1
        assert "domain 3 is damaged" in facts["damaged"][0] and "hydro_00001.out00003" in facts["damaged"][0]
    right = (
        sound.slice("density", pixels=256) if kind == "slice" else sound.map("density", kind=kind, pixels=256)
    ).values
    shown = np.isfinite(values)
    assert 0.05 < (~shown).mean() < 0.9
    np.testing.assert_allclose(values[shown], right[shown], rtol=3e-7)
    alone = octavo.dataset.Dataset(octavo._core.only_parts(sound._data, [2])).map("1", pixels=256).values
    if kind != "slice":
        np.testing.assert_array_equal(alone > 1e-6, ~shown)


def test_a_brick_lacks_the_damaged_domain_alone(damaged):
    with View(damaged[1]) as running:
        facts, values = brick(running, 0, 0, 0, 0, field="density")
    assert len(facts["damaged"]) == 1 and "domain 3 is damaged" in facts["damaged"][0]
    whole_one = octavo.open(damaged[0]).cube("density")["density"]
    shown = np.isfinite(values)
    assert 0.01 < (~shown).mean() < 0.5
    np.testing.assert_allclose(values[shown], whole_one[shown], rtol=1e-7)


def test_definitions_of_the_view_are_fields_everywhere(sample, tmp_path):
    """--define and --definitions: pictures, bricks, answers, and the lines that do it again."""
    (tmp_path / "own.toml").write_text('twice = "2*temperature"\n')
    ds = octavo.open(sample).derive("twice", "2*temperature").derive("mu", "0.6")
    with View(sample, "--define", "mu=0.6", "--definitions", tmp_path / "own.toml") as running:
        derived = running.json("step/0")["derived"]
        assert {"mu", "twice", "temperature", "mach_number"} <= set(derived) and len(set(derived)) == len(derived)
        for kind in ("slice", "mean"):
            _, values = running.tile(0, 0, 0, field="twice", kind=kind, weight="temperature", where="temperature > 0")
            alone = (
                ds.slice("twice", pixels=256) if kind == "slice" else ds.map("twice", weight="temperature", pixels=256)
            )
            np.testing.assert_allclose(values, alone.values, rtol=1e-6)
        status, body = running.get("step/0/brick", field="twice", zoom=0, i=0, j=0, k=0)
        assert status == 200 and np.nanmax(tiles.unpacked(body)[1]) > 0, body
        found = running.json("step/0/stats", field="twice", region="sphere:center:0.2")["field"]
        assert found["max"] == ds.sphere("center", 0.2).stats("twice")["fields"]["twice"]["max"]
        lines = running.json("step/0/lines", field="twice", x0=0, x1=1, y0=0, y1=1)
        command = shlex.split(lines["command"])
        assert {"--define=mu=0.6", "--define=twice=2*temperature"} <= set(command)
        made = {}
        exec(lines["python"].replace("view.png", str(tmp_path / "view.png")), made)
        assert (tmp_path / "view.png").exists() and made["picture"].label.startswith("twice, slice")


def test_fields_that_lack_a_constant_are_not_offered(view):
    derived = view.json("step/0")["derived"]
    assert "mach_number" in derived and "temperature" not in derived
    status, body = view.get("step/0/tile", field="temperature", zoom=0, column=0, row=0)
    assert status == 400 and b"mu, the mean mass of a particle" in body and b"--define mu=0.6" in body
