"""The server at home: the files of the page, for this machine only. They are the same that any static server can have."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rdma_robust.teaching.explorer.server import GRACE_S, HOST, has_display, listening

POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""What the page says too, for other servers: nothing of another origin, and no code but the files and WebAssembly."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def static_site(folder: Path) -> ASGIApp:
    """Return the application that serves the files of a folder, with the policy."""
    mimetypes.add_type("text/javascript", ".mjs")
    mimetypes.add_type("application/wasm", ".wasm")
    return _WithHeaders(Starlette(routes=[Mount("/", StaticFiles(directory=folder, html=True))]))


class _WithHeaders:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, sending)


def serve_folder(folder: Path, port: int, say: Callable[[str], None], *, browser: bool) -> None:
    """Serve the page until a signal ends it, which is raised again then. Raises UsageError if the port is taken."""
    import uvicorn  # noqa: PLC0415 - slow

    with listening(port) as sock:
        url = f"http://{HOST}:{sock.getsockname()[1]}/"
        say(url)
        if browser and has_display():
            import webbrowser  # noqa: PLC0415 - only here

            opener = Timer(0.3, webbrowser.open, (url,))
            opener.daemon = True
            opener.start()
        config = uvicorn.Config(
            static_site(folder),
            log_level="critical",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=GRACE_S,
        )
        uvicorn.Server(config).run(sockets=[sock])
