"""Weighted mean, standard deviation, minimum, maximum and percentiles of fields in bins of the distance from a centre, from an axis,
along a direction, or of another field; as a table, a picture (.png), CSV (.csv) or a NumPy file (.npy). Distances are to
the centres of cells [code length], along periodic axes to the nearest image. All sums have the same bits for any number of
threads and, under mpirun, of ranks."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.cli.numbers import binned
from octavo.errors import UsageError

EXAMPLES = [
    "octavo profile output_00080 --field density --centre max:density --log -o profile.png",
    "octavo profile run.octavo --field density,velocity_x --roi sphere:0.5,0.5,0.5:0.2 --bins 40 -o profile.csv",
    "octavo profile run.octavo --field pressure --axis cylinder --normal 1,1,0 --weight mass",
    "octavo profile run.octavo --field density --percentiles 16,50,84 --weight mass -o band.png",
    "octavo profile run.octavo --field pressure --axis density --log -o polytrope.png",
    "octavo profile run.octavo --field density --cumulative --centre max:density --log -o mass.csv",
    "octavo profile run.octavo --field density --axis angle --roi cylinder:center:z:0.2:0.05 --bins 36",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument(
        "--field", required=True, action="append", metavar="F[,G]", help="fields to average; may be repeated"
    )
    parser.add_argument(
        "--axis",
        default="radius",
        metavar="A",
        help="radius (from the centre), cylinder (radius from the axis), height (along the axis), angle (around it, in "
        "degrees), x, y, z, or a field "
        "(default: radius)",
    )
    binned.add_centre(parser)
    parser.add_argument("--bins", type=options.positive, default=64, metavar="N", help="number of bins (64)")
    parser.add_argument("--log", action="store_true", help="logarithmic bins")
    parser.add_argument(
        "--range", metavar="A,B", help="first and last edge (default: all that the selection can reach)"
    )
    parser.add_argument(
        "--cumulative",
        action="store_true",
        help="numbers of all cells up to each bin's upper edge, and the sum of value times weight: of a density by volume "
        "the mass within",
    )
    options.add_percentiles(parser, "the fields in each bin; the picture shows the band between the outermost")
    binned.add_options(parser, "volume")
    parser.set_defaults(verb="profile")


def path_of(arguments: argparse.Namespace) -> str | None:
    return binned.output_of(arguments, None)


def asked(arguments: argparse.Namespace) -> Any:
    from octavo.binned import asked_profile

    if arguments.cumulative and arguments.percentiles:
        raise UsageError("--percentiles are of bins, not cumulative")
    return asked_profile(
        [name for text in arguments.field for name in options.names(text)], axis=arguments.axis, bins=arguments.bins,
        log=arguments.log, range=binned.pair(arguments.range, "range"), weight=arguments.weight,
        percentiles=arguments.percentiles, units=dict(arguments.unit), cumulative=arguments.cumulative,
        **binned.centre_of(arguments),
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    return binned.run(arguments, path_of(arguments), asked(arguments), show)


def show(arguments: argparse.Namespace, ds: Any, result: Any, path: str | None) -> None:
    """Writes or prints the profile."""
    from octavo.cli import console

    binned.write(arguments, ds, result, path)
    if path is None and not arguments.json:
        _print(result, console)


def _print(result: Any, console: Any) -> None:
    shown = {name: values for name, values in result.columns().items() if not name.endswith((" min", " max"))}
    used = result.cells > 0
    rows = zip(*(values[used].tolist() for values in shown.values()), strict=True)
    console.table("", list(shown), rows)
    binned.tell_beyond(result)
