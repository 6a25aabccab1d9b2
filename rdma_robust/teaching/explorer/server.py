"""The web server: one page and a small JSON interface, for this machine's own browser and whoever has the token."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from importlib.resources import files
from threading import Thread, Timer
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rdma_robust.errors import RdmaRobustError, UsageError
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, page_script
from rdma_robust.reports.share.svg import STYLE as DRAWING_STYLE
from rdma_robust.teaching.explorer.address import AddressError
from rdma_robust.teaching.explorer.live import Follow, Live
from rdma_robust.teaching.explorer.page_answers import program_answer, view_answer
from rdma_robust.text import printable

LARGEST_BODY = 64 * 1024

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""What the page says too; a page cannot say who may frame it."""

HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

CSS = "text/css; charset=utf-8"
JAVASCRIPT = "text/javascript; charset=utf-8"
PARTS = {
    "style.css": CSS,
    "messages.css": CSS,
    "common.js": JAVASCRIPT,
    "app.js": JAVASCRIPT,
    "messages.js": JAVASCRIPT,
    "icon.svg": "image/svg+xml",
}
"""The files of the pages; the page itself is that of what is explored."""

SHARED = {
    "shared.css": (PAGE_STYLE, CSS),
    "shared.js": (page_script(), JAVASCRIPT),
    "drawing.css": (DRAWING_STYLE, CSS),
}
"""What the page has in common with all other pages of the tool, as texts."""


def application(live: Live, token: str, port: int) -> ASGIApp:
    """Return the application. Everything is below `/TOKEN/`.

    The server keeps no state but which program is explored: a request carries the address of a place, and the answer what
    is seen there.
    """

    async def about(_request: Request) -> Response:
        return JSONResponse(program_answer(live.explored.session, live.number, watched=live.watched))

    async def now(_request: Request) -> Response:
        return JSONResponse({"number": live.number, "error": live.error})

    async def view(request: Request) -> Response:
        session = live.explored.session
        return JSONResponse(view_answer(session, await _body(request)))

    async def decided(_request: Request) -> Response:
        return JSONResponse(asdict(await live.explored.verdict()))

    texts = {path: (_file(path), kind) for path, kind in PARTS.items()} | SHARED
    texts[""] = exploration_page(live.explored.session.page), "text/html; charset=utf-8"
    routes = [Route(f"/{token}/{path}", _constant(*what), methods=["GET"]) for path, what in texts.items()]
    routes += [
        Route(f"/{token}/api/program", about, methods=["GET"]),
        Route(f"/{token}/api/now", now, methods=["GET"]),
        Route(f"/{token}/api/verdict", decided, methods=["GET"]),
        Route(f"/{token}/api/view", view, methods=["POST"]),
    ]
    handlers: Any = {RdmaRobustError: _refused, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return RequestGuard(app, token, port)


class RequestGuard:
    """Lets through what comes from a page of this server or from the address bar, with the token; adds the headers.

    The host is checked because another site may have its name point here, the origin because it may send requests.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token.encode()
        self.hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        handler: ASGIApp = self.app if refusal is None else JSONResponse({"error": refusal}, status_code=403)
        await handler(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> str | None:
        given: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value)
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "this server answers to 127.0.0.1 and localhost only"
        origins = given.get(b"origin", [])
        wanted = b"http://" + hosts[0].lower()
        if any(origin.lower() != wanted for origin in origins) or (scope["method"] == "POST" and len(origins) != 1):
            return "this server answers to its own page only"
        token = scope["path"].split("/")[1].encode("utf-8", "replace") if "/" in scope["path"] else b""
        if not secrets.compare_digest(token, self.token):
            return "the address needs the token that rdma-robust explore has printed"
        return None


def _with_headers(send: Send) -> Send:
    extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


def exploration_page(template: str) -> str:
    """Return the page of an explorer by its template: what all have alike, and its parts."""
    return templates("rdma_robust.teaching.explorer").get_template(template).render()


def _file(name: str) -> str:
    return files("rdma_robust.teaching.explorer").joinpath("page", name).read_text(encoding="utf-8")


def _constant(content: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return Response(content, media_type=media_type)

    return answer


async def _body(request: Request) -> dict[str, Any]:
    """Return the object that was sent. Raises AddressError if it is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise AddressError("a request is JSON")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise AddressError(f"a request has at most {LARGEST_BODY} bytes")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise AddressError("a request is JSON") from None
    if not isinstance(value, dict):
        raise AddressError("a request is an object")
    return value


async def _refused(_request: Request, error: Exception) -> Response:
    internal = not isinstance(error, UsageError)
    return JSONResponse({"error": printable(str(error))}, status_code=500 if internal else 400)


async def _failed(_request: Request, error: Exception) -> Response:
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    return JSONResponse({"error": f"internal error: {printable(str(error))}"}, status_code=500)


# ---- serving the page on this machine: the socket, the token, the browser, the end

HOST = "127.0.0.1"
GRACE_S = 1


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; port 0 is any that is free. Raises UsageError if it is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
        sock.listen(64)
    except OSError as error:
        sock.close()
        reason = error.strerror or str(error)
        raise UsageError(f"port {port} cannot be used: {reason}; without --port a free one is taken") from error
    return sock


@dataclass(frozen=True, slots=True)
class Serving:
    """How to serve: the port (0 for any that is free), the address of the first place, whether to open a browser, who is
    told where the page is, and what tells of changes of the file, if it is watched."""

    port: int
    place: str
    browser: bool
    say: Callable[[str], None]
    follow: Follow | None = None


def has_display() -> bool:
    """Return whether a browser has somewhere to show itself: one for the terminal would take it over."""
    return sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def serve(live: Live, how: Serving) -> None:
    """Serve the page until a signal ends it, which is raised again then. Raises UsageError if the port is taken."""
    sock = listening(how.port)
    with sock:
        number = sock.getsockname()[1]
        token = secrets.token_urlsafe(24)
        url = f"http://{HOST}:{number}/{token}/" + (f"#{how.place}" if how.place else "")
        how.say(url)
        if how.follow is not None:
            Thread(target=how.follow, args=(live.changed,), daemon=True).start()
        run_application(application(live, token, number), sock, url, browser=how.browser)


def run_application(application: ASGIApp, sock: socket.socket, url: str, *, browser: bool) -> None:
    """Answer at a socket until a signal ends it, which is raised again then; with `browser` one opens the page."""
    import uvicorn  # noqa: PLC0415 - slow

    config = uvicorn.Config(
        application,
        log_level="critical",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_S,
    )
    if browser and has_display():
        # The browser is asked from another thread: some wait until it is closed.
        opener = Timer(0.3, webbrowser.open, (url,))
        opener.daemon = True
        opener.start()
    uvicorn.Server(config).run(sockets=[sock])
