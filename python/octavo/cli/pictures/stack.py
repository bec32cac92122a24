"""A map along an axis through several outputs, as light shows them: it arrives at the time of the last output, and each output
gives the slab of the domain that the light left at its time. Integrals add up. A picture, an array or a file as of map."""

from __future__ import annotations

import argparse
import os
from typing import Any

from octavo.cli import options
from octavo.cli.pictures import image_output, map

EXAMPLES = [
    "octavo stack 'output_*' --field density -o stack.png",
    "octavo stack run.octavo --field density --axis x --depth 3 --light-speed 40 --blur 0.5 -o cone.png",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.cli.numbers.series import add_snapshots

    add_snapshots(parser)
    parser.add_argument("--field", required=True, help="the field to project")
    map.add_line_of_sight(parser)
    parser.add_argument(
        "--depth",
        type=float,
        metavar="D",
        help="in box lengths (default: the domain's); along a periodic axis also more",
    )
    parser.add_argument("--light-speed", type=float, metavar="V", help="in code units (default: from the data's units)")
    parser.add_argument("--level", type=int, metavar="L", help="deepest level kept, the code's own number")
    options.add_fields(parser, dry_run=False)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="out.png, .pdf, .svg, .npy, .h5, .fits or .tif"
    )
    options.add_crs(parser, "of .tif (GeoTIFF)")
    image_output.add_colours(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.cli.numbers.series import listed
    from octavo.pictures.picture import save
    from octavo.pictures.stack import stack
    from octavo.ranks import agreed, world
    from octavo.snapshots import Series

    ranks = world()
    path = image_output.checked(arguments, arguments.output)
    drawing = image_output.drawing_of(arguments)
    series = Series(listed(arguments.paths, arguments.flow, ranks))

    def select(ds: Any) -> Any:
        chosen = ds if arguments.level is None else ds.level(arguments.level)
        chosen = chosen.derive(options.definitions_of(arguments))
        return chosen if arguments.where is None else chosen.where(arguments.where)

    with console.Progress("stack " + arguments.field, arguments.quiet, unit="steps") as progress:
        found = stack(
            series, arguments.field, axis=arguments.axis, kind=arguments.kind or ("mean" if arguments.weight else "integral"),
            weight=arguments.weight, depth=arguments.depth, speed=arguments.light_speed, pixels=arguments.pixels,
            blur=arguments.blur, unit=options.unit_of(arguments, arguments.field), select=select,
            threads=arguments.threads, progress=progress, ranks=ranks,
        )  # fmt: skip

    def write() -> None:
        if found is None:
            return
        temporary = f"{path}.partial{os.path.splitext(path)[1]}"
        try:
            save(found, temporary, **(drawing | ({"crs": arguments.crs} if path.endswith(".tif") else {})))
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    agreed(ranks, write)
    if found is None:
        return 0
    if arguments.json:
        console.print_json({"output": path, **found.facts})
    else:
        ny, nx = found.values.shape
        console.say(
            arguments.quiet, f"{path}: {nx} x {ny} pixels, slabs of {len(found.facts['slabs']['time'])} outputs"
        )
    return 0
