"""Values at places through outputs and steps: of cells those of the leaf around each place, of triangles (SERAFIN, MED,
UGRID, VTKHDF, a store) and solids linear within the triangle or tetrahedron around it. A table, CSV or JSON."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo probe 'output_*' --at 0.5,0.5,0.5 --field density,pressure",
    "octavo probe run.octavo --at max:density --at '20 kpc,30 kpc,50 kpc' --csv",
    "octavo probe r2d.slf --at 4500,4350",
    "octavo probe r2d.slf --at 4500,4350 --at 5500,4400 --field 'WATER DEPTH' --csv > gauges.csv",
    "octavo probe r3d.slf --at 5,5 --plane 0 --json",
    "octavo probe flow.vtkhdf --at 0.5,0.2,0.1",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="+", help="outputs or stores, also as a quoted pattern; of triangles one file")
    parser.add_argument(
        "--at",
        action="append",
        required=True,
        metavar="POINT",
        help="a place: 0.5,0.5,0.5 (fractions of the box length, or lengths: 20 kpc), center, max:FIELD or min:FIELD; in "
        "triangles X,Y in their own coordinates, in solids X,Y,Z; may be repeated",
    )
    parser.add_argument(
        "--field", type=options.names, metavar="A,B", help="only these fields or formulas (default: all)"
    )
    parser.add_argument(
        "--plane", type=int, default=-1, metavar="N", help="of 3-D meshes, from 0 at the bottom (default: top)"
    )
    options.add_flow(parser)
    parser.add_argument("--csv", action="store_true", help="comma-separated values")
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.places import series_at
    from octavo.ranks import is_root, world

    with console.Progress("probe", arguments.quiet, unit="steps") as progress:
        found = series_at(
            arguments.path, arguments.at, arguments.field, plane=arguments.plane, flow=arguments.flow, ranks=world(),
            progress=progress,
        )  # fmt: skip
    if is_root():
        _tell(arguments, found)
    return 0


def _tell(arguments: argparse.Namespace, found: dict[str, Any]) -> None:
    from octavo.cli import console

    for text, inside in zip(arguments.at, found["inside"], strict=True):
        if not inside:
            console.say(arguments.quiet, f"note: {text} lies outside")
    if arguments.json:
        console.print_json(_facts(arguments, found))
        return
    heads = ["time"] + [
        f"{field} at {text}" if len(arguments.at) > 1 else field for text in arguments.at for field in found["fields"]
    ]
    rows = [[time, *found["values"][:, :, step].ravel()] for step, time in enumerate(found["times"])]
    if arguments.csv:
        console.print_csv(heads, rows)
    else:
        console.table(", ".join(arguments.path), heads, ([f"{value:.6g}" for value in row] for row in rows))


def _facts(arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    """The stable interface of `--json`: NaN outside is null. Places in triangles stand still; those in cells have one for each
    step."""
    at = found.get("at")
    return {
        "path": arguments.path[0] if len(arguments.path) == 1 else arguments.path,
        "times": found["times"].tolist(),
        "units": dict(zip(found["fields"], found["units"], strict=True)),
        "places": [
            {
                "at": [float(word) for word in text.split(",")] if at is None else at[i].tolist(),
                "inside": bool(inside),
                "fields": {
                    field: [None if value != value else value for value in found["values"][i, f].tolist()]
                    for f, field in enumerate(found["fields"])
                },
            }
            for i, (text, inside) in enumerate(zip(arguments.at, found["inside"], strict=True))
        ],
    }
