"""The `playground` command: a server, for this machine only, of the page in which the tool itself runs."""

from __future__ import annotations

import mimetypes
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.teaching.playground.page_questions import HOME_PORT
from rdma_robust.text import printable

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PLAYGROUND_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; "
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What the page says too, for other servers: nothing of another origin, and no code but the files and WebAssembly."""

_HEADERS: Final = {
    "Content-Security-Policy": PLAYGROUND_POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
BUILT: Final = Path("build/playground")
"""Where `make playground` puts the page, from the top of the repository."""


def playground_command(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="What `make playground` has made.", show_default=False)
    ] = BUILT,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="Port of the page; 0 for any.")] = HOME_PORT,
    *,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_playground, folder, port, browser=browser))


def run_playground(folder: Path, port: int, *, browser: bool) -> Exit:
    """Serve the page until Ctrl-C. Raises UsageError where there is none, or the port is taken."""
    if not os.path.isfile(folder / "playground.json"):
        raise UsageError(
            f"{printable(str(folder))} has no playground: `make playground` in the repository of rdma-robust makes "
            f"{BUILT}; give the folder if it is elsewhere"
        )
    _serve(folder, port, browser=browser)
    return Exit.OK


def _site(folder: Path) -> ASGIApp:
    """Return the application that serves the files of a folder, with the policy."""
    from starlette.applications import Starlette  # noqa: PLC0415 - slow
    from starlette.routing import Mount  # noqa: PLC0415
    from starlette.staticfiles import StaticFiles  # noqa: PLC0415

    mimetypes.add_type("text/javascript", ".mjs")
    files = Starlette(routes=[Mount("/", StaticFiles(directory=folder, html=True))])
    headers = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]

    async def with_headers(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *headers]}
            await send(message)

        await files(scope, receive, sending)

    return with_headers


def _serve(folder: Path, port: int, *, browser: bool) -> None:
    """Serve the page until a signal ends it, which is raised again then. Raises UsageError if the port is taken."""
    from rdma_robust.teaching.explorer.server import HOST, listening, run_application  # noqa: PLC0415 - slow

    with listening(port) as sock:
        url = f"http://{HOST}:{sock.getsockname()[1]}/"
        print(f"The playground is at {url}\nCtrl-C ends it.", flush=True)
        run_application(_site(folder), sock, url, browser=browser)
