"""The leaves on a straight line, in order: where the line enters and leaves each, its level, and the values of fields.
Distances are exact, and the stretches of a line inside the domain sum to its length. A table for people, or CSV, NumPy
(.npy) or JSON. A line along a side between two cells is in the one with the larger coordinate. Only the domains near the
line are read; under mpirun the ranks share them."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo line output_00080 --field density --from 0,0.5,0.5 --to 1,0.5,0.5",
    "octavo line run.octavo --field density,pressure --from 0,0,0 --to 1,1,1 -o l.csv",
    "octavo line run.octavo --field density --from max:density --to center --level 8 --json",
]
_MOST_ROWS = 40


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", type=options.names, required=True, metavar="A,B", help="the fields to list")
    options.add_place(parser, "--from", "the first end", None, to="start")
    options.add_place(parser, "--to", "the second end", None, to="end")
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="out.csv or out.npy (default: a table on stdout)")
    options.add_force(parser, "overwrite the output file")
    options.add_step(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.line import Line
    from octavo.ranks import is_root, world

    if arguments.output:
        if not arguments.output.endswith((".csv", ".npy")):
            raise UsageError("the output must end in .csv or .npy", [arguments.output], "-o line.csv")
        options.check_output(arguments.output, arguments.force)
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, arguments.field):
        return 0
    with console.Progress("line", arguments.quiet, unit="domains") as progress:
        found = _core.line(
            ds,
            fields=arguments.field,
            start=options.place(arguments.start, ds),
            end=options.place(arguments.end, ds),
            threads=arguments.threads,
            ranks=ranks,
            progress=progress,
            **options.chosen(arguments, ds),
        )
    console.notes(arguments.quiet, ds.notes)
    if not is_root():
        return 0
    line = Line.of(found).in_units(dict(arguments.unit), ds)
    if arguments.output:
        line.save(arguments.output)
    if arguments.json:
        console.print_json({"output": arguments.output, **line.facts(), **({} if arguments.output else line.rows())})
    elif arguments.output:
        console.say(arguments.quiet, f"{arguments.output}: {len(line)} cells, {line.length:.6g} [code length]")
    else:
        _print(line)
    return 0


def _print(line) -> None:
    from octavo.cli import console

    console.line(f"{len(line)} cells from {_place(line.start)} to {_place(line.end)}, {line.length:.10g} [code length]")
    names = list(line.values)
    table = list(zip(line.entry, line.exit, line.level, *(line.values[name] for name in names), strict=True))
    heads = ["entry", "exit", "level"] + [
        f"{name} [{unit}]" if unit else name for name, unit in zip(names, line.units, strict=True)
    ]
    shown = table if len(table) <= _MOST_ROWS else table[: _MOST_ROWS // 2] + table[-_MOST_ROWS // 2 :]
    console.table("", heads, ([float(a), float(b), int(level), *map(float, some)] for a, b, level, *some in shown))
    if len(shown) < len(table):
        console.line(f"(the first and last {_MOST_ROWS // 2} of {len(table)} cells; -o l.csv writes all)")


def _place(values) -> str:
    return "(" + ", ".join(f"{value:.6g}" for value in values) + ")"
