"""Project a field along an axis to a picture (.png), a NumPy array (.npy) or HDF5 (.h5). Every cell counts with the exact
part of each pixel that it covers; from a camera, each pixel is the ray through its centre, with exact chords through the
cells. 2-D data gives the map of its values. With --particles it shows those. Under mpirun the ranks share the domains, and
each holds some rows of the image."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from typing import Any

from octavo.cli import options
from octavo.cli.pictures import image_output
from octavo.errors import UsageError

EXAMPLES = [
    "octavo map output_00080 --field density",
    "octavo map run.octavo --field pressure --weight density --axis x --pixels 2048 -o pressure.png",
    "octavo map run.octavo --field density --camera 1,1,1 -o corner.png",
    "octavo map run.octavo --field density --roi box:0.4,0.4,0.4:0.6,0.6,0.6 -o core.npy",
    "octavo map output_00080 --field density --overlay-particles sink -o sinks.png",
    "octavo map output_00080 --particles dm -o dm.png",
    "octavo map output_00080 --particles star --field age --unit age=Myr -o ages.png",
    "mpirun -n 8 octavo map run.octavo --field density --pixels 10000 -o density.npy",
    "octavo map r2d.slf --field 'WATER DEPTH' --over-time max --mask 'WATER DEPTH>0.01' -o flood.png",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", help="the field to project; with --particles an attribute, whose mean is shown")
    options.add_particles(
        parser, "the sum of --weight (default: mass) of each pixel's particles over its area, or the mean of --field"
    )
    add_projection(parser)
    options.add_selection(parser)
    options.add_fields(parser)
    image_output.add_image_output(parser, "map")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)


def add_projection(parser: argparse.ArgumentParser) -> None:
    """Adds how cells become pixels, as project() takes it."""
    add_line_of_sight(parser)
    parser.add_argument(
        "--camera",
        type=options.direction,
        metavar="X,Y,Z",
        help="instead of --axis: look from the end of this vector, with one exact ray per pixel (--camera=-1,0,0)",
    )
    parser.add_argument(
        "--up",
        type=options.direction,
        metavar="X,Y,Z",
        help="with --camera: direction that is up in the picture (default: z, or y for a view along z)",
    )
    options.add_edge(parser)
    parser.add_argument(
        "--mask",
        metavar="FIELD>V",
        help="triangles: show only places where this field is above V ('WATER DEPTH>0.01': wet land)",
    )


def add_line_of_sight(parser: argparse.ArgumentParser) -> None:
    """Adds how the cells along an axis become pixels."""
    parser.add_argument("--axis", choices=["x", "y", "z"], default="z", help="line of sight (default: z)")
    parser.add_argument(
        "--kind",
        choices=["integral", "mean", "max", "min"],
        help="quantity along the line (default: integral, or mean with --weight)",
    )
    parser.add_argument("--weight", metavar="W", help="mean along the line, weighted by this field (or 'volume')")
    parser.add_argument(
        "--blur",
        type=float,
        default=0.0,
        metavar="S",
        help="smooth each cell in the image by a Gaussian of S of its own edges (0.5); the sum over all pixels stays",
    )


def _mask(text: str | None) -> tuple[str | None, float]:
    if text is None:
        return None, 0.0
    field, sign, value = text.rpartition(">")
    try:
        if sign:
            return field.strip(), float(value)
    except ValueError:
        pass
    raise UsageError(f"'{text}': expected FIELD>VALUE", [], "--mask 'WATER DEPTH>0.01'")


def project(
    arguments: argparse.Namespace, ds: Any, ranks: Any, progress: Any,
    *, field: str | None = None, kind: str | None = None, pixels: int | None = None,
) -> Any:  # fmt: skip
    """The compiled map of a data set, or of another field with the same window. Collective over `ranks`."""
    from octavo import _core

    mask, above = _mask(arguments.mask)
    return _core.map(
        ds,
        field or arguments.field,
        axis=arguments.axis,
        camera=arguments.camera,
        up=arguments.up,
        kind=kind or arguments.kind or ("mean" if arguments.weight else "integral"),
        weight=None if kind == "max" else arguments.weight or ("volume" if kind == "mean" else None),
        edge=arguments.edge,
        pixels=pixels or arguments.pixels,
        threads=arguments.threads,
        ranks=ranks,
        progress=progress,
        mask=mask,
        above=above,
        blur=arguments.blur if kind is None else 0.0,
        **options.chosen(arguments, ds),
    )


def _particles(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.particles import deposit
    from octavo.ranks import world

    shown = arguments.field or arguments.weight or "mass"
    if arguments.grid or arguments.vectors is not None or arguments.overlay_particles is not None:
        raise UsageError("--grid, --vectors and --overlay-particles are drawn over cells, not over particles")
    if arguments.edge is not None:
        raise UsageError("--edge is of cells: particles are in a region or not")
    path = image_output.output_of(arguments, arguments.particles, shown, arguments.axis)
    image_output.drawing_of(arguments)  # says now what is wrong with it
    ranks = world()
    data, region = options.open_particles(arguments, ranks)
    with console.Progress("map " + arguments.particles, arguments.quiet, unit="domains") as progress:
        image_of = partial(
            deposit, region=region, name=arguments.particles, field=arguments.field, weight=arguments.weight,
            axis=arguments.axis, pixels=arguments.pixels, threads=arguments.threads, ranks=ranks, progress=progress,
        )  # fmt: skip
        return image_output.finish(
            arguments, image_of, path, data, ranks, options.reading(arguments, data, ranks), shown
        )


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.ranks import world

    if arguments.particles is not None:
        return _particles(arguments)
    if arguments.field is None:
        fields = [field["name"] for field in options.open_dataset(arguments, world()).fields]
        example = f"--field {shlex.quote(fields[0])}" if fields else "--particles dm"
        raise UsageError(f"a map of no field: there are {', '.join(fields) or 'none'}", [arguments.path], example)
    line_of_sight = "_".join(f"{c:g}" for c in arguments.camera) if arguments.camera else arguments.axis
    path = image_output.output_of(arguments, arguments.field, line_of_sight)
    image_output.drawing_of(arguments)  # says now what is wrong with it
    mask, _ = _mask(arguments.mask)
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, [name for name in (arguments.field, arguments.weight, mask) if name]):
        return 0
    with console.Progress("map " + arguments.field, arguments.quiet, unit="domains") as progress:
        image_of = partial(project, arguments, ranks=ranks, progress=progress)
        return image_output.finish(arguments, image_of, path, ds, ranks, options.reading(arguments, ds, ranks))
