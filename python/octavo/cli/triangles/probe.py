"""Values at places over all steps of a mesh of triangles (SERAFIN, MED, VTKHDF, a store), linear within the triangle around each place: a table, CSV or
JSON."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo probe r2d.slf --at 4500,4350",
    "octavo probe r2d.slf --at 4500,4350 --at 5500,4400 --field 'WATER DEPTH' --csv > gauges.csv",
    "octavo probe r3d.slf --at 5,5 --plane 0 --json",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a SERAFIN, MED, UGRID or VTKHDF file, or a store")
    parser.add_argument("--at", action="append", required=True, metavar="X,Y", help="a place; may be repeated")
    parser.add_argument("--field", type=options.names, metavar="A,B", help="only these fields (default: all)")
    parser.add_argument(
        "--plane", type=int, default=-1, metavar="N", help="of 3-D meshes, from 0 at the bottom (default: top)"
    )
    options.add_flow(parser)
    parser.add_argument("--csv", action="store_true", help="comma-separated values")
    options.add_json(parser)


def _place(text: str) -> tuple[float, float]:
    try:
        x, y = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}': expected two numbers", [], "--at 4500,4350") from None
    return x, y


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console

    places = [_place(text) for text in arguments.at]
    found = _core.probe(arguments.path, places, fields=arguments.field, plane=arguments.plane, flow=arguments.flow)
    for text, inside in zip(arguments.at, found["inside"], strict=True):
        if not inside:
            console.say(arguments.quiet, f"note: {text} lies outside of the mesh")
    if arguments.json:
        console.print_json(_facts(arguments.path, places, found))
        return 0
    heads = ["time"] + [
        f"{field} at {text}" if len(places) > 1 else field for text in arguments.at for field in found["fields"]
    ]
    rows = [[time, *found["values"][:, :, step].ravel()] for step, time in enumerate(found["times"])]
    if arguments.csv:
        console.print_csv(heads, rows)
    else:
        console.table(arguments.path, heads, ([f"{value:.6g}" for value in row] for row in rows))
    return 0


def _facts(path: str, places: list[tuple[float, float]], found: dict) -> dict:
    """The stable interface of `--json`: NaN outside of the mesh is null."""
    return {
        "path": path,
        "times": found["times"].tolist(),
        "units": dict(zip(found["fields"], found["units"], strict=True)),
        "places": [
            {
                "at": list(place),
                "inside": bool(inside),
                "fields": {
                    field: [None if value != value else value for value in found["values"][i, f].tolist()]
                    for f, field in enumerate(found["fields"])
                },
            }
            for i, (place, inside) in enumerate(zip(places, found["inside"], strict=True))
        ],
    }
