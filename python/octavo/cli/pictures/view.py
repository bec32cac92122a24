"""Look around in outputs and stores in a browser: pan and zoom in slices and maps, step through time, compare two steps, draw
a region and see its statistics. Each picture reads only the levels and domains that it shows. The page comes from this
process, for this machine alone; nothing is written. Ctrl-C ends it."""

from __future__ import annotations

import argparse
from typing import Any

from octavo.cli import options

EXAMPLES = [
    "octavo view output_00080",
    "octavo view 'output_*' --no-browser       # on a login node: prints the address, and the ssh line for your machine",
    "octavo view run.octavo r2d.slf --port 8080",
    "octavo view output_00080 --define mu=0.6  # the temperature is among the fields",
]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="outputs, stores, or patterns such as 'output_*'")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="of the page (default: any that is free)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    options.add_crs(parser, "of GeoTIFF files that the page gives, and to place a map")
    parser.add_argument(
        "--map-tiles", metavar="URL", help="a map under triangles: https://tiles.example.org/{z}/{x}/{y}.png"
    )
    options.add_definitions(parser)
    options.add_flow(parser)


def _port(text: str) -> int:
    value = options.whole(text)
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"expected a port, 1 to 65535, found {text}")
    return value


def run(arguments: argparse.Namespace) -> int:
    from octavo.cli import console
    from octavo.view.steps import Steps

    options.refuse_ranks("view")
    _require_server()
    steps = Steps(arguments.paths, arguments.flow, options.definitions_of(arguments))
    console.notes(False, (f"left out: {error}" for error in steps.skipped))
    from octavo.view import serve
    from octavo.view.ground import ground_of

    under_it = ground_of(arguments.map_tiles, arguments.crs) if arguments.map_tiles else None
    return serve.serve(
        steps, arguments.port, lambda address: _announce(address, arguments), debug=arguments.debug, crs=arguments.crs,
        under_it=under_it,
    )  # fmt: skip


def _require_server() -> None:
    from importlib import util

    from octavo.errors import Unsupported
    from octavo.extras import source_of

    missing = [name for name in ("starlette", "uvicorn") if util.find_spec(name) is None]
    if missing:
        raise Unsupported(
            f"this needs the Python package {' and '.join(missing)}, which is not installed", [],
            source_of(missing[0]),
        )  # fmt: skip


def _announce(address: Any, arguments: argparse.Namespace) -> None:
    """Says where the page is, and opens it."""
    import socket

    from octavo.cli import console

    print(address.url, flush=True)
    console.say(
        arguments.quiet,
        f"from another machine: ssh -N -L {address.port}:127.0.0.1:{address.port} {socket.gethostname()}, then the same "
        "address there; Ctrl-C ends",
    )
    if not arguments.no_browser:
        import threading

        threading.Thread(target=_show, args=(address.url, arguments.quiet), daemon=True).start()


def _show(url: str, quiet: bool) -> None:
    """Opens the page. Without a display a browser of the terminal would be found: it cannot show the page."""
    import os
    import sys
    import webbrowser

    from octavo.cli import console

    display = sys.platform != "linux" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if not (display and webbrowser.open(url)):
        console.say(quiet, "there is no browser here: open the address in one")
