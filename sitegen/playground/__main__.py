"""`python -m sitegen.playground [FOLDER]` makes the playground (make playground)."""

from __future__ import annotations

import sys
from pathlib import Path

from sitegen.playground.bundle import BUILT, NotMadeError, make


def main() -> int:
    """Make the page and say how large it is; return the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT
    try:
        make(folder)
    except NotMadeError as error:
        print(f"the playground is not made: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB; `rdma-robust playground` serves it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
