"""Maps or slices of many outputs, or of all steps of a store or a SERAFIN file, as a movie whose colours stay: .gif, .mp4
(with ffmpeg), or a folder of numbered PNG files. Under mpirun the ranks share the domains of each output."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from octavo.cli import options
from octavo.cli.pictures import image_output, map, slice
from octavo.errors import UsageError

EXAMPLES = [
    "octavo movie 'output_*' --field density -o density.gif",
    "octavo movie run.octavo --field pressure --normal z --at max:density --limits 1e-3,1e2 --log -o pressure.mp4",
    "octavo movie r2d.slf --field 'WATER DEPTH' --kind mean --pixels 512 -o frames",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo.cli.numbers.series import add_snapshots

    add_snapshots(parser)
    parser.add_argument("--field", required=True, help="the field to show")
    map.add_projection(parser)
    parser.add_argument(
        "--normal", type=slice.normal, metavar="N", help="slices across this direction, not maps: x, y, z or 1,1,1"
    )
    options.add_place(parser, "--at", "with --normal: a point of the plane", "center")
    options.add_selection(parser)
    options.add_fields(parser, dry_run=False)
    options.add_skip_damaged(parser)
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
    from octavo.cli import console
    from octavo.cli.numbers.series import listed
    from octavo.pictures import movie
    from octavo.pictures.picture import Picture, facts_of
    from octavo.ranks import is_root, world

    movie.check(arguments.output)
    options.check_output(arguments.output, arguments.force)
    drawing = image_output.drawing_of(arguments)
    if arguments.normal is not None and (
        arguments.camera or arguments.kind or arguments.weight or arguments.mask or arguments.edge or arguments.blur
    ):
        raise UsageError(
            "--normal cuts slices; --camera, --kind, --weight, --mask, --edge and --blur are of maps",
            [],
            "leave one away",
        )
    ranks = world()
    snapshots = listed(arguments.paths, arguments.flow, ranks)
    picture_of = map.project if arguments.normal is None else slice.cut
    lacking: list[dict[str, Any] | None] = []
    with console.Progress("movie " + arguments.field, arguments.quiet, unit="steps") as progress:

        def pictures() -> Iterator[Picture]:
            for number, snapshot in enumerate(snapshots):
                ds = snapshot.open(ranks, on_all=arguments.skip_damaged)
                reading = options.reading(arguments, ds, ranks)
                image_of = partial(_read, picture_of, arguments, reading, ranks)
                image = image_of()
                facts = facts_of(image, ds, options.unit_of(arguments, arguments.field))
                overlays = image_output.overlays_of(arguments, image_of, image, ds, ranks)
                facts |= reading.facts()
                lacking.append(facts.get("incomplete"))
                picture = image_output.drawn(image, facts, ranks)
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
    _say(arguments, snapshots, count, lacking)
    return console.end_of_steps(zip(snapshots, lacking, strict=False))


def _read(picture_of: Any, arguments: argparse.Namespace, reading: Any, ranks: Any, **others: Any) -> Any:
    """The image of a step, past its damaged domains if that is asked for. Collective over `ranks`."""
    return reading.do(lambda data: picture_of(arguments, data, ranks, None, **others))


def _say(arguments: argparse.Namespace, snapshots: Any, count: int, lacking: list[dict[str, Any] | None]) -> None:
    from octavo.cli import console

    if arguments.json:
        times = [snapshot.time for snapshot in snapshots]
        found = {"output": arguments.output, "frames": count, "fps": arguments.fps, "times": times}
        console.print_json(found | ({"incomplete": lacking} if arguments.skip_damaged else {}))
        return
    kind = "files" if os.path.isdir(arguments.output) else "pictures"
    console.say(
        arguments.quiet, f"{arguments.output}: {count} {kind}, t = {snapshots[0].time:.6g} to {snapshots[-1].time:.6g}"
    )
