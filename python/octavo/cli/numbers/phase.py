"""How the cells of an output are spread over the values of two fields: the sum of their weights in each bin, as a picture
(.png), CSV (.csv: the bins with cells) or a NumPy file (.npy of shape (bins of y, bins of x)). All sums have the same bits
for any number of threads and, under mpirun, of ranks."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli.numbers import binned
from octavo.errors import UsageError

EXAMPLES = [
    "octavo phase output_00080 --x density --y pressure",
    "octavo phase run.octavo --x density --y temperature --weight mass --bins 256 -o phase.png",
    "octavo phase run.octavo --x radius --y density --centre max:density --log y",
    "octavo phase run.octavo --x density --y velocity_x --y-range=-2,2 --bins 200,100 --log x -o phase.csv",
]
_LOGS = {"auto": (None, None), "xy": (True, True), "x": (True, False), "y": (False, True), "none": (False, False)}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument(
        "--x", required=True, metavar="F", help="the field along the horizontal axis, or radius, cylinder ..."
    )
    parser.add_argument("--y", required=True, metavar="F", help="the field along the vertical axis")
    binned.add_centre(parser)
    parser.add_argument("--bins", default="128", metavar="N[,M]", help="bins of x, and of y (128)")
    parser.add_argument(
        "--log",
        choices=list(_LOGS),
        default="auto",
        help="axes with logarithmic bins (auto: where all values are above 0 and range over more than a factor 100)",
    )
    for axis in ("x", "y"):
        parser.add_argument(
            f"--{axis}-range", metavar="A,B", help="first and last edge (default: the smallest and largest value)"
        )
    binned.add_options(parser, "mass, or volume where there is no density")
    parser.set_defaults(verb="phase")


def _bins(text: str) -> tuple[int, int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        counts = []
    if len(counts) not in (1, 2) or not all(0 < count <= 65536 for count in counts):
        raise UsageError(f"'{text}': expected one or two numbers of bins, 1 to 65536", [], "--bins 200,100")
    return counts[0], counts[-1]


def path_of(arguments: argparse.Namespace) -> str | None:
    return binned.output_of(arguments, None if arguments.json else f"{arguments.x}_{arguments.y}_phase")


def asked(arguments: argparse.Namespace) -> Any:
    from octavo.binned import asked_phase

    return asked_phase(
        arguments.x, arguments.y, bins=_bins(arguments.bins), log=_LOGS[arguments.log],
        x_range=binned.pair(arguments.x_range, "x-range"), y_range=binned.pair(arguments.y_range, "y-range"),
        weight=arguments.weight, units=dict(arguments.unit), **binned.centre_of(arguments),
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    return binned.run(arguments, path_of(arguments), asked(arguments), show)


def show(arguments: argparse.Namespace, ds: Any, result: Any, path: str | None) -> None:
    """Writes or prints the diagram."""
    binned.write(arguments, ds, result, path)
