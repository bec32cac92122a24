"""Lines along the velocity at a step of a mesh of triangles (SERAFIN, MED, UGRID, VTKHDF, a store), as if it did not change. They
start at places, or on a square grid over the mesh, and end at the border, where nothing moves, or after --duration or --length.
GeoJSON, CSV, or a picture over a map of the speed."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo streamlines r2d.slf -o lines.png",
    "octavo streamlines r2d.slf --step 3 --seeds 300 --both -o lines.geojson",
    "octavo streamlines r2d.slf --at 4500,4350 4600,4350 --backward --duration 600 -o lines.csv",
]


def configure(parser: argparse.ArgumentParser) -> None:
    add_ways(parser)
    side = parser.add_mutually_exclusive_group()
    side.add_argument(
        "--backward", action="store_const", dest="direction", const="backward", help="follow the flow backward"
    )
    side.add_argument(
        "--both",
        action="store_const",
        dest="direction",
        const="both",
        help="follow it in both directions from each seed",
    )
    parser.set_defaults(direction="forward")
    parser.add_argument(
        "--duration", type=float, default=0.0, metavar="T", help="duration of a line in each direction [code time]"
    )
    parser.add_argument(
        "--length",
        type=float,
        default=0.0,
        metavar="L",
        help="length of a line in each direction [code length] (default: twice the longer side of the mesh's box)",
    )
    options.add_step(parser)


def add_ways(parser: argparse.ArgumentParser) -> None:
    """Seeds, velocity and output, of both verbs."""
    parser.add_argument("path", help="a SERAFIN, MED, UGRID or VTKHDF file, or a store")
    options.add_seeds(parser)
    parser.add_argument(
        "--seeds",
        type=options.whole,
        default=100,
        metavar="N",
        help="about this number of seeds, on a square grid (default: 100)",
    )
    parser.add_argument(
        "--vectors", default="velocity", metavar="V", help="the velocity, by the names V_x and V_y (default: velocity)"
    )
    parser.add_argument(
        "--plane",
        type=options.whole,
        default=-1,
        metavar="N",
        help="prisms: the plane, from 0 at the bottom (default: the top)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="out.geojson, .csv, .png, .pdf or .svg")
    options.add_force(parser, "overwrite the output file")
    options.add_json(parser)


def seeds_of(arguments: argparse.Namespace, verb: str) -> Any:
    """Checks the output, and reads the seeds."""
    from octavo.triangles.outlines import words_of
    from octavo.triangles.ways import ENDINGS

    options.refuse_ranks(verb)
    if not arguments.output.endswith(ENDINGS):
        raise UsageError(f"the output must end in {', '.join(ENDINGS)}", [arguments.output], "-o lines.geojson")
    options.check_output(arguments.output, arguments.force)
    return None if arguments.at is None else words_of(arguments.at, "--at 4500,4350 4600,4350")


def run(arguments: argparse.Namespace) -> int:
    from octavo.triangles.ways import streamlines

    at = seeds_of(arguments, "streamlines")
    ways = streamlines(
        arguments.path, at, count=arguments.seeds, velocity=arguments.vectors, direction=arguments.direction,
        duration=arguments.duration, length=arguments.length, step=arguments.step, plane=arguments.plane,
        flow=arguments.flow,
    )  # fmt: skip
    return tell(arguments, ways, arguments.step)


def tell(arguments: argparse.Namespace, ways: Any, step: int | None) -> int:
    """Writes the ways, and says how they end."""
    from octavo.cli import console
    from octavo.triangles.ways import ENDS

    console.notes(arguments.quiet, ways.notes)
    ways.save(arguments.output, _background(arguments, step))
    counts = {end: ways.ends.count(end) for end in ENDS if end in ways.ends}
    if arguments.json:
        console.print_json(
            {"path": arguments.path, "output": arguments.output, "time": ways.time, "ways": len(ways), "ends": counts}
        )
    else:
        ended = ", ".join(f"{count} {ENDS[end]}" for end, count in counts.items())
        console.say(arguments.quiet, f"{arguments.output}: {len(ways)} ways, ended: {ended}")
    return 0


def _background(arguments: argparse.Namespace, step: int | None) -> Any:
    """A map of the speed, for pictures of meshes of one plane."""
    import octavo

    if not arguments.output.endswith((".png", ".pdf", ".svg")):
        return None
    ds = octavo.open(arguments.path, step=step, flow=arguments.flow)
    if ds._data.dim == 3:
        return None
    v = arguments.vectors
    return ds.derive("speed of " + v, f"sqrt(`{v}_x`^2 + `{v}_y`^2)").map("speed of " + v)
