"""Make a sample output, to try things on and to measure with: a Sedov-like blast, or turbulence (asymmetric, log-normal
density with a k^-11/3 spectrum plus a shell). The same seed gives the same values. Under mpirun each rank makes the
tree, and the ranks share the domains of a store; a RAMSES output is written by one process."""

from __future__ import annotations

import argparse

from octavo.cli import options
from octavo.errors import UsageError

EXAMPLES = [
    "octavo sample output_00001 --kind turbulence --domains 64 --levels 7-9",
    "octavo sample run.octavo --to octavo --kind sedov --dim 2 --levels 5-8 --domains 4",
]


def configure(parser: argparse.ArgumentParser) -> None:
    from octavo import _core

    parser.add_argument("out", help="where to write; a RAMSES output is best named output_NNNNN")
    cells = [format["name"] for format in _core.formats() if not format["triangles"]]
    parser.add_argument("--to", choices=["octavo", *cells], default="ramses", help="what to write (default: ramses)")
    parser.add_argument("--kind", choices=["sedov", "turbulence"], default="turbulence")
    parser.add_argument("--dim", type=int, choices=[1, 2, 3], default=3)
    parser.add_argument("--domains", type=options.positive, default=8, metavar="N")
    parser.add_argument(
        "--levels", default="5-7", metavar="MIN-MAX", help="coarsest leaf and finest level (default: 5-7)"
    )
    parser.add_argument("--particles", type=options.whole64, default=0, metavar="N")
    parser.add_argument("--seed", type=options.whole64, default=1, metavar="S")
    parser.add_argument("-f", "--force", action="store_true", help="replace an existing output")
    options.add_threads(parser)
    options.add_json(parser)


def _levels(text: str) -> tuple[int, int]:
    try:
        low, high = (options.whole(word) for word in text.split("-"))
    except (ValueError, argparse.ArgumentTypeError):
        raise UsageError(f"'{text}': expected two levels", [], "--levels 7-9") from None
    return low, high


def run(arguments: argparse.Namespace) -> int:
    from octavo import _core
    from octavo.cli import console
    from octavo.ranks import is_root, world

    ends = options.STORE_ENDS if arguments.to == "octavo" else options.ends_of(arguments.to)
    options.check_ending(arguments.out, ends, f"--to {arguments.to}")
    low, high = _levels(arguments.levels)
    made = _core.sample(
        kind=arguments.kind,
        dim=arguments.dim,
        domains=arguments.domains,
        level_min=low,
        level_max=high,
        seed=arguments.seed,
        particles=arguments.particles,
        threads=arguments.threads,
    )
    ranks = world()
    unit = "bytes" if arguments.to == "octavo" else "parts"
    with console.Progress("sample", arguments.quiet, unit=unit) as progress:
        _core.write(
            made,
            1,
            arguments.out,
            to=arguments.to,
            overwrite=arguments.force,
            threads=arguments.threads,
            ranks=ranks,
            progress=progress,
        )
    if not is_root():
        return 0
    ds = _core.open(arguments.out, None, None)
    leaves = sum(level["leaves"] for level in ds.levels)
    if arguments.json:
        console.print_json({"path": arguments.out, "leaves": leaves, "domains": ds.num_parts, "bytes": ds.bytes})
    else:
        console.say(
            arguments.quiet,
            f"{arguments.out}: {console.number(leaves)} leaves in {ds.num_parts} domains, {console.size(ds.bytes)}",
        )
    return 0
