"""Who is let in: requests to this machine by its own name, with the token of this run, that only ask."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: A page from elsewhere whose name leads to this machine is refused. The port may differ: of an ssh tunnel it is another.
HOSTS = {"127.0.0.1", "localhost", "[::1]"}
#: The page takes nothing from elsewhere, and nothing elsewhere takes from it or shows it. `data:` and `blob:` are pictures that the
#: page makes itself.
HEADERS = [
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]  # fmt: skip


def host_of(scope: Scope) -> str:
    """The name in the request's Host header, without the port."""
    for name, value in scope["headers"]:
        if name == b"host":
            host = value.decode("latin-1").lower()
            return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]
    return ""


class Guard:
    """Passes requests below /TOKEN/ on, without the token, and refuses others. The token is compared in constant time."""

    def __init__(self, app: App, token: str, pictures: str = "") -> None:
        """`pictures`: another server, whose pictures the page may show."""
        self._app = app
        self._token = token.encode()
        self._headers = [
            (name, value.replace(b" data: blob:", f" data: blob: {pictures}".rstrip().encode()))
            for name, value in HEADERS
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if host_of(scope) not in HOSTS:
            return await refuse(send, 403, "this server answers to 127.0.0.1 and localhost only")
        if not secrets.compare_digest(first.encode("utf-8", "replace"), self._token):
            return await refuse(send, 403, "the address lacks the token that `octavo view` printed")
        if scope["method"] not in ("GET", "HEAD"):
            return await refuse(send, 405, "this server only answers questions")
        inner = dict(scope) | {"path": "/" + rest, "raw_path": ("/" + rest).encode()}

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = {name for name, _ in message["headers"]}
                message = message | {
                    "headers": [
                        *message["headers"],
                        *((name, value) for name, value in self._headers if name not in known),
                    ]
                }
            await send(message)

        await self._app(inner, receive, guarded)


async def refuse(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
