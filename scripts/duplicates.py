"""Counts pairs of places in octavo/, capi/ and python/ that share six or more lines, the same to the letter or but for
names, tests left out. Exits with 1, and lists them, if there are more than 12 for 10,000 lines of code; --list always
lists them.

docs/decisions/0028 says why there is a bar. The rules of the count:
- A line of code is neither blank nor comment. Of these a line of names and brackets alone (a member, an enumerator, an
  argument, an end) and an include of the standard library cannot be written otherwise: they are not among the six.
- Runs of lines are the same but for names if each name of one always stands where the other has one and the same name.
  Numbers, texts, keywords and operators are the same. Includes, imports and `using` are the same to the letter.
- A pair is as long as it can be. Of pairs that overlap in both places, such as a list and the same list from its second
  line on, the longest counts. Code that stands in k places counts k (k - 1) / 2 times.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST = 6  # lines that a pair shares
MOST = 12  # pairs for 10,000 lines of code
WORDS = (
    # C++
    """alignas auto bool break case catch char class const const_cast constexpr continue default delete do double else
    enum explicit extern false final float for friend if inline int long mutable namespace new noexcept nullptr operator
    override private protected public reinterpret_cast requires return short signed sizeof static static_cast struct
    switch template this throw true try typedef typename union unsigned using virtual void volatile while std"""
    # Python
    """ and as assert async await def del elif except from global import in is lambda None nonlocal not or pass raise
    with yield True False self"""
    # Fortran
    """ allocatable allocate associated call character contains deallocate dimension end function implicit integer
    intent interface logical module only optional out parameter pointer procedure real result subroutine target then
    type use value"""
)
KEYWORDS = frozenset(WORDS.split())
NAME = re.compile(r"[A-Za-z_]\w*")
TOKEN = re.compile(r"""[A-Za-z_]\w*|\d[\w.']*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\S""")
BRACKETS = frozenset("{}()[]<>;,.:&*_") | {"std"}
STANDARD = re.compile(r"#(include <|pragma once)")
TO_THE_LETTER = re.compile(r"#|using |import |from |use ")
C_COMMENT = r"//.*$|/\*(?:.|\n)*?\*/"
COMMENTS = {
    ".cpp": C_COMMENT,
    ".hpp": C_COMMENT,
    ".h": C_COMMENT,
    ".f90": r"^\s*!.*$",
    ".py": r'^\s*#.*$|^\s*"""(?:.|\n)*?"""\s*$',
}


def code_of(path):
    """The lines of code, as (number, line)."""
    text = re.sub(
        COMMENTS[path.suffix], lambda found: "\n" * found[0].count("\n"), path.read_text(), flags=re.MULTILINE
    )
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def shape_of(line):
    """A line with `_` for each name, and the names. Nothing for a line that cannot be written otherwise."""
    if TO_THE_LETTER.match(line):
        return None if STANDARD.match(line) else (line, [])
    tokens = TOKEN.findall(line)
    shape = ["_" if NAME.fullmatch(token) and token not in KEYWORDS else token for token in tokens]
    if BRACKETS.issuperset(shape):
        return None
    return " ".join(shape), [token for token, place in zip(tokens, shape, strict=True) if place == "_"]


def pattern(lines):
    """The names of the lines, numbered in the order in which they first come."""
    numbers = {}
    return tuple(numbers.setdefault(name, len(numbers)) for _, _, names in lines for name in names)


def same_windows(files):
    """Windows of LEAST lines that are the same: lists of (file, first line)."""
    by_shape = defaultdict(list)
    for file, lines in files.items():
        for first in range(len(lines) - LEAST + 1):
            by_shape[tuple(shape for _, shape, _ in lines[first : first + LEAST])].append((file, first))
    for windows in by_shape.values():
        if len(windows) > 1:
            same = defaultdict(list)
            for file, first in windows:
                same[pattern(files[file][first : first + LEAST])].append((file, first))
            yield from same.values()


def pairs_of_places(files):
    """Pairs of runs, as long as they can be: (lines, file, first line, file, first line)."""
    ahead = set()
    for places in same_windows(files):
        ahead.update(pair for pair in combinations(places, 2) if pair[0][0] != pair[1][0] or apart(*pair))
    longest = []
    for (file, first), (other, second) in ahead:
        if ((file, first - 1), (other, second - 1)) not in ahead:
            more = 0
            while ((file, first + more + 1), (other, second + more + 1)) in ahead:
                more += 1
            longest.append((LEAST + more, file, first, other, second))
    kept = defaultdict(list)
    for lines, file, first, other, second in sorted(longest, key=lambda pair: (-pair[0], pair[1:])):
        before = kept[file, other]
        if not any(
            first < a + n and a < first + lines and second < b + n and b < second + lines for n, _, a, _, b in before
        ):
            before.append((lines, file, first, other, second))
    return sorted((pair for pairs in kept.values() for pair in pairs), key=lambda pair: pair[1:])


def apart(one, other):
    return other[1] - one[1] >= LEAST


def main():
    files, total = {}, 0
    for folder in ("octavo", "capi", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            if path.suffix not in COMMENTS or "test" in name.name or "tests" in name.parts:
                continue
            lines = code_of(path)
            total += len(lines)
            files[str(name)] = [(number, *shape) for number, line in lines if (shape := shape_of(line))]
    pairs = pairs_of_places(files)
    share = len(pairs) / total * 10_000
    if share > MOST or "--list" in sys.argv:
        for lines, file, first, other, second in pairs:
            one, two = files[file][first : first + lines], files[other][second : second + lines]
            print(f"{file}:{one[0][0]}-{one[-1][0]} ~ {other}:{two[0][0]}-{two[-1][0]}")
    print(f"{len(pairs)} duplicates in {total} lines of code: {share:.1f} for 10,000 lines, at most {MOST}")
    return 1 if share > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
