"""The message programs of the paper's tables, rebuilt: Table I with four goals and larger sizes, LE, Router, MultiM, Pktuse.

`python -m bench messages` decides each in a process of its own, with `auto`, under `infinite`, and writes the tables of
docs/benchmarks-messages.md. Times are of processor, from the text to the replayed answer, without the start of Python;
those of the command are of all that it does, for all three buffers, with runs, races and counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.measure import keep
from bench.message_programs import GOALS, PROGRAMS, senders
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import MessageQuestions

PAGE: Final = Path(__file__).resolve().parents[1] / "docs/benchmarks-messages.md"
SIZES: Final = (30, 40, 50, 60, 70, 100, 300, 1_000)
SECONDS: Final = 30.0
PAPER: Final = {
    30: "0:36, 20 MB", 40: "3:22", 50: "16:11", 60: "47:29", 70: "2:00:30, 364 MB",
    "LE": "< 1 s, 33 MB", "Router": "2 s, 15 MB", "MultiM, figure 8": "16:40, 135 MB", "MultiM, figure 1": "16:40, 135 MB",
    "Pktuse": "2:06:09, 1,540 MB",
}  # fmt: skip
"""What the paper reports, for other programs of the same kind and on its machine; of Table I the goal `given` alone."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One decision: what decided, its verdicts, and what it took."""

    engine: str
    violated: str
    deadlocked: str
    pairs: int | None
    seconds: float
    mebibytes: int
    reason: str


def decided(text: str, *, pairs: bool) -> Measured:
    """Decide a program in this process; the verdicts alone, or also all feasible pairs."""
    started = time.process_time()
    program = load_messages(text, "bench.mp")
    answer = answered(program, "infinite", MessageQuestions(pairs=pairs), Limits.of(SECONDS))
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    found = None if answer.pairs is None or not answer.pairs_exact else len(answer.pairs)
    return Measured(answer.engine, answer.violated, answer.deadlocked, found, seconds, memory, answer.reason)


def apart(text: str, *, pairs: bool) -> Measured:
    """Decide a program in a process of its own."""
    command = [sys.executable, "-m", "bench.messages", "pairs" if pairs else "verdicts"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout))


def checked(text: str) -> tuple[float, int]:
    """Return the seconds of processor and mebibytes that `rdma-robust messages check` takes for a program."""
    command = [sys.executable, "-m", "rdma_robust", "messages", "check", "-", "--timeout", "300"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as child:
        assert child.stdin is not None
        child.stdin.write(text)
        child.stdin.close()
        _, _, used = os.wait4(child.pid, 0)
        child.returncode = 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def report(say: Callable[[str], None]) -> None:
    """Measure all and write the tables."""
    lines = ["| senders | goal | verdict | engine | verdicts, s | and all pairs, s | MB | the paper |", "|" + "---|" * 8]
    for size in SIZES:
        for goal in GOALS:
            paper = PAPER.get(size, "") if goal == "given" else ""
            lines.append(f"| {size:,} | {goal} {_row(senders(size, goal))} {paper} |")
            say(lines[-1])
    lines += ["", "| program | verdict | engine | verdicts, s | and all pairs, s | MB | the paper |", "|" + "---|" * 7]
    for name, text in PROGRAMS.items():
        lines.append(f"| {name} {_row(text())} {PAPER.get(name, '')} |")
        say(lines[-1])
    lines += ["", "| `messages check`, all buffers | s | MB |", "|---|---|---|"]
    for goal in GOALS:
        seconds, mebibytes = checked(senders(SIZES[-1], goal))
        lines.append(f"| {SIZES[-1]:,} senders, {goal} | {seconds:.1f} | {mebibytes:,} |")
        say(lines[-1])
    keep(PAGE, "<!-- messages: begin -->", "<!-- messages: end -->", "\n".join(lines))


def _row(text: str) -> str:
    return "| " + " | ".join(_cells(apart(text, pairs=False), apart(text, pairs=True))) + " |"


def _cells(alone: Measured, full: Measured) -> Iterator[str]:
    open_ = ", deadlock not decided" if alone.deadlocked == "unknown" != alone.violated else ""
    yield {"yes": "violated", "no": "holds", "unknown": "not decided"}[alone.violated] + open_
    yield alone.engine if not alone.reason else "sat, states"
    yield f"{alone.seconds:.2f}" if not alone.reason else f"> {SECONDS:g}"
    yield f"{full.seconds:.2f}" if full.pairs is not None else f"> {SECONDS:g}"
    yield f"{max(alone.mebibytes, full.mebibytes):,}"


if __name__ == "__main__":
    decided(senders(6, "sum"), pairs=True)  # loads what is loaded when first asked
    made = decided(sys.stdin.read(), pairs=sys.argv[1] == "pairs")
    print(json.dumps({name: getattr(made, name) for name in Measured.__dataclass_fields__}))
