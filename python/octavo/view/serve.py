"""Runs the server until Ctrl-C or SIGTERM."""

from __future__ import annotations

import contextlib
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn

from octavo.errors import UsageError
from octavo.view.ground import Ground
from octavo.view.server import make_app
from octavo.view.steps import Steps

#: Seconds that open connections get at the end.
PATIENCE = 2
#: Connections at once: browsers open six each.
MOST_CONNECTIONS = 100


@dataclass(frozen=True)
class Address:
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"


def bound(port: int) -> socket.socket:
    """A socket of this machine alone. Raises UsageError if the port is taken or not ours."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        reason = "is taken" if error.errno == 98 else f"cannot be used: {error.strerror}"
        raise UsageError(f"port {port} {reason}", [], "another --port, or none: any free one is taken") from None
    return listener


class _Server(uvicorn.Server):
    """Says when it answers, and ends without an error at a signal."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, *_: Any) -> None:
        self.should_exit = True


def serve(
    steps: Steps, port: int, announce: Callable[[Address], None], *, debug: bool = False, crs: str | None = None,
    under_it: Ground | None = None,
) -> int:  # fmt: skip
    """Serves the page; `announce` is called once it answers. Returns the command's exit code. Raises UsageError if the port
    cannot be had. `crs` is the coordinate system of the data, `under_it` a map for triangles."""
    with bound(port) as listener:
        address = Address(listener.getsockname()[1], secrets.token_urlsafe(24))

        def end() -> None:
            server.should_exit = True

        app, work = make_app(steps, address.token, end, debug=debug, crs=crs, under_it=under_it)
        config = uvicorn.Config(
            app, log_level="error", access_log=False, lifespan="off", server_header=False, date_header=False,
            timeout_graceful_shutdown=PATIENCE, limit_concurrency=MOST_CONNECTIONS, proxy_headers=False,
        )  # fmt: skip
        server = _Server(config, lambda: announce(address))
        try:
            server.run(sockets=[listener])
        finally:
            work.close()
    return 0
