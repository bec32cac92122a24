"""Maps or slices of many outputs, or of all steps of a store or a SERAFIN file, as a movie whose colours stay: .gif, .mp4
(with ffmpeg), or a folder of numbered PNG files. Under mpirun the ranks share the domains of each output."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from octavo.cli import image_output, map, options, slice
from octavo.errors import UsageError

EXAMPLES = [
    "octavo movie 'output_*' --field density -o density.gif",
    "octavo movie run.octavo --field pressure --normal z --at max:density --limits 1e-3,1e2 --log -o pressure.mp4",
    "octavo movie r2d.slf --field 'WATER DEPTH' --kind mean --pixels 512 -o frames",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.cli.series import add_snapshots

    add_snapshots(parser)
    parser.add_argument("--field", required=True, help="the field to show")
    map.add_projection(parser)
    parser.add_argument(
        "--normal", type=slice.normal, metavar="N", help="slices across this direction, not maps: x, y, z or 1,1,1"
    )
    options.add_place(parser, "--at", "with --normal: a point of the plane", "center")
    options.add_selection(parser)
    options.add_fields(parser, dry_run=False)
    parser.add_argument("--fps", type=_rate, default=10.0, metavar="N", help="pictures a second (10)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="out.gif, out.mp4, or a folder")
    image_output.add_drawing(parser)
    options.add_threads(parser)
    options.add_json(parser)


def _rate(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1000:
        raise argparse.ArgumentTypeError(f"expected a number above 0 and at most 1000, found {text}")
    return value


def run(arguments: argparse.Namespace) -> int:
    from octavo import movie
    from octavo.cli import console
    from octavo.cli.series import listed
    from octavo.picture import Picture, facts_of
    from octavo.ranks import is_root, world

    movie.check(arguments.output)
    options.check_output(arguments.output, arguments.force)
    drawing = image_output.drawing_of(arguments)
    if arguments.normal is not None and (arguments.camera or arguments.kind or arguments.weight or arguments.mask):
        raise UsageError(
            "--normal cuts slices; --camera, --kind, --weight and --mask are of maps", [], "leave one away"
        )
    ranks = world()
    snapshots = listed(arguments.paths, arguments.flow, ranks)
    picture_of = map.project if arguments.normal is None else slice.cut
    with console.Progress("movie " + arguments.field, arguments.quiet, unit="steps") as progress:

        def pictures() -> Iterator[Picture]:
            for number, snapshot in enumerate(snapshots):
                ds = snapshot.open(ranks)
                image_of = partial(picture_of, arguments, ds, ranks, None)
                image = image_of()
                facts = facts_of(image, ds, options.unit_of(arguments, arguments.field))
                picture = image_output.drawn(image, facts, ranks)
                overlays = image_output.overlays_of(arguments, image_of, image, ranks)
                progress(number + 1, len(snapshots))
                if picture is not None:
                    yield dataclasses.replace(picture, overlays=overlays)

        shown, count = pictures(), 0
        try:
            if is_root():
                count = movie.write(shown, arguments.output, fps=arguments.fps, **drawing)
        finally:
            for _ in shown:  # other ranks go on with theirs, whatever goes wrong here
                pass
    _say(arguments, snapshots, count)
    return 0


def _say(arguments: argparse.Namespace, snapshots: Any, count: int) -> None:
    from octavo.cli import console

    if arguments.json:
        times = [snapshot.time for snapshot in snapshots]
        console.print_json({"output": arguments.output, "frames": count, "fps": arguments.fps, "times": times})
        return
    kind = "files" if os.path.isdir(arguments.output) else "pictures"
    console.say(
        arguments.quiet, f"{arguments.output}: {count} {kind}, t = {snapshots[0].time:.6g} to {snapshots[-1].time:.6g}"
    )
