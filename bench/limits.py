"""How far limits are overstepped: every command on inputs that are large in one direction each.

`python -m bench.limits [--seconds S] [--memory MIB]` prints a table: for each command and input the exit code, the seconds,
the memory of its largest process, how much more than the limit, a fifth of it and 1 s (50 MiB) that is, and why.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.nasty import PROGRAMS, net

SIZES = {
    "statements": 2500,
    "threads": 400,
    "branches": 600,
    "loops": 400,
    "registers": 400,
    "cells": 60,
    "deep": 200,
    "doubling": 300,
    "constants": 1_000_000,
    "values": 40,
    "mistakes": 6500,
    "comments": 1_400_000,
}
COMMANDS = (
    ("check",),
    ("check", "--reductions", "none"),
    ("check", "--instrumentation", "paper"),
    ("check", "--self-check"),
    ("check", "--engine", "karp-miller", "--kernel", "python"),
    ("check", "--certificate", "proofs"),
    ("check", "--dump-after", "lower"),
    ("explain",),
    ("explain", "--format", "html"),
    ("repair",),
    ("reach", "-t", "1 == 0"),
    ("verify",),
    ("outcomes", "--max-states", "100000000"),
    ("report", "--no-cache", "--format", "html", "--repair", "0"),
)
NO_MEMORY = {"outcomes"}
REASON = re.compile(r"reached the [^,;\n]*|out of memory[^,;\n]*")


@dataclass(frozen=True, slots=True)
class Run:
    """What one command took: seconds from its start to its end, and mebibytes of its largest process."""

    code: int
    seconds: float
    mebibytes: int
    said: str


def main() -> None:
    """Print the table of all runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--memory", type=int, default=200)
    parser.add_argument("--only", default="", help="part of the name of a command or an input")
    options = parser.parse_args()
    idle = measured(["--version", "--help"])
    print(f"start-up alone: {idle.seconds:.2f} s, {idle.mebibytes} MiB\n")
    print("| command | input | exit | s | over s | MiB | over MiB | reason |\n|---|---|---:|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for command, name, path in questions():
            if options.only not in f"{' '.join(command)} {name}":
                continue
            memory = [] if command[0] in NO_MEMORY else ["--memory", str(options.memory)]
            run = measured([*command, path, "--timeout", str(options.seconds), *memory])
            late = run.seconds - idle.seconds - 1.2 * options.seconds - 1
            large = run.mebibytes - 1.2 * options.memory - 50
            numbers = f"{run.code} | {run.seconds:.1f} | {max(late, 0):.1f} | {run.mebibytes} | {max(large, 0):.0f}"
            print(f"| {' '.join(command)} | {name} | {numbers} | {run.said} |", flush=True)


def questions() -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield commands with the name and the path of an input, which is written here."""
    for name, size in SIZES.items():
        path = Path(f"{name}.rdma")
        path.write_text(PROGRAMS[name](size), encoding="utf-8")
        for command in COMMANDS:
            yield command, name, str(path)
    for name, text in (("ring net", net(3000)), ("net of huge numbers", net(300, 10**30))):
        path = Path(f"{name.replace(' ', '-')}.spec")
        path.write_text(text, encoding="utf-8")
        yield ("cover",), name, str(path)


def measured(arguments: list[str]) -> Run:
    """Run the command line and measure it."""
    started = time.monotonic()
    command = [sys.executable, "-m", "rdma_robust", *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        most = 0
        while process.poll() is None:
            most = max(most, largest(process.pid))
            time.sleep(0.01)
        seconds = time.monotonic() - started
        out.seek(0)
        found = REASON.search(out.read())
    return Run(process.returncode, seconds, most, found[0] if found else "")


def largest(process: int) -> int:
    """Return the resident mebibytes of the largest of a process and those it has started."""
    most = 0
    with suppress(OSError, ValueError, IndexError):
        most = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * 4096 >> 20
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                most = max(most, largest(int(child)))
    return most


if __name__ == "__main__":
    main()
