"""Pages: figures that two pages give are the same figures, links lead somewhere, and each page says for whom it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "bench" / "results"
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *RESULTS.glob("*.md"), *(ROOT / "octavo").rglob("*.md")],
)


def throttled_shares(page: str) -> list[tuple[str, str]]:
    """Shares of I/O [%], synchronous and background, of the tables of bubbles and wave on the throttled store."""
    section = page[page.index("**Bubbles and wave**") : page.index("**Synchronous and asynchronous**")]
    rows = re.findall(r"\| 100 MB/s a process \| (\w+) \|.*\| ([0-9.]+) \| [0-9.]+ \|", section)
    shares = [share for _, share in rows]
    return list(zip(shares[::2], shares[1::2], strict=True))


def test_shares_of_apps_are_those_of_the_tables():
    tables = throttled_shares((RESULTS / "apps.md").read_text())
    text = " ".join((DOCS / "apps.md").read_text().split())
    told = re.search(
        r"bubbles' share goes from ([0-9.]+) to ([0-9.]+) %, the wave's from ([0-9.]+) to ([0-9.]+) %", text
    )
    assert told and [told.groups()[:2], told.groups()[2:]] == tables


def table_rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\- ]+", line)]


def test_performance_keeps_ten_tables_whose_rows_are_results():
    sections = re.split(r"^## (\d+)\. ", (DOCS / "performance.md").read_text(), flags=re.MULTILINE)[1:]
    assert [int(number) for number in sections[::2]] == list(range(1, 11))
    for text in sections[1::2]:
        linked = [DOCS / path for path in re.findall(r"\]\((\.\./bench/results/\w[\w-]*\.md)\)", text)]
        results = {row for path in linked for row in table_rows(path.read_text())}
        rows = table_rows(text)
        assert "`" in text and rows and set(rows) <= results, text


def anchors(page: Path) -> set[str]:
    """GitHub's anchors: lower case, punctuation dropped, spaces to hyphens."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", page.read_text()):
        if target.startswith("http"):
            continue
        there = page if not target else (page.parent / target).resolve()
        assert there.exists(), f"{page.name}: no {target}"
        assert not anchor or anchor[1:] in anchors(there), f"{page.name}: no {target}{anchor}"


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent == DOCS], ids=lambda page: page.name)
def test_a_page_opens_with_its_readers(page):
    lines = page.read_text().splitlines()
    assert lines[0].startswith("# ") and lines[1] == "" and lines[2].startswith("For "), lines[:3]


def test_the_index_has_every_page():
    listed = set(re.findall(r"\]\((\w[\w-]*\.md)", (DOCS / "README.md").read_text()))
    assert listed == {page.name for page in DOCS.glob("*.md")} - {"README.md"}


def test_sources_name_pages_that_exist():
    """A comment or a message that names docs/PAGE.md names a page."""
    for folder in ("octavo", "capi", "python/octavo", "python/bindings", "apps", "bench", "examples", "scripts"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in {".hpp", ".cpp", ".h", ".c", ".py", ".f90", ".F90", ".txt", ""} or not path.is_file():
                continue
            for name in re.findall(r"docs/([\w/-]+\.md)", path.read_text(errors="replace")):
                assert (DOCS / name).exists(), f"{path.relative_to(ROOT)}: no docs/{name}"


WALKS = re.findall(r"^\d+\. (.*)$", (ROOT / "octavo" / "README.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("hop", WALKS)
def test_a_hop_of_a_walk_names_what_is_there(hop):
    """A hop names files and functions before its colon. The files exist, and each function is defined in one of them."""
    named = re.findall(r"`([^`]+)`", hop.split(": ")[0])
    files = [ROOT / name for name in named if "/" in name]
    assert files and all(path.exists() for path in files), hop
    text = "".join(path.read_text() for path in files)
    functions = [name for name in named if "/" not in name]
    assert functions, hop
    for name in functions:
        last, scope = (
            name.split("::")[-1],
            r"(?:\w+::)*" if "::" not in name else re.escape(name.rsplit("::", 1)[0]) + "::",
        )
        defined = rf"^(?:[A-Za-z][\w:<>,&* ]* [&*]?{scope}|def |    \w+\.def\(\"){re.escape(last)}[(\"]"
        assert re.search(defined, text, re.MULTILINE), f"{name}: {hop}"


def test_the_map_has_every_room_and_folder():
    text = (ROOT / "octavo" / "README.md").read_text()
    for room in sorted(path for path in (ROOT / "octavo").iterdir() if path.is_dir()):
        row = re.search(rf"^\| `{room.name}/` \|([^|]*)\|", text, re.MULTILINE)
        assert row, room.name
        assert set(re.findall(r"(\w+)/", row.group(1))) == {path.name for path in room.iterdir() if path.is_dir()}, (
            room.name
        )


PROSE = [page for page in PAGES if page.parent != RESULTS and page.name != "format.md"]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_begin_with_their_subject(page):
    """No sentence begins with "What", "Of" ... that is not a question."""
    text = re.sub(r"```.*?```|^    [^\n]*$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    starts = r"(?:^|[.:;]\s+|^[#*-]+ |\| )((?:What|Of|That which|All that|So many|Whoever) [a-z][^.?]*[.?\n])"
    assert [found for found in re.findall(starts, text, re.MULTILINE) if "?" not in found] == []
