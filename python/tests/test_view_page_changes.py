"""The page of `octavo view` while its files change, and where outputs are of different codes."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from conftest import until

import octavo

pytest.importorskip("selenium")
pytest.importorskip("uvicorn")
from test_view import View
from test_view_page import Page, driver, pytestmark  # noqa: F401


@pytest.fixture
def output(run, tmp_path):
    path = tmp_path / "output_00001"
    run("sample", path, "--levels", "3-5", "--domains", 4, "-q")
    return path


def test_a_mended_file_is_shown_without_a_touch(driver, output):  # noqa: F811
    victim = output / "hydro_00001.out00003"
    whole = victim.read_bytes()
    victim.write_bytes(whole[:100])
    with View(output) as running:
        page = Page(driver, running).open("field=density&kind=max")
        assert "domain 3 is damaged" in page.find("figcaption").text
        hatched = page.pixels()
        victim.write_bytes(whole)
        until(lambda: "damaged" not in page.find("figcaption").text)
        mended = page.settled().pixels()
        assert (mended != hatched).any()
        page.open("field=density&kind=max")
        assert (page.pixels() == mended).all()


def test_what_failed_is_asked_for_again(driver, output, tmp_path):  # noqa: F811
    with View(output) as running:
        page = Page(driver, running).open("field=density")
        before = page.pixels()
        output.rename(tmp_path / "elsewhere")
        page.write("field", "pressure", state="failed")
        assert "output_00001" in page.find("#message").text
        (tmp_path / "elsewhere").rename(output)
        until(lambda: not page.find("#message").is_displayed())
        assert (page.settled().pixels() != before).any()
    driver.get_log("browser")


@pytest.mark.parametrize("kind", ["slice", "peak"])
def test_an_output_replaced_in_place_is_drawn_anew(driver, run, output, tmp_path, kind):  # noqa: F811
    """Once anything is asked for, also by the return to the window; textures of the graphics card too."""
    other = tmp_path / "other" / "output_00001"
    run("sample", other, "--levels", "4-6", "--domains", 8, "--seed", 9, "-q")
    with View(output) as running:
        page = Page(driver, running).open(f"field=density&kind={kind}")
        before = page.pixels()
        output.rename(tmp_path / "old")
        other.rename(output)
        page.run("window.dispatchEvent(new Event('focus'))")
        until(lambda: page.run("return document.getElementById('level').lastChild.value") == "6")
        after = page.settled().pixels()
        assert (after != before).any()
        page.open(f"field=density&kind={kind}")
        assert (page.pixels() == after).all()


def test_a_tile_that_is_on_its_way_while_files_change_is_asked_for_again(driver, run, output, tmp_path):  # noqa: F811
    """Its answer began before, and ends after another one told of the new files."""
    other = tmp_path / "other" / "output_00001"
    run("sample", other, "--levels", "4-6", "--domains", 8, "--seed", 9, "-q")
    with View(output) as running:
        page = Page(driver, running).open("field=density")
        page.run(
            "const gate = new Promise((open) => { window.release = open; }), ask = window.fetch; window.held = 0;"
            "window.fetch = async (address, options) => {"
            "  const answer = await ask(address, options), whole = answer.arrayBuffer.bind(answer);"
            "  if (/tile/.test(address)) answer.arrayBuffer = () => { ++window.held; return gate.then(whole); };"
            "  return answer; };"
            "const e = document.getElementById('field'); e.value = 'pressure'; e.dispatchEvent(new Event('change'));"
        )
        until(lambda: page.run("return window.held"))
        output.rename(tmp_path / "old")
        other.rename(output)
        page.run("window.dispatchEvent(new Event('focus'))")
        until(lambda: page.run("return document.getElementById('level').lastChild.value") == "6")
        page.run("window.release()")
        after = page.settled().pixels()
        page.open("field=pressure")
        assert (page.pixels() == after).all()


def test_a_half_written_output_is_named_and_taken_up(driver, run, output, tmp_path):  # noqa: F811
    run("sample", tmp_path / "whole" / "output_00002", "--levels", "3-4", "--domains", 2, "--seed", 2, "-q")
    (tmp_path / "output_00002").mkdir()
    with View(str(tmp_path / "output_*")) as running:
        page = Page(driver, running).open("field=density")
        assert "1 left out" in page.find("#skipped").text and not page.find("#time").is_displayed()
        assert "output_00002" in page.run("return document.querySelector('#skipped p').textContent")
        shutil.copytree(tmp_path / "whole" / "output_00002", tmp_path / "output_00002", dirs_exist_ok=True)
        until(lambda: not page.find("#skipped").is_displayed())
        assert page.find("#time").is_displayed()
        page.slide("time", 1)
        assert "output_00002" in page.find("#name").text


# ------------------------------------------------------------------ outputs of different codes


@pytest.fixture(scope="module")
def both(data, sample):
    """A RAMSES output, 0 to 1, and a mesh of 17 km."""
    path = data / "serafin" / "r2d_malpasset-small_5steps.slf"
    with View(sample, path) as running:
        yield running, octavo.open(path, step=1)._data


def shows_all(page, data):
    x, _, w = page.frame()
    assert x == pytest.approx((data.lo[0] + data.hi[0]) / 2, rel=1e-6)
    assert data.hi[0] - data.lo[0] <= w * 1.001 and w < 5 * (data.hi[0] - data.lo[0])


def test_another_code_s_output_gets_its_usual_field_and_window(driver, both, sample):  # noqa: F811
    running, mesh = both
    page = Page(driver, running).open("step=0&field=density*2&where=density>0.1&level=5&unit=&w=0.3")
    page.choose("step", "1")
    assert page.value("field") == "WATER DEPTH" and not page.find("#message").is_displayed()
    assert page.value("where") == "" and "level" not in page.address()
    shows_all(page, mesh)
    assert len(np.unique(page.pixels().reshape(-1, 4), axis=0)) > 50  # water, not an empty window
    page.press("++").slide("time", 2)  # the same mesh: the window stays
    assert page.frame()[2] < mesh.hi[0] - mesh.lo[0]
    page.slide("time", 0)
    assert page.value("field") == "density"
    shows_all(page, octavo.open(sample)._data)


def test_the_window_is_that_of_the_view_that_the_controls_act_on(driver, both):  # noqa: F811
    running, mesh = both
    page = Page(driver, running).open("step=0&field=density")
    page.radio("mode", "two")
    assert page.value("field") == "density"  # A; B showed the next step
    page.radio("side", "1")
    assert page.value("field") == "WATER DEPTH"
    shows_all(page, mesh)
    page.press("0")
    shows_all(page, mesh)


def test_an_empty_window_is_told(driver, both):  # noqa: F811
    running, _ = both
    page = Page(driver, running).open("step=0&field=density&x=50&y=50&w=1")
    assert "shows nothing" in page.find("#message").text
    page.press("0")
    assert not page.find("#message").is_displayed()
