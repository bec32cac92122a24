"""The ways of particles that start together on a mesh of triangles (SERAFIN, MED, UGRID, VTKHDF, a store), and are carried through
its steps by velocities that are linear in time between them. They start at places, or on a square grid over the mesh, and end at
the border, where nothing moves, or at a time. GeoJSON, CSV, or a picture over a map of the last speed."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.cli.triangles import streamlines

EXAMPLES = [
    "octavo pathlines r2d.slf --seeds 200 -o ways.geojson",
    "octavo pathlines r2d.slf --at 4500,4350 4600,4350 --start 400 --until 800 -o ways.csv",
]


def configure(parser: argparse.ArgumentParser) -> None:
    streamlines.add_ways(parser)
    parser.add_argument("--start", type=float, metavar="T", help="when particles start (default: at the first step)")
    parser.add_argument("--until", type=float, metavar="T", help="time at which they end (default: the last step)")
    options.add_flow(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.triangles.ways import pathlines

    at = streamlines.seeds_of(arguments, "pathlines")
    ways = pathlines(
        arguments.path, at, count=arguments.seeds, velocity=arguments.vectors, start=arguments.start,
        until=arguments.until, plane=arguments.plane, flow=arguments.flow,
    )  # fmt: skip
    return streamlines.tell(arguments, ways, None)
