"""Find clumps: sets of cells above a threshold that are connected by their sides, across levels, domains and periodic
sides. Each has its cells, volume, mass, centre, the smallest box around it, and the place of its largest value; the
heaviest is the first. A table for people, CSV, NumPy (.npy) or JSON; --labels writes the cells with the label of their clump.
Under mpirun the ranks share the domains."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo clumps output_00080 --above 10",
    "octavo clumps run.octavo --field density --above 0.5 --min-cells 20 -o clumps.csv",
    "octavo clumps run.octavo --above 0.5 --labels clumps.vtkhdf",
    "octavo clumps run.octavo --field temperature --above 1e6 --roi sphere:0.5,0.5,0.5:0.2 --unit mass=Msun",
]
_MOST_ROWS = 40


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument(
        "--field", default="density", metavar="F", help="the field with the threshold (default: density)"
    )
    parser.add_argument(
        "--above", type=float, required=True, metavar="V", help="cells with a larger value, in the code's own unit"
    )
    parser.add_argument(
        "--min-cells", type=options.positive, default=1, metavar="N", help="list only clumps of N cells or more (1)"
    )
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="out.csv or out.npy (default: a table on stdout)")
    parser.add_argument(
        "--labels", metavar="FILE", help="write the step's cells with a field clump, their label (0: none): out.vtkhdf, .npz or "
        ".csv, or out.octavo, a store with all fields"
    )  # fmt: skip
    options.add_force(parser, "overwrite the output files")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root, world
    from octavo.structures.clumps import Clumps

    if arguments.labels:
        _check_labels(arguments)

    if arguments.output:
        if not arguments.output.endswith((".csv", ".npy")):
            raise UsageError("the output must end in .csv or .npy", [arguments.output], "-o clumps.csv")
        options.check_output(arguments.output, arguments.force)
    ranks = world()
    # Labels of a part are of the clumps that cross it, so that any rank may read any part.
    open_step = _core.open_on_all if arguments.labels or arguments.skip_damaged else _core.open
    ds = open_step(arguments.path, arguments.flow, arguments.step, ranks)
    if options.planned(arguments, ds, [arguments.field]):
        return 0
    reading = options.reading(arguments, ds, ranks)
    with console.Progress("clumps " + arguments.field, arguments.quiet, unit="domains") as progress:

        def find(data) -> tuple:
            chosen = options.chosen(arguments, data)
            found = _core.clumps(
                data, field=arguments.field, above=arguments.above, threads=arguments.threads, ranks=ranks,
                progress=progress, **chosen,
            )  # fmt: skip
            return found, data, chosen

        found, data, chosen = reading.do(find)
    console.notes(arguments.quiet, ds.notes)
    clumps = Clumps.of(found | reading.facts(), data, arguments.min_cells, chosen).in_units(dict(arguments.unit), ds)
    if arguments.labels:
        _write_labels(arguments, clumps, ranks)
    if is_root():
        _tell(arguments, clumps)
    return console.end(reading)


def _tell(arguments: argparse.Namespace, clumps) -> None:
    """Writes or prints the table."""
    from octavo.cli import console

    if arguments.output:
        clumps.save(arguments.output)
    if arguments.json:
        console.print_json({"output": arguments.output, "labels": arguments.labels, **clumps.table()})
    elif arguments.output:
        console.say(arguments.quiet, f"{arguments.output}: {_said(clumps)}")
    else:
        _print(clumps)


def _check_labels(arguments: argparse.Namespace) -> None:
    """Raises now if the file of labels cannot be made."""
    from octavo.exports import files

    if not arguments.labels.endswith(".octavo"):
        kind = files.kind_of(arguments.labels, None)
        if kind not in ("htg", "cells", "cube"):
            raise UsageError("labels are of cells", [arguments.labels], "--labels clumps.vtkhdf")
    options.check_output(arguments.labels, arguments.force, "octavo" if arguments.labels.endswith(".octavo") else "")


def _write_labels(arguments: argparse.Namespace, clumps, ranks) -> None:
    """Collective under mpirun. The file has the selection's cells, a store all of the step."""
    from octavo import _core
    from octavo.exports import files

    step = clumps.labels._data
    if arguments.labels.endswith(".octavo"):
        _core.write(
            step,
            arguments.step or 0,
            arguments.labels,
            overwrite=arguments.force,
            threads=arguments.threads,
            ranks=ranks,
        )
        return
    files.write(
        step, options.chosen(arguments, step), arguments.labels, "cells" if arguments.labels.endswith(".npz") else None,
        fields=list(dict.fromkeys([arguments.field, "clump"])), overwrite=arguments.force, threads=arguments.threads,
        ranks=ranks,
    )  # fmt: skip


def _said(clumps) -> str:
    facts = clumps.facts
    fewer = f" of {facts['min_cells']} cells or more, of {facts['clumps']}" if facts["min_cells"] > 1 else ""
    return f"{len(clumps)} clumps{fewer}, {facts['cells']} cells above {facts['above']:g}"


def _print(clumps) -> None:
    from octavo.cli import console

    console.line(_said(clumps))
    columns = clumps.columns()
    rows = list(zip(*(values[:_MOST_ROWS].tolist() for values in columns.values()), strict=True))
    console.table("", list(columns), rows)
    if len(clumps) > _MOST_ROWS:
        console.line(f"(the first {_MOST_ROWS} of {len(clumps)} clumps; -o clumps.csv writes all)")
