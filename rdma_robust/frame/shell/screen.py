"""What is known of the place that output goes to: how wide it is."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final

NARROWEST: Final = 40
FALLBACK: Final = (80, 24)


def width_of_output(path: str | None = None) -> int | None:
    """Return the width of text written to the file `path` (None or `-`: standard output), None if it has none.

    A terminal has one, and everything has the one that `COLUMNS` in the environment says. Other files and pipes have none:
    what is written to them is the same in every window.
    """
    here = path in (None, "-") and sys.stdout is not None and sys.stdout.isatty()
    said = os.environ.get("COLUMNS", "")
    if not here and not (said.isdigit() and int(said)):
        return None
    return max(NARROWEST, shutil.get_terminal_size(FALLBACK).columns)
