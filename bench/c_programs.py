"""`python -m bench.c_programs [FILE -I FOLDER ..]`: processor seconds of reading and evaluating C, without imports.

Goals: 0.3 s for a small file, as in tests/data/c/verbs, and 1 s for one like rdma-core's rc_pingpong.c; its harness
is in docs/c/rc-pingpong.md. The least of a few runs counts; each run is a process, as a command is.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMALL = ROOT / "tests/data/c/verbs"
RUNS = 3
SCRIPT = """
import sys, time
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
begun = time.process_time()
units = read_units(sys.argv[1], COptions(folders=tuple(sys.argv[2:])))
read = time.process_time()
evaluate_units(units)
print(read - begun, time.process_time() - read)
"""


def seconds(file: Path, folders: list[str]) -> tuple[float, float]:
    """Return what reading and evaluating a file take at least."""
    found: list[tuple[float, float]] = []
    for _ in range(RUNS):
        command = [sys.executable, "-c", SCRIPT, str(file), *folders]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        first, second = done.stdout.split()
        found.append((float(first), float(second)))
    return min(found, key=sum)


def main(arguments: list[str]) -> None:
    """Print a line for each file: those of the tests that are not refused, or the one that is named."""
    files = [Path(arguments[0])] if arguments else [each.with_suffix(".c") for each in sorted(SMALL.glob("*.rdma"))]
    folders = [each.removeprefix("-I") for each in arguments[1:] if each != "-I"]
    for file in files:
        read, evaluated = seconds(file, folders)
        print(f"{file.stem:24} read {read:5.2f}  evaluated {evaluated:5.2f}  together {read + evaluated:5.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
