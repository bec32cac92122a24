"""The power spectrum of a field on a uniform grid: of the whole box, or of a box cut from it, at the finest level that has
no more cells than asked for. Coarser cells give their value to all cells in them. Several fields, such as the components of
a velocity, are added up. A table, a picture (.png), CSV (.csv) or a NumPy file (.npy)."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo spectrum output_00080 --field density -o spectrum.png",
    "octavo spectrum run.octavo --field velocity_x,velocity_y,velocity_z --cells 512 -o energy.csv",
    "octavo spectrum run.octavo --field density --roi box:0.25,0.25,0.25:0.75,0.75,0.75",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an output directory, or a store")
    parser.add_argument("--field", type=options.names, required=True, metavar="A,B", help="the fields, added up")
    parser.add_argument(
        "--cells",
        type=options.positive,
        default=256,
        metavar="N",
        help="most cells of the whole box along an axis (256)",
    )
    options.add_selection(parser)
    options.add_fields(parser, unit=False)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="out.png, out.csv or out.npy (default: a table on stdout)"
    )
    options.add_force(parser, "overwrite the output file")
    options.add_skip_damaged(parser)
    options.add_step(parser)
    options.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.structures.spectrum import spectrum_of

    options.refuse_ranks("spectrum")
    if arguments.output:
        if not arguments.output.endswith((".png", ".csv", ".npy")):
            raise UsageError("the output must end in .png, .csv or .npy", [arguments.output], "-o spectrum.png")
        options.check_output(arguments.output, arguments.force)
    ds = options.open_dataset(arguments)
    arguments.threads = 1
    if options.planned(arguments, ds, arguments.field):
        return 0
    reading = options.reading(arguments, ds, None)
    spectrum = reading.do(
        lambda data: spectrum_of(data, options.chosen(arguments, data), arguments.field, arguments.cells)
    )
    console.notes(arguments.quiet, ds.notes)
    if arguments.output:
        spectrum.save(arguments.output)
    cells = " x ".join(map(str, spectrum.facts["cells"]))
    if arguments.json:
        console.print_json({"output": arguments.output, **spectrum.table(), **reading.facts()})
    elif arguments.output:
        console.say(arguments.quiet, f"{arguments.output}: {len(spectrum.k)} shells of {cells} cells")
    else:
        console.line(
            f"{cells} cells, mean of the square {spectrum.square_mean:.10g}, square of the mean {spectrum.mean_square:.10g}"
        )
        columns = spectrum.columns()
        console.table("", list(columns), zip(*(values.tolist() for values in columns.values()), strict=True))
    return console.end(reading)
