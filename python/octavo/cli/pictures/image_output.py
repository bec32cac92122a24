"""Images of verbs as files: the options, the checks, and rows of many ranks into one file."""

from __future__ import annotations

import argparse
import math
import os
import re
from typing import Any

from octavo.cli import options
from octavo.errors import UsageError

_PICTURES = (".png", ".pdf", ".svg")
_ENDINGS = (*_PICTURES, ".npy", ".h5", ".fits", ".tif")


def add_image_output(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"out.png, .pdf, .svg, .npy, .h5, .fits or .tif (default: a PNG named for the {what})",
    )
    options.add_crs(parser, "of .tif (GeoTIFF)")
    add_drawing(parser)


def add_drawing(parser: argparse.ArgumentParser) -> None:
    """Adds the size and the colours of a picture, what is drawn over it, and --force."""
    add_colours(parser)
    parser.add_argument("--grid", action="store_true", help="draw the outlines of levels")
    parser.add_argument("--vectors", metavar="NAME", help="draw arrows of a vector: velocity, momentum, B")
    parser.add_argument(
        "--overlay-particles",
        metavar="FAMILY",
        help="draw dots where the particles of a species or family are; on a slice those near the plane, or within a slab "
        "of this thickness: dm:0.05, 'star:20 kpc'",
    )


def add_colours(parser: argparse.ArgumentParser) -> None:
    """Adds the size and the colours of a picture, and --force."""
    parser.add_argument(
        "--pixels", type=options.positive, default=1024, metavar="N", help="along the longer side (1024)"
    )
    parser.add_argument("--limits", metavar="LO,HI", help="colour limits of a picture")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--linear", action="store_true", help="a linear colour scale whatever the range")
    scale.add_argument(
        "--log", action="store_true", help="a logarithmic colour scale; linear around 0 where signs differ"
    )
    parser.add_argument("--cmap", metavar="NAME", help="colours by matplotlib's name: magma, cividis, ...")
    parser.add_argument("--scale-bar", action="store_true", help="draw a bar of a round length")
    options.add_force(parser, "overwrite the output file")


def output_of(arguments: argparse.Namespace, *words: str) -> str:
    """The output file, by default named for the input and these words."""
    path = arguments.output
    if path is None:
        name = os.path.basename(os.path.normpath(arguments.path)).removesuffix(".octavo")
        # A field's name may hold a slash.
        path = "_".join([name, *(re.sub(r"[^\w.+-]+", "_", word) for word in words)]) + ".png"
    return checked(arguments, path)


def checked(arguments: argparse.Namespace, path: str) -> str:
    """The path, if an image can be written there."""
    if not path.endswith(_ENDINGS):
        raise UsageError("the output must end in .png, .pdf, .svg, .npy, .h5, .fits or .tif", [path], "-o out.png")
    options.check_output(path, arguments.force)
    if path.endswith(".tif"):
        from octavo.exports.geo import library

        library("rasterio", path)  # raises now if it is missing
    elif arguments.crs is not None:
        raise UsageError("a coordinate system is of a GeoTIFF", [path], "-o out.tif")
    return path


def limits_of(arguments: argparse.Namespace) -> tuple[float, float] | None:
    text = arguments.limits
    if text is None:
        return None
    try:
        lo, hi = (float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"'{text}': expected two numbers", [], "--limits 0.1,10") from None
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise UsageError(f"'{text}': expected two finite numbers", [], "--limits 0.1,10")
    if not lo < hi:
        raise UsageError(f"'{text}': expected the lower limit first", [], "--limits 0.1,10")
    return lo, hi


def scale_of(arguments: argparse.Namespace) -> str | None:
    return "linear" if arguments.linear else "log" if arguments.log else None


def drawing_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of picture.draw(). Raises UsageError for wrong ones."""
    if arguments.cmap is not None:
        from octavo.pictures.picture import colour_map

        colour_map(arguments.cmap)
    return {
        "limits": limits_of(arguments), "scale": scale_of(arguments), "cmap": arguments.cmap,
        "scale_bar": arguments.scale_bar,
    }  # fmt: skip


def overlays_of(arguments: argparse.Namespace, image_of: Any, image: Any, ds: Any, ranks: Any) -> Any:
    """Outlines, arrows and dots, for the picture. `image_of(field=, kind=, pixels=)` makes another image of the same
    window. Collective."""
    if not arguments.grid and arguments.vectors is None and arguments.overlay_particles is None:
        return None
    from octavo.pictures.overlays import gather, require_levels

    facts = image.facts()

    def another(field: str, *, kind: str | None, pixels: int | None) -> Any:
        image = image_of(field=field, kind=kind, pixels=pixels)
        return drawn(image, image.facts(), ranks)

    def dots() -> Any:
        from octavo.particles import dots

        region = options.chosen(arguments, ds)["region"]
        image = dots(ds, region, arguments.overlay_particles, facts, threads=arguments.threads, ranks=ranks)
        return drawn(image, image.facts(), ranks)

    require_levels(ds, arguments.grid)
    return gather(
        another, facts, arguments.grid, arguments.vectors, facts["kind"] not in ("slice", "value"),
        None if arguments.overlay_particles is None else dots,
    )  # fmt: skip


def finish(
    arguments: argparse.Namespace, image_of: Any, path: str, ds: Any, ranks: Any, reading: Any, shown: str | None = None
) -> int:
    """Makes the image, writes it and says so; returns the exit code. `image_of(data, field=, kind=, pixels=)` makes it of
    the data set that `reading` gives; --unit is of `shown`, by default of the field. Collective."""
    from octavo.cli import console
    from octavo.ranks import is_root
    from octavo.units import facts_of

    drawing = drawing_of(arguments)

    def read(**others: Any) -> Any:
        return reading.do(lambda data: image_of(data, **others))

    image = read()
    console.notes(arguments.quiet, ds.notes)
    facts = facts_of(image, ds, options.unit_of(arguments, shown or arguments.field))
    overlays = overlays_of(arguments, read, image, ds, ranks) if path.endswith(_PICTURES) else None
    facts |= reading.facts()
    _save(image, facts, path, ranks, {**drawing, "crs": arguments.crs}, overlays)
    if not is_root():
        return int(reading.exit_code())
    if arguments.json:
        console.print_json({"output": path, **facts})
    else:
        console.say(
            arguments.quiet,
            f"{path}: {facts['pixels'][0]} x {facts['pixels'][1]} pixels, "
            + (f"{console.number(facts['particles'])} particles, " if "particles" in facts else "")
            + f"read {facts['parts_read']} of {ds.num_parts} domains",
        )
    return console.end(reading)


def drawn(image: Any, facts: dict[str, Any], ranks: Any) -> Any:
    """The pixels of an image that are drawn, on rank 0 as a picture with these facts; None on others. Collective."""
    from octavo.pictures import picture
    from octavo.ranks import is_root

    shape, bands = _bands(image, facts, ranks)
    try:
        if not is_root():
            return None
        return picture.Picture.described(facts, *picture.thinned(shape, bands, picture.empty_of(facts)))
    finally:
        for _ in bands:  # the other ranks send theirs, whatever goes wrong here
            pass


def _bands(image: Any, facts: dict[str, Any], ranks: Any) -> tuple[tuple[int, int], Any]:
    """The shape and the rows in bands, which rank 0 receives; each rank goes through all."""
    from octavo.pictures import picture

    width, rows = facts["pixels"]
    height = picture.band_height(width)
    return (rows, width), (image.rows(ranks, row, min(row + height, rows)) for row in range(0, rows, height))


def _save(image: Any, facts: dict[str, Any], path: str, ranks: Any, drawing: dict[str, Any], overlays: Any) -> None:
    """Collective: each rank writes its rows of .npy; rank 0 writes the others, of which it holds a band at a time. NumPy is not
    imported for .npy, which would cost as much as a map."""
    from octavo.ranks import is_root

    temporary = f"{path}.partial{os.path.splitext(path)[1]}"
    try:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)
        if path.endswith(".npy"):
            image.write_npy(ranks, temporary)
        elif path.endswith((".h5", ".fits", ".tif")):
            _save_bands(image, facts, temporary, ranks, drawing["crs"])
        elif (shown := drawn(image, facts, ranks)) is not None:
            from dataclasses import replace

            from octavo.pictures import picture

            drawing.pop("crs")
            picture.save(replace(shown, overlays=overlays), temporary, **drawing)
        if is_root():
            os.replace(temporary, path)
    finally:
        if is_root() and os.path.exists(temporary):
            os.remove(temporary)


def _save_bands(image: Any, facts: dict[str, Any], path: str, ranks: Any, crs: str | None) -> None:
    from octavo.pictures import picture
    from octavo.ranks import is_root

    shape, bands = _bands(image, facts, ranks)
    try:
        if is_root():
            picture.save_bands(facts, shape, bands, path, crs)
    finally:
        for _ in bands:
            pass
