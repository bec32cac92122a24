"""The page of `octavo view` in a browser without a window: each control, keys, narrow and wide, light and dark."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import urllib.parse
from importlib import resources

import forked_command
import numpy as np
import pytest
from conftest import BOUND, OCTAVO, until

import octavo

webdriver = pytest.importorskip("selenium.webdriver")
pytest.importorskip("uvicorn")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from test_view import View  # noqa: E402

SLOWER = float(os.environ.get("OCTAVO_SLOWER", "1"))  # times that the page computes slower than this machine can
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no chromium with its chromedriver")


class Page:
    """The page in the browser."""

    def __init__(self, driver, view):
        self.driver, self.view = driver, view

    def run(self, script, *words):
        return self.driver.execute_script(script, *words)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def settled(self, state="ready"):
        """Waits until all that is asked for is shown. The page hears of a new size or of new colours a frame later."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        assert until(self.rests) == state, self.find("#message").text
        return self

    def rests(self):
        """Whether the page has come to rest: "ready", "failed" or None."""
        found = self.run("return document.body.dataset.state")
        return found if found in ("ready", "failed") else None

    def open(self, hash=""):
        self.driver.get("about:blank")
        self.driver.get(f"{self.view.url}#{hash}")
        return self.settled()

    def write(self, name, text, state="ready"):
        field = self.find(f"#{name}")
        field.send_keys(Keys.CONTROL + "a" + Keys.DELETE)
        field.send_keys(text + Keys.TAB)
        return self.settled(state)

    def choose(self, name, value):
        self.run(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'))",
            name,
            value,
        )
        return self.settled()

    def slide(self, name, value):
        self.run(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))",
            name,
            value,
        )
        return self.settled()

    def radio(self, name, value):
        self.find(f"input[name={name}][value='{value}']").click()
        return self.settled()

    def press(self, keys):
        canvas = self.find(".pane canvas")
        self.run("arguments[0].focus()", canvas)
        canvas.send_keys(keys)
        return self.settled()

    def pixels(self, pane=0):
        """The canvas as an array of shape (height, width, 4), the highest row first."""
        shape, text = self.run(
            "const c = document.querySelectorAll('.pane')[arguments[0]].querySelector('canvas');"
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let t = '';"
            "for (let i = 0; i < d.length; i += 32768) t += String.fromCharCode.apply(null, d.subarray(i, i + 32768));"
            "return [[c.height, c.width, 4], btoa(t)]",
            pane,
        )
        import base64

        return np.frombuffer(base64.b64decode(text), np.uint8).reshape(shape)

    def at(self, x, y):
        """Moves the pointer to a place of the canvas, in fractions from its left and lower end; returns what the page says."""
        canvas = self.find(".pane canvas")
        size = canvas.size
        ActionChains(self.driver, duration=0).move_to_element_with_offset(
            canvas, round((x - 0.5) * size["width"]), round((0.5 - y) * size["height"])
        ).perform()
        return self.find("#values").text

    def drag(self, start, end):
        canvas = self.find(".pane canvas")
        size = canvas.size

        def offset(place):
            return round((place[0] - 0.5) * size["width"]), round((0.5 - place[1]) * size["height"])

        actions = ActionChains(self.driver, duration=10)
        actions.move_to_element_with_offset(canvas, *offset(start)).click_and_hold()
        actions.move_to_element_with_offset(canvas, *offset(end)).release().perform()
        return self.settled()

    def address(self):
        """What stands behind the # once the page rests."""
        until(lambda: self.run("return document.body.dataset.address") == "kept")
        return self.run("return location.hash")

    def frame(self):
        """The middle and the width of the window [code length]."""
        words = dict(urllib.parse.parse_qsl(self.address()[1:]))
        return [float(words[name]) for name in "xyw"]

    def value(self, name):
        return self.run("return document.getElementById(arguments[0]).value", name)

    def bar(self):
        return self.run("return document.querySelector('.bar').toDataURL()")

    def answer(self):
        until(lambda: "Computing" not in self.find("#result h2").text)
        return self.find("#result h2").text

    def copied(self, button):
        self.run("document.getElementById('copied').textContent = ''")
        self.run("document.getElementById(arguments[0]).click()", button)
        return until(lambda: self.run("return document.getElementById('copied').textContent"))

    def says(self, text):
        """Waits until the page's message has these words."""
        until(lambda: text in self.find("#message").text)


def resize(driver, width, height):
    """Gives the page another size, and waits until it has it: the browser tells it later."""
    words = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", words)
    until(lambda: driver.execute_script("return [innerWidth, innerHeight]") == [width, height])


def dress(driver, scheme):
    """Makes the browser like "light" or "dark" pages, and waits until the page has heard of it."""
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    until(lambda: driver.execute_script("return matchMedia(`(prefers-color-scheme: ${arguments[0]})`).matches", scheme))


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--enable-unsafe-swiftshader",  # WebGL without a graphics card
        "--disable-dev-shm-usage",
        "--window-size=1000,700",
    ):
        options.add_argument(word)
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    browser.downloads = folder
    browser.set_script_timeout(BOUND)
    browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    resize(browser, 1000, 640)  # whatever bars the browser shows
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def store(run, sample, tmp_path_factory):
    """A store of two steps."""
    folder = tmp_path_factory.mktemp("view")
    later = folder / "output_00008"
    run("sample", later, "--domains", 2, "--levels", "4-5", "--seed", 5, "--particles", 500, "-q")
    run("convert", sample, later, folder / "run.octavo", "-q")
    return folder / "run.octavo"


@pytest.fixture(scope="module")
def view(store):
    with View(store) as running:
        yield running


@pytest.fixture
def page(driver, view):
    driver.get("about:blank")
    driver.get_log("browser")  # a page of a server that has ended goes on asking
    yield Page(driver, view).open("step=0&field=density")
    wrong = [
        row
        for row in driver.get_log("browser")
        if row["level"] == "SEVERE" and not re.search("status of (4|501)", row["message"])
    ]
    assert not wrong


def colours(name, fraction):
    from matplotlib import colormaps

    return np.round(255 * np.array(colormaps[name](fraction)[:3]))


# ------------------------------------------------------------------ the picture


def test_a_pixel_has_the_colour_of_its_value(page, store):
    """Beside matplotlib and the slice of the library: places, limits, scale and colours are right."""
    ds = octavo.open(store, step=7)
    values = ds.slice("density", pixels=64).values  # the finest cells
    pixels = page.pixels()
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    log = low > 0 and high / low > 100
    frame = page.frame()
    height, width = pixels.shape[:2]
    pixel = frame[2] / width
    checked = 0
    for j in range(3, 64, 7):
        for i in range(3, 64, 7):
            x, y = (i + 0.5) / 64, (j + 0.5) / 64
            column = int((x - frame[0] + frame[2] / 2) / pixel)
            row = int((frame[1] + pixel * height / 2 - y) / pixel)
            value = values[j, i]
            fraction = np.log(value / low) / np.log(high / low) if log else (value - low) / (high - low)
            if not (0 <= row < height - 45 or column > 150):
                continue
            assert np.abs(pixels[row, column, :3] - colours("viridis", fraction)).max() <= 12, (i, j)
            checked += 1
    assert checked > 50


def test_colour_maps_are_those_of_matplotlib(page):
    found = page.run(
        "return import('./page/colours.js').then((c) => Object.keys(c.MAPS).map((n) => [n, Array.from(c.table(n))]))"
    )
    assert len(found) >= 7
    for name, table in found:
        expected = np.array([colours(name, k / 255) for k in range(256)])
        assert np.abs(np.array(table).reshape(256, 3) - expected).max() <= 14, name


def test_the_value_under_the_pointer(page, store):
    before = page.find(".pane canvas").size
    text = page.at(0.5, 0.5)
    assert page.find(".pane canvas").size == before  # the picture does not jump under the pointer
    assert "density = " in text and "x = 0.5" in text
    near = octavo.open(store, step=7).slice("density", pixels=64).values[31:33, 31:33]
    assert np.isclose(near, float(text.split()[2]), rtol=1e-5).any(), text


# ------------------------------------------------------------------ controls


def test_field_kind_axis_and_plane(page, store):
    seen = [page.pixels()]

    def changed():
        seen.append(page.pixels())
        assert (seen[-1] != seen[-2]).any()

    page.write("field", "pressure*2")
    changed()
    page.choose("kind", "integral")
    changed()
    assert not page.find("#at-line").is_displayed()
    page.choose("kind", "mean")
    page.write("weight", "density")
    changed()
    page.radio("axis", "x")
    changed()
    page.choose("kind", "slice")
    changed()
    page.slide("at", 0.2)
    changed()
    assert page.find("#at-text").text.split()[0] == "0.2"
    page.write("where", "density > 1")
    changed()
    page.choose("level", "4")
    changed()
    words = page.address()
    assert "axis=x" in words and "at=0.2" in words and "level=4" in words and "kind" not in words


def test_a_wrong_formula_is_told_and_mended(page):
    page.write("field", "densty", state="failed")
    assert "densty" in page.find("#message").text
    page.write("field", "density")
    assert not page.find("#message").is_displayed()


def test_colours_scale_and_limits(page):
    bar = page.bar()
    page.choose("colours", "magma")
    assert page.bar() != bar
    bar = page.bar()
    page.choose("scale", "log")
    assert page.bar() != bar
    low = page.value("low")
    page.find("#follow").click()
    page.settled().press("+++")
    assert page.value("low") == low  # stays
    page.find("#follow").click()
    page.settled()
    assert page.value("low") != low  # follows
    page.write("low", "0.5").write("high", "2")
    assert (page.value("low"), page.value("high")) == ("0.5", "2")
    assert not page.find("#follow").is_selected()


def test_mesh_lines_and_particles(page, store):
    before = page.pixels()
    page.find("#mesh").click()
    page.settled()
    lines = (page.pixels() != before).any(axis=2)
    assert 0.01 < lines.mean() < 0.5
    page.find("#mesh").click()
    page.settled()
    page.choose("kind", "integral")
    before = page.pixels()
    page.find("#particles").click()
    until(lambda: page.run("return Number(document.getElementById('read').dataset.over)"))
    until(lambda: (page.pixels() != before).any())  # drawn with the next frame
    points = (page.pixels() != before).any(axis=2)
    assert 100 < points.sum() < before[..., 0].size / 4
    assert re.match(r"2000 of 2000 particles +\d+ tiles", page.find("#read").text)
    names = page.run("return [...document.getElementById('species').options].map((one) => one.value)")
    assert (
        names[1:] == ["dm", "star", "cloud", "debris", "other", "tracer"] and page.find("#species-line").is_displayed()
    )
    stars = len(next(iter(octavo.open(store, step=7).particles("star").values()), ()))
    page.choose("species", "star")
    until(lambda: page.find("#read").text.startswith(f"{stars} of {stars} particles"))
    assert "species=star" in page.address()


def test_long_questions_are_given_up(page):
    """A new question, or closing the answer, ends the one before: the page's request is aborted, and the server is told."""
    page.run(
        "window.given = []; window.asked = []; const ask = window.fetch; window.fetch = (address, options) => {"
        "  asked.push(address.split('?')[0]);"
        "  if (/stats|profile|particles/.test(address)) { options.signal.addEventListener('abort', () => given.push(address.split('?')[0]));"
        "    return new Promise((_, no) => options.signal.addEventListener('abort', () => no(options.signal.reason))); }"
        "  return ask(address, options); }"
    )
    page.find("#do-stats").click()
    page.find("#do-profile").click()
    assert page.run("return given") == ["step/0/stats"]
    assert page.find("#result h2").text == "Computing \u2026"
    page.find("#close-result").click()
    assert page.run("return given") == ["step/0/stats", "step/0/profile"]
    page.choose("kind", "integral").find("#particles").click()
    until(lambda: page.run("return asked.includes('step/0/particles')"))
    page.press("+")
    assert page.run("return given")[2:] == ["step/0/particles"]


def test_time_and_outputs(page):
    text = page.find("#time-text").text
    page.slide("time", 1)
    assert page.find("#time-text").text != text or "step=1" in page.address()
    assert page.value("step") == "1"
    page.press(",")
    assert page.value("step") == "0"
    page.choose("step", "1")
    assert page.value("time") == "1"


def test_two_views_and_their_difference(page):
    page.radio("mode", "two")
    assert page.run("return document.querySelectorAll('.pane:not([hidden])').length") == 2
    assert "step2=1" in page.address()
    assert (page.pixels(0) != page.pixels(1)).any()
    window = page.frame()
    page.open("mode=two&step=0&field=density&step2=1&field2=density")
    assert page.frame() == window  # an address without a window has the control's
    page.radio("side", "1")
    page.write("field", "pressure")
    words = page.address()
    assert "field2=pressure" in words and "field=density" in words
    page.write("field", "density").choose("step", "0")
    assert (page.pixels(0) == page.pixels(1)).all()
    page.radio("mode", "difference")
    assert "B \u2212 A" in page.find("figcaption").text
    text = page.at(0.5, 0.5)
    assert "B \u2212 A 0" in text
    page.radio("side", "1")
    page.choose("step", "1")
    assert "B \u2212 A 0 " not in page.at(0.5, 0.5)


def test_regions_are_drawn_and_computed(page, store):
    page.radio("draw", "box").drag((0.4, 0.4), (0.6, 0.6))
    box = page.value("region")
    assert box.startswith("box:")
    page.find("#do-stats").click()
    assert "Statistics" in page.answer()
    leaves = octavo.open(store, step=7).inside(box).stats(["density"])["leaves"]
    assert page.run("return document.querySelector('#result td:nth-child(2)').textContent") == str(leaves)
    page.find("#close-result").click()
    page.radio("draw", "sphere").drag((0.5, 0.5), (0.6, 0.5))
    assert page.value("region").startswith("sphere:")
    page.find("#do-profile").click()
    assert "over radius" in page.answer()
    assert page.run("return document.querySelector('#result canvas').toDataURL().length") > 3000
    page.write("other", "pressure")
    page.find("#do-phase").click()
    assert "pressure over density" in page.answer()
    page.choose("step", "1")  # the answer stays, and says of which step it is
    first, second = (page.run(f"return document.querySelectorAll('#step option')[{number}].text") for number in (0, 1))
    assert first != second and page.answer().endswith(f", {first}") and "density" in page.answer()
    page.choose("step", "0")
    page.write("region", "cube:1")
    page.find("#do-stats").click()
    assert "no answer" in page.answer()
    assert "cube" in page.find("#result-body").text
    page.find("#close-result").click()
    page.press(Keys.ESCAPE)
    assert page.value("region") == "" and "region" not in page.address()


@pytest.mark.parametrize("what", ["picture", "result"])
def test_copies_run(page, what, tmp_path):
    prefix = "copy"
    if what == "result":
        page.write("region", "sphere:0.5,0.5,0.5:0.2")
        page.find("#do-profile").click()
        page.answer()
        prefix = "result"
    command, python = page.copied(f"{prefix}-command"), page.copied(f"{prefix}-python")
    for words in ([OCTAVO, *shlex.split(command)[1:]], [sys.executable, "-c", python]):
        done = forked_command.run(words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stderr)
        (made,) = tmp_path.iterdir()
        made.unlink()


def downloaded(driver, ending):
    """The bytes of the file that the browser has saved, once it is whole."""

    def file():
        found = [one for one in driver.downloads.glob(f"*.{ending}") if one.stat().st_size]
        return found[0] if found and not list(driver.downloads.glob("*.crdownload")) else None

    found = until(file)
    data = found.read_bytes()
    found.unlink()
    return data


def test_a_picture_is_saved(page, driver):
    from PIL import Image

    page.find("#save").click()
    with Image.open(io.BytesIO(downloaded(driver, "png"))) as image:
        assert image.width > 500 and len(image.convert("RGB").getcolors(1 << 24)) > 50


@pytest.mark.parametrize("mode", ["one", "two", "difference"])
def test_pdf_files_of_every_mode(page, driver, mode):
    page.radio("mode", mode)
    page.find("#save-pdf").click()
    data = downloaded(driver, "pdf")
    assert data.startswith(b"%PDF") and len(data) > 5000
    assert (b"difference" in data) == (mode == "difference")  # the facts stand in the document's Subject


def test_a_geotiff_of_the_window(page, driver, store):
    rasterio = pytest.importorskip("rasterio")
    page.press("++++")
    page.find("#save-tif").click()
    x, _, w = page.frame()
    with rasterio.MemoryFile(downloaded(driver, "tif")) as memory, memory.open() as file:
        assert file.bounds.left == pytest.approx(x - w / 2, abs=1e-6) and file.bounds.right == pytest.approx(
            x + w / 2, abs=1e-6
        )
        values = file.read(1)[::-1]
        column = round((0.5 - file.bounds.left) / file.res[0])
        row = round((0.5 - file.bounds.bottom) / file.res[1])
    near = octavo.open(store, step=7).slice("density", pixels=64).values[31:33, 31:33]
    assert np.isclose(near, values[row, column], rtol=1e-12).any()


def test_a_file_that_cannot_be_is_said_in_the_page(page):
    page.radio("axis", "x")
    page.find("#save-tif").click()
    text = until(lambda: page.find("#message").text)
    assert "along z" in text or "rasterio" in text


def test_a_line_is_drawn_and_its_values_shown(page, store):
    page.press("n")
    page.drag((0.4, 0.4), (0.6, 0.6))
    line = page.value("line")
    start, end = ([float(word) for word in place.split(",")] for place in line.split(":"))
    assert start[2] == end[2] == 0.5 and start[0] < end[0] and start[1] < end[1]
    assert "line=" in page.address()
    with_line = page.pixels()
    page.find("#do-line").click()
    assert "along the line" in page.answer()
    assert page.run("return document.querySelector('#result canvas').toDataURL().length") > 3000
    python = page.copied("result-python")
    assert f"line('density', ({', '.join(map(str, start))}), ({', '.join(map(str, end))})" in python
    page.find("#close-result").click()
    page.press(Keys.ESCAPE)
    assert page.value("line") == "" and (page.pixels() != with_line).any()
    page.find("#do-line").click()
    page.says("no line")


def test_copies_of_a_difference_and_of_lines_of_the_mesh_run(page, tmp_path):
    page.radio("mode", "difference")
    python = page.copied("copy-python")
    assert "after - before" in python and "step=7" in python and "step=8" in python
    done = forked_command.run([sys.executable, "-c", python], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<<'END'" in page.copied("copy-command")
    page.radio("mode", "one")
    page.press("m")
    assert " --grid " in page.copied("copy-command")


def test_steps_that_come_meanwhile(driver, run, tmp_path):
    """And one that vanishes is told, and shown again once it is back."""
    for number in (3, 4):
        run("sample", tmp_path / f"output_0000{number}", "--domains", 2, "--levels", "3-4", "--seed", number, "-q")
    (tmp_path / "output_00004").rename(tmp_path / "later")
    with View(str(tmp_path / "output_*")) as running:
        page = Page(driver, running).open("field=density")
        assert not page.find("#time").is_displayed()
        (tmp_path / "later").rename(tmp_path / "output_00004")
        page.run("window.dispatchEvent(new Event('focus'))")
        until(page.find("#time").is_displayed)
        before = page.pixels()
        page.slide("time", 1)
        assert (page.pixels() != before).any()
        (tmp_path / "output_00004").rename(tmp_path / "later")
        page.write("field", "pressure", state="failed")
        assert "output_00004" in page.find("#message").text
        (tmp_path / "later").rename(tmp_path / "output_00004")
        page.write("field", "density").write("field", "pressure")
        assert not page.find("#message").is_displayed()
    driver.get_log("browser")


def test_a_damaged_domain_is_named_and_hatched(driver, run, tmp_path):
    path = tmp_path / "output_00001"
    run("sample", path, "--levels", "3-5", "--domains", 8, "-q")
    victim = path / "hydro_00001.out00003"
    victim.write_bytes(victim.read_bytes()[:100])
    with View(path) as running:
        page = Page(driver, running).open("field=density&kind=max")
        assert (
            "domain 3 is damaged" in page.find("figcaption").text
            and "hydro_00001.out00003" in page.find("figcaption").text
        )
        red = page.run("return getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()")
        near = (
            np.abs(page.pixels()[..., :3].astype(int) - [int(red[k : k + 2], 16) for k in (1, 3, 5)]).max(axis=2) < 40
        )
        assert near.sum() > 300  # lines of the hatching
        page.choose("kind", "peak")
        assert "domain 3 is damaged" in page.find("figcaption").text


# ------------------------------------------------------------------ moving, keys, address


def test_wheel_drag_and_keys_move(page):
    x, y, w = page.frame()
    page.drag((0.5, 0.5), (0.6, 0.5))
    assert page.frame()[0] == pytest.approx(x - 0.1 * w, rel=0.02)
    page.press("0")
    assert page.frame() == [x, y, w]
    page.press(Keys.ARROW_RIGHT)
    assert page.frame()[0] == pytest.approx(x + 0.1 * w)
    page.press("+")
    assert page.frame()[2] == pytest.approx(0.7 * w)
    canvas = page.find(".pane canvas")
    page.run("arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: 400, clientX: 600, clientY: 300}))", canvas)
    page.settled()
    assert page.frame()[2] > 0.7 * w
    page.press("y").press("]")
    words = page.address()
    assert "axis=y" in words and "at=0.51" in words


def test_keys_of_controls(page):
    page.press("l")
    first = page.value("scale")
    page.press("l")
    assert {first, page.value("scale")} == {"linear", "log"}
    w = page.frame()[2]
    page.press("-")
    assert page.frame()[2] == pytest.approx(w / 0.7)
    page.press(".")
    assert page.value("step") == "1"
    page.press(".").press(",")
    assert page.value("step") == "0"  # there is no third step
    for key, name in (("p", "particles"), ("m", "mesh")):
        page.press(key)
        assert page.find(f"#{name}").is_selected()
        page.press(key)
        assert not page.find(f"#{name}").is_selected()
    for key, kind in (("s", "sphere"), ("b", "box")):
        page.press(key).drag((0.5, 0.5), (0.6, 0.6))
        assert page.value("region").startswith(f"{kind}:")
        page.press(Keys.ESCAPE)
        assert page.value("region") == "" and page.find("input[name=draw][value='']").is_selected()


def test_the_address_shows_the_same_again(page, driver):
    page.choose("kind", "max").choose("colours", "inferno").press("++").write("low", "0.2")
    pixels, words = page.pixels(), page.address()
    page.open(words[1:])
    assert (page.pixels() == pixels).all()
    assert page.address() == words


@pytest.mark.parametrize(
    "words", ["w=-1&x=nan", "step=99&step2=-4&mode=two", "axis=q&mode=four&at=7&side=3", "w=1e-300", "kind=%00"]
)
def test_a_wrong_address_does_no_harm(driver, view, words):
    page = Page(driver, view)
    driver.get("about:blank")
    driver.get(f"{view.url}#{words}")
    until(page.rests)
    driver.get_log("browser")


def test_all_modules_are_asked_for_at_once(page):
    """The page names every module, so that a slow connection is not waited for once a level of imports."""
    folder = resources.files("octavo.view") / "page"
    named = set(re.findall(r'modulepreload" href="page/([a-z]+\.js)"', (folder / "index.html").read_text()))
    assert named == {file.name for file in folder.iterdir() if file.name.endswith(".js")} - {"main.js"}


def test_every_control_has_a_name(page):
    nameless = page.run(
        "return [...document.querySelectorAll('input, select, button, canvas[tabindex]')].filter((e) => !(e.labels?.length || "
        "e.ariaLabel || e.textContent.trim())).map((e) => e.outerHTML)"
    )
    assert nameless == []


# ------------------------------------------------------------------ windows


def test_narrow_windows_and_dark_ones(page, driver):
    try:
        resize(driver, 390, 780)
        page.settled()
        assert not page.find("#panel").is_displayed()
        assert page.run("return document.documentElement.scrollWidth") <= 390
        assert page.find(".pane canvas").size["width"] > 250
        page.find("#menu").click()
        assert page.find("#panel").is_displayed()
        light = page.run("return getComputedStyle(document.body).backgroundColor")
        sheet = page.pixels()[-12, 10, :3].mean()  # below the length to compare with
        dress(driver, "dark")
        page.settled()
        assert page.run("return getComputedStyle(document.body).backgroundColor") != light
        assert sheet > 200 and page.pixels()[-12, 10, :3].mean() < 60
        bar = page.run(
            "const c = document.querySelector('.bar').getContext('2d'), {width: w, height: h} = c.canvas;"
            "const d = c.getImageData(w * 0.45, 0, w * 0.55, h).data; let most = 0;"
            "for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) most = Math.max(most, Math.min(d[i], d[i + 1], d[i + 2])); return most"
        )
        assert bar > 200  # numbers beside the colours are light
    finally:
        dress(driver, "light")
        resize(driver, 1000, 640)


def test_triangles_in_the_page(driver, data):
    with View(data / "serafin" / "r2d_malpasset-small_5steps.slf") as running:
        page = Page(driver, running).open()
        assert page.value("field") == "WATER DEPTH"
        assert not page.find("#axes").is_displayed()
        page.slide("time", 4)
        page.find("#mesh").click()
        page.settled().press("+++++")
        assert "WATER DEPTH = " in page.at(0.5, 0.5)


def test_a_server_that_has_ended_is_told(driver, sample):
    with View(sample) as running:
        page = Page(driver, running).open("field=density")
    page.run(
        "document.getElementById('field').value = 'pressure'; document.getElementById('field').dispatchEvent(new Event('change'))"
    )
    page.settled("failed")
    assert "has ended" in page.find("#message").text
    driver.get_log("browser")
