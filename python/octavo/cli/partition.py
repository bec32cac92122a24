"""Cut a mesh of triangles (SERAFIN, MED) into the pieces that TELEMAC reads: PREFIX with GEO, CLI and PAR, in partel's
numbering. Steps of the mesh file and of further results (--also) are cut along, one variable of one step in memory. As
-CONCAT and -INDEX two files hold the pieces of an input, whatever the number of parts. Under mpirun the ranks share the
mesh: the same files."""

from __future__ import annotations

import argparse

from octavo.cli import options

EXAMPLES = [
    "octavo partition geo.slf -o run/T2D --boundary geo.cli --parts 64",
    "octavo partition geo.slf -o run/T2D --boundary geo.cli --parts 64 --also PRE=previous.slf --also wind.slf",
    "octavo partition geo.slf -o run/T2D --boundary geo.cli --parts 8 --layout files --method scotch",
    "mpirun -n 8 octavo partition huge.slf -o run/T2D --parts 10000    # the mesh shared by the ranks",
    "mpirun -n 8 octavo partition huge.slf -o run/T2D --parts 10000 --method scotch    # PT-Scotch",
    "octavo partition huge.slf -o run/T2D --parts 10000 --method inertial    # least memory",
    "octavo partition geo.slf -o run/T2D --cut parts.txt    # a cut that another program made",
    "octavo partition run/T2DGEO.octavo -o classic/T2D --layout files    # the pieces of a store's cut",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mesh", metavar="MESH", help="the geometry, .slf, .med, .msh ...; its steps are cut, too")
    parser.add_argument("-o", "--out", metavar="PREFIX", required=True, help="pieces become PREFIX + GEO, CLI, PAR ...")
    parser.add_argument(
        "--parts",
        type=options.positive,
        metavar="P",
        help="number of parts; without it as many as --cut has, or MESH is a store that --layout octavo made, whose cut and "
        "boundary are taken",
    )
    parser.add_argument(
        "--cut",
        metavar="FILE",
        help="the part of each element, from 0, in place of a method: numbers in a text, or .npy with one axis of integers",
    )
    parser.add_argument(
        "--write-cut", metavar="FILE", help="write the cut so, as .npy or as a text with a line an element"
    )
    parser.add_argument("--boundary", metavar="F.cli", help="boundary file; without it there are no CLI and PAR pieces")
    parser.add_argument(
        "--method",
        choices=["metis", "scotch", "hilbert", "inertial"],
        help="metis and scotch cut the fewest edges; inertial (halves across the longest extent) and hilbert (a curve) take "
        "little memory and time (default: metis; under mpirun, where metis is not, inertial). inertial and hilbert give the "
        "same pieces by any number of processes, scotch may give others by another number",
    )
    parser.add_argument(
        "--layout",
        choices=["concat", "files", "med", "octavo"],
        default="concat",
        help="two files an input, or one a part; med: meshes of one MED file an input, PREFIX + GEO.med; octavo: a store an "
        "input, PREFIX + GEO.octavo, with the boundary, which as many ranks start from by their parts (default: concat)",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="a result on the mesh, 2-D or 3-D; becomes PREFIX + NAME (default: the file's name), which is not GEO, CLI, "
        "PAR, SEC, ZFI or SEU. Any number",
    )
    parser.add_argument("--sections", metavar="FILE", help="control sections; become PREFIX + SEC")
    parser.add_argument("--zones", metavar="FILE", help="friction zones; become PREFIX + ZFI")
    parser.add_argument("--weirs", metavar="FILE", help="weirs of type 2; become PREFIX + SEU")
    parser.add_argument(
        "--concat-sides",
        action="store_true",
        help="sections, zones and weirs as -CONCAT and -INDEX, too, in place of one numbered file a part, which is what TELEMAC "
        "opens (V8P4) whatever the layout",
    )
    options.add_piece_force(parser)
    options.add_json(parser)


def named(text: str) -> tuple[str, str]:
    from pathlib import Path

    name, found, path = text.partition("=")
    return (name, path) if found else (Path(text).stem, text)


def also_of(texts: list[str]) -> dict[str, str]:
    from octavo.errors import UsageError

    pairs = [named(text) for text in texts]
    twice = sorted({name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1})
    if twice:
        raise UsageError(f"--also: several inputs would be called {twice[0]}", [], "--also NAME=FILE gives each a name")
    return dict(pairs)


def run(arguments: argparse.Namespace) -> int:
    from octavo import pieces
    from octavo.cli import console
    from octavo.ranks import world

    ranks = world()
    with console.Progress("partition", arguments.quiet) as progress:
        report = pieces.partition(
            arguments.mesh,
            arguments.out,
            arguments.parts,
            method=arguments.method,
            layout=arguments.layout,
            boundary=arguments.boundary,
            also=also_of(arguments.also),
            sections=arguments.sections,
            zones=arguments.zones,
            weirs=arguments.weirs,
            cut=arguments.cut,
            write_cut=arguments.write_cut,
            concat_sides=arguments.concat_sides,
            overwrite=arguments.force,
            progress=progress,
            ranks=ranks,
        )
    report["files"] = [str(path) for path in report["files"]]
    mean = report["elements"] / report["parts"]
    console.report(
        arguments.quiet,
        arguments.json,
        report,
        f"{arguments.mesh}: {console.number(report['elements'])} triangles in {report['parts']} parts of "
        f"{console.number(report['fewest_elements'])} to {console.number(report['most_elements'])} "
        f"(most / mean {report['most_elements'] / mean:.3f}); {console.number(report['cut_edges'])} edges cut, "
        f"{console.number(report['shared_points'])} shared points, at most {report['most_neighbours']} neighbours; "
        f"{len(report['files'])} files; memory {console.size(report['peak_bytes'])}",
    )
    return 0
