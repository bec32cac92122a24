"""The leaves on a straight line, in order: where the line enters and leaves each, its level, and the values of fields.
Distances are exact, and the stretches of a line inside the domain sum to its length. A table for people, or CSV, NumPy
(.npy) or JSON. A line along a side between two cells is in the one with the larger coordinate. Only the domains near the
line are read; under mpirun the ranks share them. Through triangles the line may bend (--through): a row for each crossing
of an edge, of prisms one for each plane; also as a picture (.png, .pdf, .svg). One point gives the column of planes there."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo line output_00080 --field density --from 0,0.5,0.5 --to 1,0.5,0.5",
    "octavo line run.octavo --field density,pressure --from 0,0,0 --to 1,1,1 -o l.csv",
    "octavo line run.octavo --field density --from max:density --to center --level 8 --json",
    "octavo line r2d.slf --field 'WATER DEPTH,BOTTOM' --through 4500,4350 5500,4400 6000,4000 -o section.csv",
    "octavo line r3d.slf --field 'VELOCITY U' --through 2.5,0.5",
]
_MOST_ROWS = 40


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", type=options.names, required=True, metavar="A,B", help="the fields to list")
    options.add_place(parser, "--from", "the first end", None, to="start")
    options.add_place(parser, "--to", "the second end", None, to="end")
    options.add_through(parser, "of triangles, instead of --from and --to, a line with bends")
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="out.csv or out.npy, of triangles also a picture (default: a table)"
    )
    options.add_force(parser, "overwrite the output file")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.line import Line
    from octavo.ranks import is_root, world

    _check_ends(arguments)
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if arguments.output:
        endings = (".csv", ".npy", ".png", ".pdf", ".svg") if ds.unstructured and not ds.solids else (".csv", ".npy")
        if not arguments.output.endswith(endings):
            raise UsageError("the output must end in " + " or ".join(endings), [arguments.output], "-o line.csv")
        options.check_output(arguments.output, arguments.force)
    if options.planned(arguments, ds, arguments.field):
        return 0
    if ds.unstructured and not ds.solids:
        return _transect(arguments, ds, ranks)
    if arguments.through is not None:
        raise UsageError("a line with bends goes through meshes of triangles", [arguments.path], "--from P --to P")
    reading = options.reading(arguments, ds, ranks)
    with console.Progress("line", arguments.quiet, unit="domains") as progress:
        found = reading.do(
            lambda data: _core.line(
                data,
                fields=arguments.field,
                start=options.place(arguments.start, ds),
                end=options.place(arguments.end, ds),
                threads=arguments.threads,
                ranks=ranks,
                progress=progress,
                **options.chosen(arguments, data),
            )
        )
    console.notes(arguments.quiet, ds.notes)
    if is_root():
        _tell(arguments, Line.of(found | reading.facts()).in_units(dict(arguments.unit), ds), reading)
    return console.end(reading)


def _tell(arguments: argparse.Namespace, line, reading) -> None:
    """Writes or prints a line through cells."""
    from octavo.cli import console

    if arguments.output:
        line.save(arguments.output)
    if arguments.json:
        rows = {} if arguments.output else line.rows()
        console.print_json({"output": arguments.output, **line.facts(), **reading.facts(), **rows})
    elif arguments.output:
        console.say(arguments.quiet, f"{arguments.output}: {len(line)} cells, {line.length:.6g} [{line.length_unit}]")
    else:
        _print(line)


def _check_ends(arguments: argparse.Namespace) -> None:
    ends = (arguments.start is not None, arguments.end is not None)
    if ends != ((True, True) if arguments.through is None else (False, False)):
        raise UsageError("a line: expected --from and --to, or --through", [], "--from 0,0.5,0.5 --to 1,0.5,0.5")


def _transect(arguments: argparse.Namespace, ds, ranks) -> int:
    """A line through triangles."""
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root
    from octavo.triangles.outlines import line_of, words_of
    from octavo.triangles.transect import Transect

    where: dict[str, Any]
    if arguments.through is not None:
        where = {"through": line_of(words_of(arguments.through, options.THROUGH))}
    else:
        where = {"start": options.place(arguments.start, ds), "end": options.place(arguments.end, ds)}
    found = _core.transect(ds, fields=arguments.field, ranks=ranks, **where, **options.chosen(arguments, ds))
    console.notes(arguments.quiet, ds.notes)
    if not is_root():
        return 0
    line = Transect.of(found).in_units(dict(arguments.unit), ds)
    if arguments.output:
        line.save(arguments.output)
    if arguments.json:
        console.print_json({"output": arguments.output, **line.facts(), **({} if arguments.output else line.rows())})
    elif arguments.output:
        console.say(arguments.quiet, f"{arguments.output}: {len(line)} places, {line.length:.6g} [{line.length_unit}]")
    else:
        _print_transect(line)
    return 0


def _print_transect(line) -> None:
    from octavo.cli import console

    columns = line.columns()
    units = dict(zip(line.values, line.units, strict=True))
    heads = [f"{name} [{units[name]}]" if units.get(name) else name for name in columns]
    table = list(zip(*columns.values(), strict=True))
    console.line(f"{len(line)} places on a line of {line.length:.10g} [{line.length_unit}]")
    shown = table if len(table) <= _MOST_ROWS else table[: _MOST_ROWS // 2] + table[-_MOST_ROWS // 2 :]
    console.table("", heads, ([float(value) for value in row] for row in shown))
    if len(shown) < len(table):
        console.line(f"(the first and last {_MOST_ROWS // 2} of {len(table)} rows; -o l.csv writes all)")


def _print(line) -> None:
    from octavo.cli import console

    console.line(
        f"{len(line)} cells from {_place(line.start)} to {_place(line.end)}, {line.length:.10g} [{line.length_unit}]"
    )
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
