"""`prove` and SPIN's verifier on programs with finitely many states: user seconds of whole commands, in one run.

`python -m bench.finite_proofs` needs spin and gcc; making the verifier is not counted. Verifiers are of the
same programs under sc, written by hand, with SPIN's own partial-order reduction.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.spin import MISSING

ROOT = Path(__file__).resolve().parents[1]
PROMELA = ROOT / "bench/promela"
RUNS = 5


def user_seconds(command: list[str], folder: Path) -> float:
    """Return the least user time of some runs of a command."""
    least = float("inf")
    for _ in range(RUNS):
        before = os.times().children_user
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
        least = min(least, os.times().children_user - before)
    return least


def measured(model: Path, program: Path) -> tuple[float, float]:
    """Return the user seconds of pan, and of `prove`."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run(["spin", "-a", str(model)], cwd=folder, check=True, capture_output=True)
        subprocess.run(["gcc", "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"], cwd=folder, check=True)
        theirs = user_seconds(["./pan", "-m1000000"], folder)
        command = str(Path(sys.executable).parent / "rdma-robust")
        return theirs, user_seconds([command, "prove", "--model", "sc", str(program)], folder)


def main() -> None:
    if MISSING:
        print(f"Not measured: {' and '.join(MISSING)} is not installed.")
        return
    start = user_seconds([str(Path(sys.executable).parent / "rdma-robust"), "--version"], ROOT)
    print(f"{'program':24} {'pan':>8} {'prove':>8}  more      (--version alone: {start:.2f} s)")
    for model in sorted(PROMELA.glob("*.pml")):
        text = ROOT / f"litmus/prove/{model.stem}.rdma"
        with tempfile.NamedTemporaryFile("w", suffix=".rdma") as other:
            if not text.exists():  # the same with other numbers of rounds
                rounds = model.stem.split("-")[1]
                six = (ROOT / "litmus/prove/fibonacci-6-rounds.rdma").read_text(encoding="utf-8")
                other.write(six.replace("k < 6", f"k < {rounds}"))
                other.flush()
                text = Path(other.name)
            theirs, ours = measured(model, text)
        print(f"{model.stem:24} {theirs:8.2f} {ours:8.2f}  {ours - theirs:+.2f} s")


if __name__ == "__main__":
    main()
