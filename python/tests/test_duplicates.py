"""scripts/duplicates.py counts pairs of places that share lines by the rules of docs/decisions/0028."""

from __future__ import annotations

import runpy
from pathlib import Path

script = runpy.run_path(str(Path(__file__).resolve().parents[2] / "scripts/duplicates.py"))

CODE = """  double sum = 0;  // from here on
  for (const Cell& cell : cells) {

    if (cell.owned && cell.leaf) sum += cell.mass * cell.volume;
    if (cell.level > 3) return sum;
    count = count + 1;
  }
  report("mass", sum / count);
"""


def pairs(*texts: str) -> list[tuple[int, int, int]]:
    """How many lines each pair shares, and where it begins in both places."""
    files = {}
    for number, text in enumerate(texts):
        shapes = [script["shape_of"](line.strip()) for line in text.splitlines()]
        files[str(number)] = [(line, *shape) for line, shape in enumerate(shapes) if shape]
    return [(lines, first, second) for lines, _, first, _, second in script["pairs_of_places"](files)]


def code(tmp_path: Path, text: str) -> str:
    path = tmp_path / "x.cpp"
    path.write_text(text)
    return "\n".join(line for _, line in script["code_of"](path))


def test_lines_are_the_same_but_for_names(tmp_path):
    text = code(tmp_path, CODE)
    assert pairs(text, text) == [(6, 0, 0)]
    assert pairs(text, text.replace("cell", "leaf_").replace("sum", "total")) == [(6, 0, 0)]
    assert pairs(text, text.replace("sum / count", "count / sum")) == [], "names have changed places"
    assert pairs(text, text.replace("> 3", "> 4")) == [], "another number"


def test_code_in_three_places_is_three_pairs(tmp_path):
    text = code(tmp_path, CODE)
    assert len(pairs(text, text, text)) == 3
    assert pairs(text + "\n" + text) == [(6, 0, 6)], "twice in one file"


def test_lists_of_names_and_standard_headers_are_no_duplicates():
    assert pairs("a,\nb,\nc,\nd,\ne,\nf,\n", "u,\nv,\nw,\nx,\ny,\nz,\n") == []
    headers = "".join(f"#include <h{i}>\n" for i in range(9))
    assert pairs(headers, headers) == []
    using = "".join(f"using base::t{i};\n" for i in range(6))
    assert pairs(using, using) == [(6, 0, 0)]
    assert pairs(using, using.replace("base", "mesh")) == [], "to the letter"


def test_a_list_that_resembles_itself_counts_once():
    cases = "".join(f"case {name}: return each(a, {name});\n" for name in "bcdefghij")
    assert pairs(cases) == []  # both places would share lines
    assert len(pairs(cases + cases)) == 1
