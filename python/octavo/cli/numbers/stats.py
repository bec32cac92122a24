"""Extremes and where they are, means, integrals and NaN counts of every field, over owned leaf cells, in all and per
level; percentiles; and of every particle attribute."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo stats output_00080",
    "octavo stats run.octavo --field density,pressure --roi sphere:0.5,0.5,0.5:0.1",
    "octavo stats run.octavo --field density --percentiles 5,50,95 --weight mass",
    "octavo stats run.octavo --field density --roi box:0.4,0.4,0.4:0.6,0.6,0.6 --edge clip",
    "octavo stats run.octavo --json",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", type=options.names, metavar="A,B", help="only these fields (default: all)")
    options.add_percentiles(parser, "each field")
    parser.add_argument(
        "--weight",
        default="volume",
        metavar="W",
        help="weight of a cell in percentiles: volume, mass, none (1), or the value of a field (default: volume)",
    )
    options.add_selection(parser)
    options.add_edge(parser)
    options.add_fields(parser)
    parser.add_argument("--no-particles", action="store_true", help="leave particles out")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import world
    from octavo.units import stats_in

    if arguments.edge == "clip" and arguments.percentiles:
        raise UsageError("percentiles are of whole cells: --edge clip takes shares of them", [], "leave one away")
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, arguments.field):
        return 0
    reading = options.reading(arguments, ds, ranks)
    with console.Progress("stats", arguments.quiet, unit="domains") as progress:
        result = reading.do(
            lambda data: _core.stats(
                data,
                fields=arguments.field,
                edge=arguments.edge,
                particles=not arguments.no_particles,
                threads=arguments.threads,
                ranks=ranks,
                progress=progress,
                **options.chosen(arguments, data),
            )
        )
    console.notes(arguments.quiet, ds.notes)
    if arguments.percentiles:
        add_percentiles(arguments, reading, ranks, result)
    stats_in(result, dict(arguments.unit), ds)
    if arguments.json:
        console.print_json({**result, **reading.facts()})
    else:
        _print(result, ds.unstructured, ds.dim)
    return console.end(reading)


def add_percentiles(arguments: argparse.Namespace, reading: Any, ranks: Any, result: dict[str, Any]) -> None:
    """Collective over `ranks`."""
    from octavo.binned import percentiles_of_all
    from octavo.cli.numbers import binned

    fields = list(result["fields"])
    words = {
        "axes": [], "fields": fields, "weight": arguments.weight or "volume", "percentiles": arguments.percentiles
    }  # fmt: skip
    (sums,) = binned.sums_of(arguments, reading, ranks, None, [words])
    for name, row in percentiles_of_all(sums, arguments.percentiles).items():
        result["fields"][name]["percentiles"] = row


def _place(values: list[float] | None) -> str:
    return "-" if values is None else "(" + ", ".join(f"{value:.6g}" for value in values) + ")"


def _print(result: dict[str, Any], triangles: bool, dim: int) -> None:
    from octavo.cli.console import line, number, table

    places = "points" if triangles else "leaves"
    size = "area" if triangles and dim == 2 else "volume"
    line(f"{number(result['leaves'])} {places}, {size} {result['volume']:.10g}")
    fields = result["fields"].items()
    table(
        "fields",
        ["field", "min", "at", "max", "at", "mean", "volume-weighted", "mass-weighted", "integral", "NaN"],
        (
            [name, f["min"], _place(f["min_at"]), f["max"], _place(f["max_at"]), f["mean"], f["volume_mean"],
             f["mass_mean"], f["integral"], f["nan"]]
            for name, f in fields
        ),
    )  # fmt: skip
    asked = next((list(f["percentiles"]) for _, f in fields if "percentiles" in f), None)
    if asked:
        table("percentiles", ["field", *asked], ([name, *f["percentiles"].values()] for name, f in fields))
    if triangles:
        return  # triangles have no levels
    table(
        "per level",
        ["field", "level", "leaves", "min", "max", "mean", "integral"],
        (
            [name, v["level"], v["leaves"], v["min"], v["max"], v["mean"], v["integral"]]
            for name, f in fields
            for v in f["levels"]
            if v["leaves"]
        ),
    )
    if result["particles"]:
        table(
            "particles",
            ["attribute", "min", "max", "sum"],
            ([name, p["min"], p["max"], p["sum"]] for name, p in result["particles"].items()),
        )
