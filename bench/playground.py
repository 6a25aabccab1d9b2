"""`python -m bench.playground`: how long the page takes to its first verdict, and its size. Needs node, npm and chromium.

Goals on two cores: 8 s at the first visit (cold: an empty browser), 2 s with the tool loaded (warm: another program of the
suite in the same tab), 20 MB. Seconds are those of the clock: run it on a quiet machine.
"""

from __future__ import annotations

import gzip
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from rdma_robust.teaching.playground.page_questions import SharedProgram, fragment_of
from sitegen.playground.bundle import BUILT, NotMadeError, make
from tests.support.browser import MISSING, chromium

ROOT: Final = Path(__file__).parents[1]
RUNS: Final = 3
PROGRAM: Final = ROOT / "litmus/sb-put-plain.rdma"
GOALS: Final = {"cold": 8.0, "offline": 8.0, "warm": 2.0, "MB": 20.0}
_MOST_S: Final = 300.0
_ANSWERED: Final = "const b = document.querySelector('#badge'); return !b.hidden && !document.querySelector('#panel.old')"


@contextmanager
def _served() -> Iterator[str]:
    command = [str(Path(sys.executable).parent / "rdma-robust"), "playground", str(BUILT), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("The playground is at ").strip()
        finally:
            process.terminate()


def _seconds(driver: Any, begin: Callable[[], object]) -> float:
    """Return how long it takes from `begin` to an answer. Raises TimeoutError."""
    started = time.monotonic()
    begin()
    while not driver.execute_script(_ANSWERED):
        if time.monotonic() - started > _MOST_S:
            raise TimeoutError("no verdict came")
        time.sleep(0.02)
    return time.monotonic() - started


def visits(address: str) -> dict[str, float]:
    """Return the seconds of a first visit, of another program in the tab, and of a second visit, in a new browser."""
    other = fragment_of(SharedProgram(PROGRAM.read_text(encoding="utf-8"), "rdma", "verdict"))
    with chromium() as driver:
        cold = _seconds(driver, lambda: driver.get(address))
        warm = _seconds(driver, lambda: driver.execute_script("location.hash = arguments[0]", other))
        driver.execute_async_script("navigator.serviceWorker.ready.then(() => arguments[0]())")
        driver.get("about:blank")
        again = _seconds(driver, lambda: driver.get(address))
    return {"cold": cold, "warm": warm, "offline": again}


def sizes() -> tuple[float, float]:
    """Return the megabytes of the page, and what a server that compresses sends."""
    files = [path.read_bytes() for path in BUILT.rglob("*") if path.is_file()]
    return sum(map(len, files)) / 1e6, sum(min(len(data), len(gzip.compress(data))) for data in files) / 1e6


def main() -> int:
    """Measure and print; return 1 where it cannot be measured."""
    try:
        if MISSING:
            raise NotMadeError(f"{' and '.join(MISSING)} is not installed")
        make()
    except NotMadeError as error:
        print(f"the playground is not measured: {error}", file=sys.stderr)
        return 1
    with _served() as address:
        found = [visits(address) for _ in range(RUNS)]
    plain, packed = sizes()
    table = Table("measured", "median", "goal")
    for name, said in (("cold", "first visit"), ("warm", "another program"), ("offline", "second visit, from what is kept")):
        table.add_row(
            f"{said}, to the verdict", f"{statistics.median(each[name] for each in found):.1f} s", f"{GOALS[name]:.0f} s"
        )
    table.add_row("files of the page", f"{plain:.1f} MB", "")
    table.add_row("sent by a server that compresses", f"{packed:.1f} MB", f"{GOALS['MB']:.0f} MB")
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
