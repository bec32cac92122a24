"""Volumes in the page of `octavo view`, judged by their pixels: beside the library's maps by camera, and shapes whose projection is known."""

from __future__ import annotations

import urllib.parse

import numpy as np
import pytest

browser = pytest.importorskip("test_view_page")
from selenium.webdriver.common.keys import Keys  # noqa: E402

import octavo  # noqa: E402

pytestmark = browser.pytestmark
driver = browser.driver


@pytest.fixture(scope="module")
def view(sample):
    with browser.View(sample) as running:
        yield running


@pytest.fixture(scope="module")
def even(run, tmp_path_factory):
    """The view of a sample of 64^3 cells, in which shapes are round."""
    path = tmp_path_factory.mktemp("even") / "output_00001"
    run("sample", path, "--domains", 2, "--levels", "6-6", "-q")
    with browser.View(path) as running:
        yield running


@pytest.fixture
def balls(page, even):
    page.view = even
    return page


@pytest.fixture
def page(driver, view):
    driver.get("about:blank")  # a volume that shows would be drawn again in each size
    browser.resize(driver, 900, 420)  # rays are computed without a graphics card here
    yield browser.Page(driver, view)
    assert not [
        row for row in driver.get_log("browser") if row["level"] == "SEVERE" and "status of 4" not in row["message"]
    ]
    driver.get("about:blank")
    browser.resize(driver, 1000, 640)


def ball(x, y, z):
    """A field that is above 0.3 in a ball of radius 0.2 around a place."""
    return f"0.5-sqrt((x-{x})^2+(y-{y})^2+(z-{z})^2)"


def look(**words):
    return urllib.parse.urlencode({"kind": "surface", "value": 0.3, "w": 2, "cx": 0.5, "cy": 0.5, "cz": 0.5} | words)


def inside(page):
    """Where a surface shows: pixels that are neither empty nor lines of the frame."""
    pixels = page.pixels().astype(int)
    grey = np.ptp(pixels[..., :3], axis=2) < 25
    return (pixels[..., 3] > 250) & ~grey


def middle_of(mask):
    rows, columns = np.nonzero(mask)
    return columns.mean(), rows.mean()


def seen_at(place, turn, tilt, width, height, w):
    """Where an orthographic camera that turns around the middle of the domain shows a place, in pixels."""
    a, b = np.radians([turn, tilt])
    right, up = (
        np.array([-np.sin(a), np.cos(a), 0]),
        np.array([-np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b)]),
    )
    off, pixel = np.array(place) - 0.5, w / width
    return width / 2 + right @ off / pixel, height / 2 - up @ off / pixel


@pytest.mark.parametrize(("turn", "tilt"), [(0, 0), (30, 20), (-120, 65), (-90, 90)])
def test_a_ball_is_a_disc_from_every_side_and_moves_as_the_camera_turns(balls, turn, tilt):
    place = (0.7, 0.4, 0.35)
    balls.open(look(field=ball(*place), turn=turn, tilt=tilt))
    mask = inside(balls)
    height, width = mask.shape
    radius = 0.2 / 2 * width
    assert mask.sum() == pytest.approx(np.pi * radius**2, rel=0.06)
    expected = seen_at(place, turn, tilt, width, height, 2)
    assert middle_of(mask) == pytest.approx(expected, abs=2.5)
    rows, columns = np.nonzero(mask)
    away = np.hypot(columns - expected[0], rows - expected[1])
    assert away.max() < 1.08 * radius  # round


def test_light_makes_it_round(balls):
    balls.open(look(field=ball(0.5, 0.5, 0.5), turn=0, tilt=0))
    pixels = balls.pixels()[..., :3].astype(float).sum(axis=2)
    mask = inside(balls)
    x, y = (round(at) for at in middle_of(mask))
    edge = round(0.85 * 0.1 * mask.shape[1])
    assert pixels[y, x] > 1.15 * pixels[y + edge, x]


@pytest.mark.parametrize(("turn", "tilt"), [(-90, 90), (35, 25)])
def test_the_maximum_is_that_of_the_map_by_the_same_camera(page, sample, turn, tilt):
    """Beside rays with exact chords: the same values, but for rays that pass a corner of a cell between two samples."""
    page.open(
        look(
            field="density", kind="peak", turn=turn, tilt=tilt, scale="linear", low=0, high=4, follow=0, colours="gray"
        )
    )
    pixels = page.pixels()
    height, width = pixels.shape[:2]
    a, b = np.radians([turn, tilt])
    towards = (np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b))
    up = (-np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b))
    found = octavo.open(sample).map("density", camera=towards, up=up, kind="max", pixels=512)
    x0, x1 = found.extent[:2]
    size = (x1 - x0) / found.values.shape[1]
    close = total = 0
    for j in range(8, found.values.shape[0] - 8, 7):
        for i in range(8, found.values.shape[1] - 8, 7):
            value = found.values[j, i]
            # the map's window is around the domain's shadow, and so has its middle in the middle
            x = width / 2 + (i + 0.5 - found.values.shape[1] / 2) * size * width / 2
            y = height / 2 - (j + 0.5 - found.values.shape[0] / 2) * size * width / 2
            if not np.isfinite(value) or not (0 <= x < width and 0 <= y < height) or pixels[int(y), int(x), 3] < 250:
                continue
            total += 1
            close += abs(int(pixels[int(y), int(x), 0]) - 255 * min(1, value / 4)) < 12
    assert total > 500 and close > 0.9 * total, (close, total)


def test_fog_thickens_with_opacity(page):
    page.open(look(field="density", kind="volume", opacity=0.2, turn=20, tilt=20))
    thin = page.pixels()[..., 3].astype(float).sum()
    page.slide("opacity", 0.8)
    assert page.pixels()[..., 3].astype(float).sum() > 1.3 * thin > 0


def test_mouse_keys_and_sliders_turn_and_move_it(balls):
    balls.open(look(field=ball(0.7, 0.4, 0.35), turn=0, tilt=0))
    before = middle_of(inside(balls))
    balls.drag((0.3, 0.3), (0.5, 0.3))
    turned = dict(urllib.parse.parse_qsl(balls.address()[1:]))["turn"]
    assert float(turned) == pytest.approx(-0.4 * 0.2 * balls.find(".pane canvas").size["width"], abs=1)
    assert middle_of(inside(balls)) != pytest.approx(before, abs=3)
    balls.press("x")
    assert middle_of(inside(balls)) == pytest.approx(before, abs=0.1)
    balls.press(Keys.ARROW_LEFT).press(Keys.ARROW_UP)
    words = dict(urllib.parse.parse_qsl(balls.address()[1:]))
    assert (float(words["turn"]), float(words["tilt"])) == (-5, -5)
    balls.press("z")
    assert balls.value("tilt") == "90"
    balls.slide("tilt", 10).slide("turn", 50)
    words = dict(urllib.parse.parse_qsl(balls.address()[1:]))
    assert (words["turn"], words["tilt"]) == ("50", "10")
    at = middle_of(inside(balls))
    balls.press(Keys.SHIFT + Keys.ARROW_RIGHT + Keys.NULL)
    width = balls.pixels().shape[1]
    assert middle_of(inside(balls))[0] == pytest.approx(at[0] - 0.1 * width, abs=2)
    balls.press("+")
    assert float(dict(urllib.parse.parse_qsl(balls.address()[1:]))["w"]) == pytest.approx(1.4)
    assert "turned 50" in balls.at(0.5, 0.5)


def test_the_address_shows_the_same_again(page):
    page.open(look(field="density", kind="volume", turn=12, tilt=-30, opacity=0.7, cx=0.4))
    pixels, words = page.pixels(), page.address()
    page.open(words[1:])
    assert (page.pixels() == pixels).all() and page.address() == words


def bricks_of(page):
    """The bricks that the page asked for: [(zoom, i, j, k)], and their bytes."""
    rows = page.run(
        "return performance.getEntriesByType('resource').filter((r) => r.name.includes('/brick?')).map((r) => [r.name, r.transferSize])"
    )
    asked = [dict(urllib.parse.parse_qsl(name.partition("?")[2])) for name, _ in rows]
    return [tuple(int(one[name]) for name in ("zoom", "i", "j", "k")) for one in asked], sum(size for _, size in rows)


def test_only_what_shows_is_read(page):
    """Near: fine bricks of the window alone. Whole: no voxel far below a pixel."""
    page.open(look(field="density", kind="peak", turn=-90, tilt=90, w=1.1))
    asked, size = bricks_of(page)
    assert len(asked) == len(set(asked)) and size < 320 * 140_000
    assert max(zoom for zoom, *_ in asked) == 1  # of 64^3 cells
    page.open(look(field="density", kind="peak", turn=-90, tilt=90, w=0.05, cx=0.2, cy=0.3, cz=0.5))
    asked, _ = bricks_of(page)
    height, width = page.pixels().shape[:2]
    for zoom, i, j, _ in asked:
        edge = 0.5**zoom
        reach = edge * np.sqrt(3) / 2
        assert abs((i + 0.5) * edge - 0.2) <= 0.025 + reach
        assert abs((j + 0.5) * edge - 0.3) <= 0.025 * height / width + reach


def test_a_difference_and_two_views(page, driver, run, sample, tmp_path):
    later = tmp_path / "output_00008"
    run("sample", later, "--domains", 2, "--levels", "4-5", "--seed", 5, "-q")
    with browser.View(sample, later) as running:
        two = browser.Page(driver, running).open(look(field="density", kind="peak"))
        two.radio("mode", "two")
        assert (two.pixels(0) != two.pixels(1)).any()
        two.radio("mode", "difference")
        assert "B \u2212 A" in two.find("figcaption").text
        assert (two.pixels()[..., 3] > 0).mean() > 0.1
        two.find("#copy-command").click()
        two.says("no command")


def test_flat_controls_hide_and_come_back(page):
    page.open("field=density")
    assert not page.find("#camera").is_displayed()
    page.choose("kind", "surface")
    for name in ("turn", "tilt", "value"):
        assert page.find(f"#{name}").is_displayed(), name
    for name in ("opacity", "at", "mesh", "drawing"):
        assert not page.find(f"#{name}").is_displayed(), name
    assert not page.find("#save-pdf").is_enabled()
    before = inside(page).sum()
    page.write("value", "1e9")
    assert inside(page).sum() < before
    page.choose("kind", "slice")
    assert page.find("#at").is_displayed() and page.find("#save-pdf").is_enabled()


def test_narrow_and_dark(page, driver):
    try:
        page.open(look(field=ball(0.5, 0.5, 0.5)))
        browser.resize(driver, 390, 780)
        page.settled()
        assert inside(page).sum() > 100
        browser.dress(driver, "dark")
        page.settled()
        assert inside(page).sum() > 100
        assert page.run("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.dress(driver, "light")


def test_a_browser_without_webgl_says_so(page):
    page.open("field=density")
    page.run("OffscreenCanvas.prototype.getContext = new Proxy(OffscreenCanvas.prototype.getContext, "
             "{apply: (f, self, [kind, ...rest]) => kind === 'webgl2' ? null : f.call(self, kind, ...rest)})")  # fmt: skip
    page.run("const e = document.getElementById('kind'); e.value = 'volume'; e.dispatchEvent(new Event('change'))")
    page.settled("failed")
    assert "WebGL 2" in page.find("#message").text
