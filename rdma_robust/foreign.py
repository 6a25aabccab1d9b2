"""How this process deals with code that is not its own: starting itself anew without what lies in the current folder, and
keeping libraries from writing where reports go.

A command is often run in a checkout of somebody else, or beside a text of somebody else that is open in an editor; nothing
that lies there may run.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

_STREAMS: Final = (1, 2)
YOUNG_OBJECTS: Final = 100_000
"""New objects before the garbage collector looks at them. Loading makes hundreds of thousands that all stay."""


def own_command(arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs this very program with `arguments`, whatever the folder that it runs in.

    `-P`: with `-m` alone the current folder is the first in which modules are looked for.
    """
    return [sys.executable, "-P", "-m", "rdma_robust", *arguments]


def own_code(code: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs code with `arguments` in an interpreter that has the modules of this one."""
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", *arguments]


def forget_current_folder() -> None:
    """Take the current folder off the list of those in which modules are looked for, unless this program lies there.

    `python -m rdma_robust` puts it first; what has been loaded by then came from there if it was there.
    """
    with contextlib.suppress(FileNotFoundError):
        here = os.getcwd()
        if os.path.abspath(sys.path[0]) == here and not os.path.isdir(os.path.join(here, "rdma_robust")):
            del sys.path[0]


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Keep a library from writing on standard output and standard error past Python: banners, remarks, progress.

    Only for short calls: what other threads write meanwhile is lost too.
    """
    with contextlib.ExitStack() as after, open(os.devnull, "wb") as nowhere:
        for number in _STREAMS:
            with contextlib.suppress(OSError):
                kept = os.dup(number)
                after.callback(os.close, kept)
                after.callback(os.dup2, kept, number)
                os.dup2(nowhere.fileno(), number)
        after.callback(_flush_library)
        yield


def _flush_library() -> None:
    """Write out what the C library still holds back, which would otherwise appear later, at the wrong place."""
    import ctypes  # noqa: PLC0415 - only where such a library runs

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Let the garbage collector look as seldom as in a process of this program, in one that is another program's."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
