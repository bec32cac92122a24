"""scripts/site: links, lists and reference of the pages, and the whole site without a warning."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from octavo.cli import VERBS

ROOT = Path(__file__).resolve().parents[2]


def load():
    loader = SourceFileLoader("site_script", str(ROOT / "scripts" / "site"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_script", loader))
    loader.exec_module(module)
    return module


site = load()


def test_links_lead_to_pages_or_are_plain_text():
    page, other = ROOT / "docs" / "engine.md", ROOT / "docs" / "writing.md"
    pages = {page, other, ROOT / "octavo" / "README.md"}
    text = "[a](writing.md#x) [b](../octavo) [c](../scripts/try) ![d](figures/codecs.png) [e](https://there.example)\n"
    assert site.markdown(text, page, pages) == (
        "[a](writing.md#x) [b](../octavo/README.md) c ![d](figures/codecs.png) [e](https://there.example)\n"
    )


def test_notebooks_are_pages():
    book = ROOT / "docs" / "tutorials" / "ramses.ipynb"
    page = site.page_of_notebook(book, set())
    assert page.startswith("# A RAMSES output\n") and "```python\nimport numpy as np" in page
    link = site.markdown("[RAMSES](tutorials/ramses.ipynb)\n", ROOT / "docs" / "README.md", set())
    assert link == "[RAMSES](tutorials/ramses.md)\n"


def test_a_list_begins_after_an_empty_line():
    assert site.markdown("Words:\n- a\n- b\n  c\n- d\n", ROOT / "README.md", set()) == "Words:\n\n- a\n- b\n  c\n- d\n"


def test_dead_links_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "SITE", tmp_path)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "a.html").write_text(
        '<h1 id="x"><a href="b.html#y">.</a><a href="#x">.</a><a href="c.html">.</a>'
    )
    (tmp_path / "html" / "b.html").write_text('<img src="gone.png"><a href="a.html#x">.</a>')
    assert sorted(site.dead_links()) == ["a.html: b.html#y", "a.html: c.html", "b.html: gone.png"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_s_page_has_its_options_in_cells(run, verb):
    page = site.command_page(verb)
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert all(len(re.split(r"(?<!\\)\|", row)) == 4 for row in rows)
    for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", run("help", verb).stdout, re.MULTILINE):
        assert any(re.search(rf"`{option}\b", row) for row in rows), option


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="no MkDocs: scripts/setup run docs")
def test_the_whole_site():
    """No warning, no dead link; every page and verb can be found by its words."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "site"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    html = ROOT / "build" / "site" / "html"
    found = {
        entry["location"].split("#")[0]
        for entry in json.loads((html / "search" / "search_index.json").read_text())["docs"]
    }
    pages = {f"docs/{page.stem}.html" for page in (ROOT / "docs").glob("*.md") if page.name != "README.md"}
    assert pages | {f"reference/command/{verb}.html" for verb in VERBS} <= found
    assert "octavo.dataset.Dataset" in (html / "reference" / "python.html").read_text()
