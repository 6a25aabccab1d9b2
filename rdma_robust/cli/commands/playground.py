"""The `playground` command: serve the page in which the tool itself runs."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from rdma_robust.cli.commands.share import HOME_PORT
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.text import printable

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
    if not (folder / "python.zip").is_file():
        raise UsageError(
            f"{printable(str(folder))} has no playground: `make playground` in the repository of rdma-robust makes "
            f"{BUILT}; give the folder if it is elsewhere"
        )
    if find_spec("uvicorn") is None or find_spec("starlette") is None:
        raise UsageError("playground needs uvicorn and starlette: pip install uvicorn starlette")
    from rdma_robust.teaching.playground.static_site import serve_folder  # noqa: PLC0415 - slow

    serve_folder(folder, port, _say, browser=browser)
    return Exit.OK


def _say(url: str) -> None:
    print(f"The playground is at {url}\nCtrl-C ends it.", flush=True)
