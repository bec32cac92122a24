"""How the cells of an output are spread over the values of a field: the sum of their weights in each bin, as a table, a
picture (.png), CSV (.csv) or a NumPy file (.npy). Cells count by their centre; all sums have the same bits for any number
of threads and, under mpirun, of ranks."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.cli.numbers import binned
from octavo.errors import UsageError

EXAMPLES = [
    "octavo hist output_00080 --field density --log -o hist.png",
    "octavo hist run.octavo --field velocity_x --range=-1,1 --bins 200 --weight mass -o hist.csv",
    "octavo hist run.octavo --field density --log --weight none --cumulative",
    "octavo hist run.octavo --field density --log --percentiles 5,50,95 -o hist.png",
    "octavo hist r2d.slf --field 'WATER DEPTH' --range 0.01,10",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument(
        "--field", required=True, metavar="F", help="the field to bin by, or radius, cylinder, height, angle"
    )
    options.add_particles(parser, "those by an attribute, or by their age; --weight is mass, another attribute or none")
    binned.add_centre(parser)
    parser.add_argument("--bins", type=options.positive, default=64, metavar="N", help="number of bins (64)")
    parser.add_argument(
        "--log", action="store_true", help="logarithmic bins; values of 0 and below are outside of them"
    )
    parser.add_argument(
        "--range", metavar="A,B", help="first and last edge (default: the smallest and largest value, found first)"
    )
    parser.add_argument("--cumulative", action="store_true", help="add to each bin the sum of all bins before it")
    options.add_percentiles(parser, "all values, as lines in the picture and in --json")
    binned.add_options(parser, "volume")
    parser.set_defaults(verb="hist")


def path_of(arguments: argparse.Namespace) -> str | None:
    return binned.output_of(arguments, None)


def asked(arguments: argparse.Namespace) -> Any:
    from octavo.binned import asked_hist

    return asked_hist(
        arguments.field, bins=arguments.bins, log=arguments.log, range=binned.pair(arguments.range, "range"),
        weight=arguments.weight, cumulative=arguments.cumulative, percentiles=arguments.percentiles,
        units=dict(arguments.unit), **binned.centre_of(arguments),
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    path = path_of(arguments)
    if arguments.particles is not None:
        return _particles(arguments, path, binned.pair(arguments.range, "range"))
    return binned.run(arguments, path, asked(arguments), show)


def show(arguments: argparse.Namespace, ds: Any, result: Any, path: str | None) -> None:
    """Writes or prints the histogram."""
    binned.write(arguments, ds, result, path)
    _print(arguments, result, path)


def _particles(arguments: argparse.Namespace, path: str | None, limits: tuple[float, float] | None) -> int:
    from octavo import particles
    from octavo.binned import bin_by_field, histogram
    from octavo.cli import console
    from octavo.ranks import world

    if arguments.percentiles:
        raise UsageError("--percentiles are of cells, not of particles")
    ranks = world()
    data, region = options.open_particles(arguments, ranks)
    axis = bin_by_field(arguments.field, arguments.bins, log=arguments.log, range=limits)
    reading = options.reading(arguments, data, ranks)
    with console.Progress("hist " + arguments.particles, arguments.quiet, unit="domains") as progress:
        sums = reading.do(
            lambda data: particles.binned(
                data, region, arguments.particles, axis, arguments.weight, threads=arguments.threads,
                ranks=ranks, progress=progress,
            )
        )  # fmt: skip
    result = histogram(sums | reading.facts(), arguments.cumulative).in_units(dict(arguments.unit), data)
    show(arguments, data, result, path)
    return console.end(reading)


def _print(arguments: argparse.Namespace, result: Any, path: str | None) -> None:
    from octavo.cli import console

    if path is None and not arguments.json:
        columns = result.columns()
        heads = ["particles" if name == "cells" and "particles" in result.facts else name for name in columns]
        console.table("", heads, zip(*(values.tolist() for values in columns.values()), strict=True))
        binned.tell_beyond(result)
        if marks := result.facts.get("percentiles"):
            console.table("percentiles", list(marks), [list(marks.values())])
