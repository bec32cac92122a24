"""Prints the command's output: tables and JSON on stdout, messages and progress on stderr. All text that may hold a name
from a file goes through here. It is shown as it is, never as markup."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from octavo.printable import printable, printable_lines, valid
from octavo.ranks import is_root, launched

#: Version of the output of --json. It grows when a key goes away or changes its meaning, not when a key is added.
SCHEMA_VERSION = 1


def print_json(facts: dict[str, Any]) -> None:
    """JSON on stdout, with the version of its schema. Numbers that JSON cannot hold (NaN, infinities) become null, bytes
    that are not UTF-8 become U+FFFD."""
    if is_root():
        import json

        json.dump(as_json({"schema_version": SCHEMA_VERSION, **facts}), sys.stdout, indent=1)
        sys.stdout.write("\n")


def as_json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return valid(value)
    if isinstance(value, dict):
        return _with_valid_keys(value)
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    return value


def _with_valid_keys(facts: dict[str, Any]) -> dict[str, Any]:
    """Keeps names distinct that differ only in bytes that are not UTF-8."""
    out: dict[str, Any] = {}
    for key, item in facts.items():
        name = valid(str(key))
        while name in out:
            name += "\ufffd"
        out[name] = as_json(item)
    return out


def print_csv(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A table on stdout as comma-separated values; numbers read back to the same bits. By rank 0."""
    if not is_root():
        return
    import csv

    def text(value: Any) -> str:
        return (
            printable(value)
            if isinstance(value, str)
            else str(value)
            if isinstance(value, int)
            else f"{float(value):.17g}"
        )

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(printable(head) for head in heads)
    writer.writerows([text(value) for value in row] for row in rows)


def line(text: str = "") -> None:
    """Prints a line on stdout, by rank 0."""
    if is_root():
        print(printable(text))


def say(quiet: bool, text: str) -> None:
    """Prints a message on stderr, by rank 0."""
    if not quiet and is_root():
        print(printable_lines(text), file=sys.stderr)


def end(reading: Any) -> int:
    """Names the damaged domains that a result lacks, and returns the command's exit code."""
    from octavo.damage import said

    facts = reading.facts()
    if text := said(facts):
        say(False, "\n".join([text, *facts["incomplete"]["damage"]]))
    return int(reading.exit_code())


def end_of_steps(lacking: Iterable[tuple[Any, dict[str, Any] | None]]) -> int:
    """The same of many steps: `lacking` has a snapshot and what its result lacks, or None."""
    from octavo.damage import INCOMPLETE, said

    code = 0
    for snapshot, incomplete in lacking:
        if incomplete:
            text = said({"incomplete": incomplete})
            say(False, "\n".join([f"{snapshot.path}, step {snapshot.step}: {text}", *incomplete["damage"]]))
            code = INCOMPLETE
    return code


def notes(quiet: bool, texts: Iterable[str]) -> None:
    """Prints notes on stderr, by rank 0."""
    for text in texts:
        say(quiet, "note: " + text)


def report(quiet: bool, as_json: bool, facts: dict[str, Any], sentence: str) -> None:
    """Tells of the files that a verb wrote: its notes, then all facts as JSON, or one sentence on stdout."""
    notes(quiet, facts.get("notes", []))
    if as_json:
        print_json(facts)
    elif not quiet:
        line(sentence)


def size(count: float) -> str:
    """Formats a number of bytes for readers: 1.5 MB (decimal prefixes)."""
    from octavo.sizes import text_of

    return text_of(count)


def number(value: Any) -> str:
    """Formats a count in groups of three digits, or a float with six digits."""
    if isinstance(value, bool) or value is None:
        return "-" if value is None else str(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(str(value))


def counted(count: int, noun: str) -> str:
    """Formats a count of things whose plural has an s: 1 step, 2 steps."""
    return f"{number(count)} {noun}" + ("" if count == 1 else "s")


def fact(name: str, text: str) -> None:
    """Prints a name and what there is to say of it on stdout, by rank 0; on a narrow terminal over several lines."""
    import textwrap

    indent = " " * 12
    words = f"  {name:10}{text}"
    width = _terminal_width()
    lines = [words] if width is None else textwrap.wrap(words, max(width, 40), subsequent_indent=indent)
    for part in lines:
        line(part)


def _terminal_width() -> int | None:
    """None if stdout is no terminal. mpirun gives its ranks one of 80 columns, no matter where its own output goes: that
    does not count."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() and launched()[1] == 1 else None


def _fitting(heads: list[str], rows: list[list[str]], spare: Iterable[str]) -> list[int]:
    """The columns that a terminal has room for: `spare` ones leave it, the first first, until the rest fits."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    width = _terminal_width()
    kept = list(range(len(heads)))
    for name in spare:
        if width is None or sum(widths[column] + 3 for column in kept) <= width:
            break
        kept.remove(heads.index(name))
    return kept


def _least_widths(heads: list[str], right: list[bool], rows: list[list[str]], width: int) -> list[int]:
    """How narrow columns may become: numbers stay whole, heads and other text are folded between words. Names in the first
    column stay in one piece as long as they leave half of the line to the rest."""

    def longest(texts: Iterable[str]) -> int:
        return max(map(len, texts), default=0)

    columns = list(zip(*rows, strict=True)) if rows else [()] * len(heads)
    least = [
        longest([*head.split(), *(column if is_right else (word for text in column for word in text.split()))])
        for head, is_right, column in zip(heads, right, columns, strict=True)
    ]
    least[0] = longest([heads[0], *columns[0]])
    return [min(size, width // 2) for size in least]


def _pieces(least: list[int], width: int) -> list[list[int]]:
    """The columns of each piece of a table that is wider than the terminal; all pieces begin with the first column."""
    pieces = [[0]]
    for column in range(1, len(least)):
        if len(pieces[-1]) > 1 and sum(least[kept] + 3 for kept in [*pieces[-1], column]) > width:
            pieces.append([0])
        pieces[-1].append(column)
    return pieces


def _widths(heads: list[str], least: list[int], rows: list[list[str]], width: int) -> list[int]:
    """The least widths, and what the line has room for beyond them, shared by the columns that need more."""
    widths, room = list(least), width - sum(size + 3 for size in least)
    missing = [max(map(len, column)) - size for column, size in zip(zip(heads, *rows, strict=True), least, strict=True)]
    for served, column in enumerate(sorted(range(len(least)), key=missing.__getitem__)):
        more = max(0, min(missing[column], room // (len(least) - served)))
        widths[column] += more
        room -= more
    return widths


def table(title: str, columns: list[str], rows: Iterable[Iterable[Any]], spare: Iterable[str] = ()) -> None:
    """Prints a table on stdout. Columns of numbers are aligned right. A narrow terminal does not get the `spare`
    columns; if the others are still too wide for it, the table goes on below, with the first column again. The package
    rich draws it on a terminal; elsewhere, and without rich, it is plain text."""
    if not is_root():
        return
    cells = [list(row) for row in rows]
    right = [
        all(isinstance(text, (int, float)) or text is None or _is_measure(text) for text in column)
        for column in (list(zip(*cells, strict=True)) if cells else [()] * len(columns))
    ]
    texts = [[number(value) for value in row] for row in cells]
    heads = [printable(name) for name in columns]
    kept = _fitting(heads, texts, spare)
    heads, right = [heads[column] for column in kept], [right[column] for column in kept]
    texts = [[row[column] for column in kept] for row in texts]
    width = _terminal_width()
    if width is None:
        return _plain_table(printable(title), heads, right, texts)
    least = _least_widths(heads, right, texts, width)
    title = printable(title)
    for piece in _pieces(least, width):

        def of(row: list[Any], piece: list[int] = piece) -> list[Any]:
            return [row[column] for column in piece]

        rows_of_piece = [of(row) for row in texts]
        try:
            _rich_table(title, of(heads), of(right), of(least), rows_of_piece, width)
        except ImportError:
            _plain_table(title, of(heads), of(right), rows_of_piece)
        title = ""


def _rich_table(
    title: str, heads: list[str], right: list[bool], least: list[int], rows: list[list[str]], width: int
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head, is_right, size in zip(heads, right, _widths(heads, least, rows, width), strict=True):
        out.add_column(Text(head), justify="right" if is_right else "left", overflow="fold", width=size)
    for row in rows:
        out.add_row(*map(Text, row))

    class Stdout(Console):
        def on_broken_pipe(self) -> None:  # a reader that stops early is not an error
            raise BrokenPipeError

    console = Stdout(width=width, highlight=False, force_terminal=True)
    if title:
        console.print(Text(title), style="bold")
    console.print(out)


def _plain_table(title: str, heads: list[str], right: list[bool], rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def drawn(row: list[str]) -> str:
        cells = zip(row, widths, right, strict=True)
        return "   ".join(
            text.rjust(width) if is_right else text.ljust(width) for text, width, is_right in cells
        ).rstrip()

    lines = [title] * bool(title) + [drawn(heads), "-" * (sum(widths) + 3 * (len(widths) - 1)), *map(drawn, rows)]
    print("\n".join(lines), end="\n\n")


def _is_measure(text: Any) -> bool:
    return isinstance(text, str) and text[:1].isdigit()


class Progress:
    """One line on stderr while long work runs: shown after 0.3 s, gone at the end on a terminal; plain lines every 10 s
    in a log. An instance is the callable (done, total) that the compiled jobs take."""

    def __init__(self, label: str, quiet: bool, unit: str = "bytes") -> None:
        self._label, self._unit = printable(label), unit
        self._shown = not quiet and is_root()
        self._start = self._last = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, done: int, total: int) -> bool:
        if not self._shown:
            return True
        now = time.monotonic()
        if sys.stderr.isatty():
            if now - self._start > 0.3:
                self._draw(done, total)
        elif now - self._last > 10:
            self._last = now
            amount = f"{size(done)} of {size(total)}" if self._unit == "bytes" else f"{done}/{total} {self._unit}"
            print(f"{self._label}: {amount}, {now - self._start:.0f} s", file=sys.stderr, flush=True)
        return True

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            try:
                from rich import progress
                from rich.console import Console
            except ImportError:  # the work does not need it
                self._shown = False
                return

            amount = (
                [progress.DownloadColumn(), progress.TransferSpeedColumn()]
                if self._unit == "bytes"
                else [progress.MofNCompleteColumn(), progress.TextColumn(self._unit)]
            )
            self._bar = progress.Progress(
                progress.TextColumn("{task.description}", markup=False),
                progress.BarColumn(),
                *amount,
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                refresh_per_second=5,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=total)
        self._bar.update(self._task, completed=done, total=total)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


Callback = Callable[[int, int], bool]
