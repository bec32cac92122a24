"""Images of verbs as files: the options, the checks, and rows of many ranks into one file."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

_ENDINGS = (".png", ".npy", ".h5")


def add_image_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--pixels", type=options.positive, default=1024, metavar="N", help="along the longer side (1024)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"out.png, out.npy or out.h5 (default: a PNG named for the {what})"
    )
    parser.add_argument("--limits", metavar="LO,HI", help="colour limits of a picture")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--linear", action="store_true", help="a linear colour scale whatever the range")
    scale.add_argument(
        "--log", action="store_true", help="a logarithmic colour scale; linear around 0 where signs differ"
    )
    options.add_force(parser, "overwrite the output file")


def output_of(arguments: argparse.Namespace, *words: str) -> str:
    """The output file, by default named for the input and these words."""
    path = arguments.output
    if path is None:
        name = os.path.basename(os.path.normpath(arguments.path)).removesuffix(".octavo")
        # A field's name may hold a slash.
        path = "_".join([name, *(re.sub(r"[^\w.+-]+", "_", word) for word in words)]) + ".png"
    if not path.endswith(_ENDINGS):
        raise UsageError("the output must end in .png, .npy or .h5", [path], "-o out.png")
    options.check_output(path, arguments.force)
    return path


def limits_of(arguments: argparse.Namespace) -> tuple[float, float] | None:
    text = arguments.limits
    if text is None:
        return None
    try:
        lo, hi = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}': expected two numbers", [], "--limits 0.1,10") from None
    if not lo < hi:
        raise UsageError(f"'{text}': expected the lower limit first", [], "--limits 0.1,10")
    return lo, hi


def scale_of(arguments: argparse.Namespace) -> str | None:
    return "linear" if arguments.linear else "log" if arguments.log else None


def finish(arguments: argparse.Namespace, image: Any, path: str, ds: Any, ranks: Any) -> int:
    """Writes the image and says so. Collective."""
    from octavo.cli import console
    from octavo.ranks import is_root
    from octavo.units import facts_of

    console.notes(arguments.quiet, ds.notes)
    facts = facts_of(image, ds, options.unit_of(arguments, arguments.field))
    _save(image, facts, path, ranks, {"limits": limits_of(arguments), "scale": scale_of(arguments)})
    if not is_root():
        return 0
    if arguments.json:
        console.print_json({"output": path, **facts})
    else:
        console.say(
            arguments.quiet,
            f"{path}: {facts['pixels'][0]} x {facts['pixels'][1]} pixels, read {facts['parts_read']} of {ds.num_parts} "
            f"domains",
        )
    return 0


def _save(image: Any, facts: dict[str, Any], path: str, ranks: Any, drawing: dict[str, Any]) -> None:
    """Collective: each rank writes its rows of .npy; rank 0 writes the others, of which it holds a band at a time."""
    from octavo.ranks import is_root

    temporary = f"{path}.partial{os.path.splitext(path)[1]}"
    try:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)
        if path.endswith(".npy"):
            image.write_npy(ranks, temporary)
        else:
            _save_bands(image, facts, temporary, ranks, drawing)
        if is_root():
            os.replace(temporary, path)
    finally:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)


def _save_bands(image: Any, facts: dict[str, Any], path: str, ranks: Any, drawing: dict[str, Any]) -> None:
    from octavo import picture
    from octavo.ranks import is_root

    width, rows = facts["pixels"]
    height = picture.band_height(width)
    bands = (image.rows(ranks, row, min(row + height, rows)) for row in range(0, rows, height))
    try:
        if is_root() and path.endswith(".h5"):
            picture.save_hdf5(facts, (rows, width), bands, path)
        elif is_root():
            drawn = picture.Picture.described(facts, *picture.thinned((rows, width), bands))
            picture.save(drawn, path, **drawing)
    finally:
        for _ in bands:  # the other ranks send theirs, whatever goes wrong here
            pass
