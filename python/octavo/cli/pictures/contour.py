"""Find the surface on which a field has a value: triangles in a file of PLY (.ply) or of VTK (.vtp). On 2-D data and on
triangles it finds lines (.geojson or .vtp). A surface has no cracks between levels or domains; it ends only at the
outermost cells' centres, and at cells that the selection leaves out. Under mpirun the ranks share the domains."""

from __future__ import annotations

import argparse
import os

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo contour output_00080 --field density --at 10 -o surface.ply",
    "octavo contour run.octavo --field temperature --at 1e4 --roi sphere:0.5,0.5,0.5:0.2 -o front.vtp",
    "octavo contour r2d.slf --field 'WATER DEPTH' --at 0.05 -o shore.geojson",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", required=True, metavar="F", help="the field")
    parser.add_argument("--at", type=float, required=True, metavar="V", help="its value, in the code's own unit")
    options.add_selection(parser)
    options.add_fields(parser, unit=False)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="out.ply, out.vtp or out.geojson")
    options.add_force(parser, "overwrite the output file")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_over_time(parser)
    options.add_threads(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root, world

    ranks = world()
    ds = options.open_dataset(arguments, ranks)
    endings = (".geojson", ".vtp") if ds.dim == 2 else (".ply", ".vtp")
    if not arguments.output.endswith(endings):
        found = "lines" if ds.dim == 2 else "a surface"
        raise UsageError(
            f"of {ds.dim}-D data it finds {found}, and the output must end in {' or '.join(endings)}", [arguments.output],
            f"-o out{endings[0]}",
        )  # fmt: skip
    options.check_output(arguments.output, arguments.force)
    if options.planned(arguments, ds, [arguments.field]):
        return 0
    reading = options.reading(arguments, ds, ranks)
    with console.Progress("contour " + arguments.field, arguments.quiet, unit="domains") as progress:
        found = reading.do(
            lambda data: _core.contour(
                data,
                field=arguments.field,
                at=arguments.at,
                threads=arguments.threads,
                ranks=ranks,
                progress=progress,
                **options.chosen(arguments, data),
            )
        )
    console.notes(arguments.quiet, ds.notes)
    if is_root():
        _write(arguments, found | reading.facts())
    return console.end(reading)


def _write(arguments: argparse.Namespace, found) -> None:
    from octavo.cli import console
    from octavo.structures.surface import Surface

    surface = Surface.of(found)
    if len(surface.triangles) == 0:
        chosen = f" ({surface.facts['selection']})" if surface.facts["selection"] else ""
        raise UsageError(f"{arguments.field} passes {arguments.at!r} nowhere{chosen}", [arguments.path], "octavo stats")
    temporary = f"{arguments.output}.partial{os.path.splitext(arguments.output)[1]}"
    try:
        surface.save(temporary)
        os.replace(temporary, arguments.output)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    kind, size = ("triangles", "area") if surface.dim == 3 else ("lines", "length")
    counts = {"points": len(surface.points), kind: len(surface.triangles)}
    if arguments.json:
        more = {size: surface.area, "closed": surface.closed}
        console.print_json({"output": arguments.output, **surface.facts, **counts, **more})
    else:
        said = ", ".join(f"{console.number(count)} {name}" for name, count in counts.items())
        console.say(arguments.quiet, f"{arguments.output}: {said}")
