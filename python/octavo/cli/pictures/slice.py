"""Cut a plane through the cells: a picture (.png), a NumPy array (.npy) or HDF5 (.h5) of the values of the leaves that it
cuts. Each pixel shows the leaf in which its centre lies; on a side between two cells, the one with the larger
coordinate. Only the domains near the plane are read. Under mpirun the ranks share them, and each holds some rows. Prisms
(planes of triangles) are cut along a line (--through), with the real heights, or by a surface: --height, --depth, --plane."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from octavo.cli import options
from octavo.cli.pictures import image_output
from octavo.errors import UsageError

EXAMPLES = [
    "octavo slice output_00080 --field density",
    "octavo slice run.octavo --field pressure --normal 1,1,1 --at max:density -o s.png",
    "octavo slice run.octavo --field velocity_x --normal=-1,0,1 --roi sphere:0.5,0.5,0.5:0.2 --log",
    "octavo slice run.octavo --field density --normal x --at 0.25,0.5,0.5 --level 8 -o s.npy",
    "octavo slice r3d.slf --field 'VELOCITY U' --through 0,0.5 10,0.5 -o cut.png",
    "octavo slice r3d.slf --field 'VELOCITY U' --depth 0.2 --vectors velocity",
    "mpirun -n 4 octavo slice run.octavo --field density --pixels 10000 -o s.npy",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", required=True, help="the field to show")
    parser.add_argument(
        "--normal",
        type=normal,
        default="z",
        metavar="N",
        help="normal of the plane: x, y, z or a vector such as 1,1,1. The picture is seen from the end of the vector (default: "
        "z)",
    )
    parser.add_argument(
        "--up",
        type=options.direction,
        metavar="X,Y,Z",
        help="direction that is up in the picture (default: z, or y if the normal is z)",
    )
    options.add_place(parser, "--at", "a point of the plane", "center")
    options.add_through(parser, "prisms: cut vertically along this line")
    surface = parser.add_mutually_exclusive_group()
    surface.add_argument("--height", type=float, metavar="Z", help="prisms: cut at this height [code length]")
    surface.add_argument(
        "--depth", type=float, metavar="D", help="prisms: cut at this depth below the uppermost plane [code length]"
    )
    surface.add_argument(
        "--plane",
        type=options.whole,
        metavar="N",
        help="prisms: show this plane, counted from 0 at the bottom (-1: the uppermost)",
    )
    options.add_selection(parser)
    options.add_fields(parser)
    image_output.add_image_output(parser, "slice")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_threads(parser)
    options.add_json(parser)


def normal(text: str) -> str | tuple[float, float, float]:
    return text if text in ("x", "y", "z") else options.direction(text)


def cut(
    arguments: argparse.Namespace, ds: Any, ranks: Any, progress: Any,
    *, field: str | None = None, kind: str | None = None, pixels: int | None = None,
) -> Any:  # fmt: skip
    """The compiled slice through a data set, or of another field on the same plane. Collective over `ranks`."""
    del kind  # a pixel of a slice shows one leaf
    from octavo import _core

    if ds.unstructured and not ds.solids:
        return _surface(arguments, ds, ranks, progress, field or arguments.field, pixels or arguments.pixels)
    if any(getattr(arguments, name, None) is not None for name in ("through", "height", "depth", "plane")):
        raise UsageError(
            "--through, --height, --depth and --plane cut meshes of triangles", [arguments.path], "--normal N --at P"
        )
    return _core.slice(
        ds,
        field or arguments.field,
        normal=arguments.normal,
        up=arguments.up,
        at=options.place(arguments.at, ds),
        pixels=pixels or arguments.pixels,
        threads=arguments.threads,
        ranks=ranks,
        progress=progress,
        **options.chosen(arguments, ds),
    )


def _surface(arguments: argparse.Namespace, ds: Any, ranks: Any, progress: Any, field: str, pixels: int) -> Any:
    from octavo import _core
    from octavo.triangles.outlines import line_of, words_of

    through = getattr(arguments, "through", None)
    return _core.surface(
        ds,
        field,
        through=[] if through is None else line_of(words_of(through, options.THROUGH)),
        height=getattr(arguments, "height", None),
        depth=getattr(arguments, "depth", None),
        plane=getattr(arguments, "plane", None),
        pixels=pixels,
        threads=arguments.threads,
        ranks=ranks,
        progress=progress,
        **options.chosen(arguments, ds),
    )


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.ranks import world

    direction = arguments.normal if isinstance(arguments.normal, str) else "_".join(f"{c:g}" for c in arguments.normal)
    path = image_output.output_of(arguments, arguments.field, "slice", direction)
    image_output.drawing_of(arguments)  # raises now if an option is wrong
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    if options.planned(arguments, ds, [arguments.field]):
        return 0
    with console.Progress("slice " + arguments.field, arguments.quiet, unit="domains") as progress:
        image_of = partial(cut, arguments, ranks=ranks, progress=progress)
        return image_output.finish(arguments, image_of, path, ds, ranks, options.reading(arguments, ds, ranks))
