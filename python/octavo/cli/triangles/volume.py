"""A field's integral over polygons, or over the mesh, at every step of a mesh of triangles (SERAFIN, MED, VTKHDF, a store): of
the depth the volume of water. Triangles are cut at the polygon's sides exactly. In prisms it is the integral over the height
as well. A table, CSV, JSON or a picture over time. Under mpirun the ranks share the steps."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.cli.triangles import discharge

EXAMPLES = [
    "octavo volume r2d.slf",
    "octavo volume r2d.slf --polygon valley.geojson --polygon plain.geojson -o volume.csv",
    "octavo volume r2d.slf --polygon 4500,4000 5500,4000 5000,5000 --field 'water_depth*(water_depth>0.1)'",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a SERAFIN, MED, UGRID or VTKHDF file, or a store")
    options.add_polygon(parser, "a polygon (default: the whole mesh)", several=True)
    parser.add_argument(
        "--field", default="water_depth", metavar="F", help="a field or a formula (default: water_depth)"
    )
    discharge.add_series_output(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.ranks import world
    from octavo.triangles.outlines import words_of
    from octavo.triangles.steps_of_triangles import volume

    discharge.check_series_output(arguments, "volume")
    polygons = [words_of(words, options.POLYGON) for words in arguments.polygon or []]
    return discharge.tell(
        arguments,
        volume(arguments.path, polygons or None, field=arguments.field, flow=arguments.flow, ranks=world()),
    )
