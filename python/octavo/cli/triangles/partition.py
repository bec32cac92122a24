"""Cut a mesh of triangles (SERAFIN, MED) into the pieces that TELEMAC reads: PREFIX with GEO, CLI and PAR, in partel's
numbering. The steps of the mesh file and further results (--also) are cut in the same way, with one variable of one step
in memory. By default two files, -CONCAT and -INDEX, hold all pieces of an input. Under mpirun the ranks share the mesh,
and the files are the same. Solids (Gmsh, MED, VTKHDF ...) get a store, PREFIX with GEO.octavo, that keeps the part of each
cell."""

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
    "octavo partition dam.msh -o run/ --parts 64 --write-cut parts.npy    # solids: run/GEO.octavo",
    "octavo partition run/T2DGEO.octavo -o classic/T2D --layout files    # the pieces of a store's cut",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mesh", metavar="MESH", help="the geometry, .slf, .med, .msh ...; its steps are cut, too")
    parser.add_argument("-o", "--out", metavar="PREFIX", required=True, help="pieces become PREFIX + GEO, CLI, PAR ...")
    parser.add_argument(
        "--parts",
        type=options.positive,
        metavar="P",
        help="number of parts (default: the parts of --cut, or those of MESH if it is a store that --layout octavo made; "
        "the boundary is then the store's, too)",
    )
    parser.add_argument(
        "--cut",
        metavar="FILE",
        help="take the part of each element from this file instead of a method: a text of numbers from 0, or .npy with one axis "
        "of integers",
    )
    parser.add_argument(
        "--write-cut", metavar="FILE", help="write the part of each element to this file, as --cut reads it"
    )
    parser.add_argument("--boundary", metavar="F.cli", help="boundary file; without it there are no CLI and PAR pieces")
    parser.add_argument(
        "--method",
        choices=["metis", "scotch", "hilbert", "inertial"],
        help="metis and scotch cut the fewest edges; inertial (halves across the longest extent) and hilbert (a curve) take "
        "little memory and time. Default: metis, but inertial under mpirun, which metis does not support. The number of "
        "processes does not change the pieces of inertial and hilbert; it may change those of scotch",
    )
    parser.add_argument(
        "--layout",
        choices=["concat", "files", "med", "octavo"],
        help="concat (default): two files per input; files: one file per part; med: one MED file per input, PREFIX + GEO.med, "
        "with a mesh for each part; octavo: one store per input, PREFIX + GEO.octavo, with the boundary, from which a run "
        "of as many ranks starts. For solids it is the default, and no other is there",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="cut this result on the mesh, too, 2-D or 3-D; it becomes PREFIX + NAME (default: the file's name). NAME must "
        "not be GEO, CLI, PAR, SEC, ZFI or SEU; may be repeated",
    )
    parser.add_argument("--sections", metavar="FILE", help="control sections; become PREFIX + SEC")
    parser.add_argument("--zones", metavar="FILE", help="friction zones; become PREFIX + ZFI")
    parser.add_argument("--weirs", metavar="FILE", help="weirs of type 2; become PREFIX + SEU")
    parser.add_argument(
        "--concat-sides",
        action="store_true",
        help="write sections, zones and weirs as -CONCAT and -INDEX, too. By default they are one numbered file per part, "
        "because TELEMAC V8P4 opens them so whatever the layout",
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
        f"{arguments.mesh}: {console.number(report['elements'])} elements in {report['parts']} parts of "
        f"{console.number(report['fewest_elements'])} to {console.number(report['most_elements'])} "
        f"(most / mean {report['most_elements'] / mean:.3f}); {console.number(report['cut_edges'])} sides cut, "
        f"{console.number(report['shared_points'])} shared points, at most {report['most_neighbours']} neighbours; "
        f"{len(report['files'])} files; memory {console.size(report['peak_bytes'])}",
    )
    return 0
