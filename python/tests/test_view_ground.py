"""The map under triangles in `octavo view`: which squares of a tile server, where, and in the page."""

from __future__ import annotations

import http.server
import io
import json
import math
import re
import threading
import urllib.parse

import numpy as np
import pytest
from conftest import until

browser = pytest.importorskip("test_view_page")
pytest.importorskip("rasterio")
from octavo.errors import UsageError  # noqa: E402
from octavo.view import ground  # noqa: E402

driver = browser.driver
HALF = 20037508.342789244


@pytest.mark.parametrize(("longitude", "latitude", "x", "y"), [
    (2.2945, 48.8584, 648237.3, 6862271.7), (6.7575, 43.5122, 1003718.0, 6276062.0),
])  # fmt: skip
def test_squares_lie_where_the_slippy_map_has_them(longitude, latitude, x, y):
    """By the formula of tile numbers from degrees, for places whose Lambert 93 coordinates are known to a few hundred metres."""
    under = ground.ground_of("https://tiles.example.org/{z}/{x}/{y}.png", "EPSG:2154")
    found = ground.squares(under, (x - 4000, y - 3000), (x + 4000, y + 3000), 800)
    n = 2 ** found[0]["z"]
    column = math.floor((longitude + 180) / 360 * n)
    row = math.floor((1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2 * n)
    near = [one for one in found if abs(one["x"] - column) <= 0 and abs(one["y"] - row) <= 0]
    assert len(near) == 1
    (left, top), right, down = near[0]["corners"]
    along = ((x - left) * (right[0] - left) + (y - top) * (right[1] - top)) / math.dist((left, top), right) ** 2
    below = ((x - left) * (down[0] - left) + (y - top) * (down[1] - top)) / math.dist((left, top), down) ** 2
    slack = 500 / math.dist((left, top), right)
    assert -slack < along < 1 + slack and -slack < below < 1 + slack


def test_squares_cover_a_window_and_are_few():
    under = ground.ground_of("https://tiles.example.org/{z}/{x}/{y}.png", "EPSG:3857")
    for lo, hi, pixels in (((0, 0), (17000, 9000), 800), ((-2e7, -2e7), (2e7, 2e7), 2048), ((5, 5), (6, 6), 500)):
        found = ground.squares(under, lo, hi, pixels)
        assert 1 <= len(found) <= ground.MOST_SQUARES
        corners = np.array([one["corners"] for one in found])
        assert corners[:, 0, 0].min() <= lo[0] and corners[:, 1, 0].max() >= hi[0]
        assert corners[:, 2, 1].min() <= lo[1] and corners[:, 0, 1].max() >= hi[1]
        size = 2 * HALF / 2 ** found[0]["z"]
        assert len({(one["x"], one["y"]) for one in found}) == len(found)
        for one in found:
            assert one["corners"][0] == pytest.approx([one["x"] * size - HALF, HALF - one["y"] * size], abs=1e-3)


@pytest.mark.parametrize(("template", "crs"), [
    ("https://tiles.example.org/{z}/{x}/{y}.png", None), ("https://tiles.example.org/", "EPSG:2154"),
    ("file:///etc/{z}/{x}/{y}", "EPSG:2154"), ("https://a b;c/{z}/{x}/{y}", "EPSG:2154"),
    ("https://tiles.example.org/{z}/{x}/{y}.png", "EPSG:1"),
])  # fmt: skip
def test_wrong_maps_are_told(template, crs):
    with pytest.raises(UsageError):
        ground.ground_of(template, crs)


def colour_of(x, y):
    return (37 * x % 200 + 20, 91 * y % 200 + 20, 60)


class Squares(http.server.BaseHTTPRequestHandler):
    """A tile server: squares of one colour each."""

    def do_GET(self):
        from PIL import Image

        _, x, y = (int(number) for number in re.findall(r"\d+", self.path))
        out = io.BytesIO()
        Image.new("RGB", (256, 256), colour_of(x, y)).save(out, "PNG")
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(out.getvalue())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def tile_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Squares)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{{z}}/{{x}}/{{y}}.png"
    server.shutdown()
    server.server_close()


@browser.pytestmark
def test_the_map_lies_under_the_water(driver, data, tile_server):
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    with browser.View(path, "--crs", "EPSG:3857", "--map-tiles", tile_server) as running:
        page = browser.Page(driver, running).open("ground=0")
        bare = page.pixels()
        page.find("#ground").click()
        x, y, w = page.frame()
        height, width = bare.shape[:2]
        pixel = w / width
        words = {
            "x0": x - w / 2,
            "x1": x + w / 2,
            "y0": y - pixel * height / 2,
            "y1": y + pixel * height / 2,
            "pixels": width,
        }
        status, body = running.get("step/0/ground", **words)
        assert status == 200
        size = 2 * HALF / 2 ** json.loads(body)["squares"][0]["z"]
        expected = {}
        for row, column in ((60, width - 20), (60, width // 2), (height // 2, width - 20), (height - 20, width - 20)):
            if bare[row, column, 3]:
                continue  # the mesh
            at = (
                (x - w / 2 + (column + 0.5) * pixel + HALF) / size,
                (HALF - (y + pixel * height / 2 - (row + 0.5) * pixel)) / size,
            )
            if min(part % 1 for part in at) * size < 3 * pixel or max(part % 1 for part in at) > 1 - 3 * pixel / size:
                continue  # near a side
            expected[row, column] = colour_of(*map(int, at))
        assert len(expected) >= 2

        def shown():
            pixels = page.pixels().astype(int)
            return all(np.abs(pixels[at][:3] - colour).max() <= 3 for at, colour in expected.items())

        until(shown)
        assert urllib.parse.urlsplit(tile_server).netloc in page.find("figcaption").text
        page.find("#save").click()  # the canvas may be read
        browser.downloaded(driver, "png")
        page.find("#ground").click()
        page.settled()
        assert (page.pixels() == bare).all() and "ground=0" in page.address()
    assert not [row for row in driver.get_log("browser") if row["level"] == "SEVERE"]


@browser.pytestmark
def test_a_tile_server_that_is_not_there_is_told(driver, data):
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    with browser.View(path, "--crs", "EPSG:3857", "--map-tiles", "http://127.0.0.1:9/{z}/{x}/{y}.png") as running:
        page = browser.Page(driver, running)
        page.driver.get(f"{running.url}#")
        page.says("127.0.0.1:9 gives no map")
        page.find("#ground").click()
        page.settled()
        assert not page.find("#message").is_displayed()
    driver.get_log("browser")


def test_a_view_without_a_map_asks_for_none(sample):
    with browser.View(sample) as running:
        assert running.json("steps")["ground"] is None
        assert running.get("step/0/ground", x0=0, x1=1, y0=0, y1=1, pixels=9)[0] == 400
