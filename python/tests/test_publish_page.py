"""The site that `octavo publish` writes, in a browser, by Python's own web server."""

from __future__ import annotations

import functools
import http.server
import threading

import numpy as np
import pytest

browser = pytest.importorskip("test_view_page")
import test_publish  # noqa: E402

pytestmark = browser.pytestmark
driver, store, site = browser.driver, test_publish.store, test_publish.site


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Served:
    """The site by Python's own web server, below another path than the root, as archives have it."""

    def __init__(self, folder):
        handler = functools.partial(Quiet, directory=str(folder.parent))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/{folder.name}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def served(site):
    running = Served(site)
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def page(driver, served):
    yield browser.Page(driver, served).open("field=density")
    assert not [row for row in driver.get_log("browser") if row["level"] == "SEVERE"]


def test_the_site_shows_what_the_view_shows(driver, served, store):
    words = "field=density&kind=max&axis=x&step=1&colours=magma"
    shown = browser.Page(driver, served).open(words).pixels()
    with browser.View(store) as running:
        live = browser.Page(driver, running).open(words).pixels()
    assert (shown == live).all() and len(np.unique(shown[..., 0])) > 20


def test_controls_of_a_site(page):
    assert page.find("#about-title").text == "A box"
    for name in ("where", "region", "copy-command", "save-tif", "do-profile", "line"):
        assert not page.find(f"#{name}").is_displayed(), name
    kinds = page.run(
        "return [...document.getElementById('kind').options].filter((o) => !o.disabled).map((o) => o.value)"
    )
    assert kinds == ["slice", "max", "volume", "peak", "surface"]
    page.slide("at", 0.1)
    assert "at=0.25" in page.address()
    page.press("]")
    assert "at" not in page.address()  # 0.5
    page.radio("axis", "x")
    before = page.pixels()
    page.slide("time", 1)
    assert (page.pixels() != before).any()
    page.find("#do-stats").click()
    assert "Statistics" in page.answer()
    page.radio("mode", "difference")
    assert "B \u2212 A" in page.find("figcaption").text
    page.write("field", "temperature")
    assert page.value("field") == "density"  # what there is


def test_zooms_beyond_the_last_stay_sharp_pixels(page):
    page.press("+++++++++")
    text = page.at(0.5, 0.5)
    assert "density = " in text


def test_volumes_of_a_site(page):
    page.choose("kind", "peak")
    assert (page.pixels()[..., 3] > 0).mean() > 0.1
