"""Serving the page on this machine: the socket, the token, the browser, the end."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread, Timer

from rdma_robust.errors import UsageError
from rdma_robust.teaching.explorer.live import Follow, Live
from rdma_robust.teaching.explorer.server import application

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


def _has_display() -> bool:
    """Return whether a browser has somewhere to show itself: one for the terminal would take it over."""
    return sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def serve(live: Live, how: Serving) -> None:
    """Serve the page until a signal ends it, which is raised again then. Raises UsageError if the port is taken."""
    import uvicorn  # noqa: PLC0415 - slow

    sock = listening(how.port)
    with sock:
        number = sock.getsockname()[1]
        token = secrets.token_urlsafe(24)
        config = uvicorn.Config(
            application(live, token, number),
            log_level="critical",
            access_log=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=GRACE_S,
        )
        url = f"http://{HOST}:{number}/{token}/" + (f"#{how.place}" if how.place else "")
        how.say(url)
        if how.browser and _has_display():
            # The browser is asked from another thread: some wait until it is closed.
            opener = Timer(0.3, webbrowser.open, (url,))
            opener.daemon = True
            opener.start()
        if how.follow is not None:
            Thread(target=how.follow, args=(live.changed,), daemon=True).start()
        uvicorn.Server(config).run(sockets=[sock])
