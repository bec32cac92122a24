"""Project a field along an axis to a picture (.png), a NumPy array (.npy) or HDF5 (.h5). Every cell counts with the exact
part of each pixel that it covers. 2-D data gives the map of its values. Under mpirun the ranks share the domains, and
each holds some rows of the image."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo map output_00080 --field density",
    "octavo map run.octavo --field pressure --weight density --axis x --pixels 2048 -o pressure.png",
    "octavo map run.octavo --field density --roi box:0.4,0.4,0.4:0.6,0.6,0.6 -o core.npy",
    "mpirun -n 8 octavo map run.octavo --field density --pixels 10000 -o density.npy",
    "octavo map r2d.slf --field 'WATER DEPTH' --over-time max --mask 'WATER DEPTH>0.01' -o flood.png",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", required=True, help="the field to project")
    parser.add_argument("--axis", choices=["x", "y", "z"], default="z", help="line of sight (default: z)")
    parser.add_argument(
        "--kind", choices=["integral", "mean", "max", "min"], help="default: integral, or mean where a weight is given"
    )
    parser.add_argument("--weight", metavar="W", help="mean along the line, weighted by this field (or 'volume')")
    parser.add_argument(
        "--mask",
        metavar="FIELD>V",
        help="of triangles: only where this field is above V ('WATER DEPTH>0.01': wet land)",
    )
    options.add_selection(parser)
    options.add_fields(parser)
    parser.add_argument(
        "--pixels", type=options.positive, default=1024, metavar="N", help="along the longer side (1024)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="out.png, out.npy or out.h5 (default: a PNG named for the map)"
    )
    parser.add_argument("--limits", metavar="LO,HI", help="colour limits of a picture")
    parser.add_argument("--linear", action="store_true", help="a linear colour scale whatever the range")
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the output file")
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)


def _output(arguments: argparse.Namespace) -> str:
    path = arguments.output
    if path is None:
        name = os.path.basename(os.path.normpath(arguments.path)).removesuffix(".octavo")
        field = re.sub(r"[^\w.+-]+", "_", arguments.field)  # a name may hold a slash
        path = f"{name}_{field}_{arguments.axis}.png"
    if not path.endswith((".png", ".npy", ".h5")):
        raise UsageError("the output must end in .png, .npy or .h5", [path], "-o map.png")
    options.check_output(path, arguments.force)
    return path


def _limits(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        lo, hi = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}': expected two numbers", [], "--limits 0.1,10") from None
    return lo, hi


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


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root, world

    path, limits = _output(arguments), _limits(arguments.limits)
    mask, above = _mask(arguments.mask)
    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    with console.Progress("map " + arguments.field, arguments.quiet, unit="domains") as progress:
        image = _core.map(
            ds,
            arguments.field,
            axis=arguments.axis,
            kind=arguments.kind or ("mean" if arguments.weight else "integral"),
            weight=arguments.weight,
            pixels=arguments.pixels,
            threads=arguments.threads,
            ranks=ranks,
            progress=progress,
            mask=mask,
            above=above,
            **options.chosen(arguments),
        )
    console.notes(arguments.quiet, ds.notes)
    _save(image, path, ranks, limits, arguments.linear)
    if not is_root():
        return 0
    facts = image.facts()
    if arguments.json:
        console.print_json({"output": path, **facts})
    else:
        console.say(
            arguments.quiet,
            f"{path}: {facts['pixels'][0]} x {facts['pixels'][1]} pixels, read {facts['parts_read']} of {ds.num_parts} "
            f"domains",
        )
    return 0


def _save(image: Any, path: str, ranks: Any, limits: tuple[float, float] | None, linear: bool) -> None:
    """Collective: each rank writes its rows of .npy; rank 0 writes the others, of which it holds a band at a time."""
    from octavo.ranks import is_root

    temporary = f"{path}.partial{os.path.splitext(path)[1]}"
    try:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)
        if path.endswith(".npy"):
            image.write_npy(ranks, temporary)
        else:
            _save_bands(image, temporary, ranks, limits, linear)
        if is_root():
            os.replace(temporary, path)
    finally:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)


def _save_bands(image: Any, path: str, ranks: Any, limits: tuple[float, float] | None, linear: bool) -> None:
    from octavo import picture
    from octavo.ranks import is_root

    facts = image.facts()
    width, rows = facts["pixels"]
    height = picture.band_height(width)
    bands = (image.rows(ranks, row, min(row + height, rows)) for row in range(0, rows, height))
    try:
        if is_root() and path.endswith(".h5"):
            picture.save_hdf5(facts, (rows, width), bands, path)
        elif is_root():
            drawn = picture.Picture.described(facts, *picture.thinned((rows, width), bands))
            picture.save(drawn, path, limits=limits, linear=linear)
    finally:
        for _ in bands:  # the other ranks send theirs, whatever goes wrong here
            pass
