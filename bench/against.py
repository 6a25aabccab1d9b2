"""The machines of RDMA in this checkout against those of another: processor time for the same questions, as a ratio.

Run as `python -m bench.against OTHER [N]`, OTHER being the root of another checkout with its compiled modules, for every
N-th program of the suite. Both answer each question in turn, in processes of their own that are warm, so that what else the
computer does meets both alike; the least time of each counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
LARGEST = 20
QUESTIONS = ("outcomes", "verify", "explain", "explorer")

WORKER = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import rdma_robust
from random import Random
from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.language.load import load_decidable
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.teaching.explorer.session import Session

assert rdma_robust.__file__.startswith(sys.argv[1])
STATES = 20_000

def walk(program, model):
    session = Session(program, model=model)
    view, rng = session.seen(""), Random(program.name)
    for _ in range(25):
        if not view.rdma.moves:
            break
        view = session.seen(view.address, ["step", "rdma", rng.randrange(len(view.rdma.moves))])

def ask(question, text, name):
    program = load_decidable(text, name)
    options = CheckOptions(max_states=STATES).on(program.hardware)
    outcome = check_program(program, options) if question == "explain" else None
    start = time.process_time()
    match question:
        case "outcomes":
            explore_outcomes(program, options.model, max_states=STATES)
        case "verify":
            rdma_robust.verify(program, max_states=STATES)
        case "explain":
            explanation(outcome, options, final_state_limit=0)
        case "explorer":
            walk(program, options.model)
    return time.process_time() - start

for line in sys.stdin:
    try:
        seconds = ask(*json.loads(line))
    except rdma_robust.RdmaRobustError:
        seconds = None
    print(json.dumps(seconds), flush=True)
"""


class Worker:
    """A process that answers questions with the code of one checkout."""

    def __init__(self, root: Path) -> None:
        command = (sys.executable, "-c", WORKER, str(root))
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, question: str, path: Path) -> float | None:
        """Return the processor time of an answer, None if the program is refused."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([question, path.read_text(encoding="utf-8"), path.name]), file=self.process.stdin, flush=True)
        found: float | None = json.loads(self.process.stdout.readline())
        return found


def least(workers: Sequence[Worker], question: str, path: Path) -> tuple[float, ...] | None:
    """Return the least time of each worker for a question, None if one refuses it."""
    rounds = [[worker.seconds(question, path) for worker in workers] for _ in range(ROUNDS)]
    columns = [[s for s in column if s is not None] for column in zip(*rounds, strict=True)]
    return tuple(min(column) for column in columns) if all(columns) else None


def programs(every: int) -> Iterator[tuple[str, list[Path]]]:
    """Yield the suite, or every so many-th of it, and its largest programs."""
    suite = sorted((ROOT / "litmus").glob("*.rdma"), key=lambda path: path.stat().st_size)
    yield "suite", suite[::every]
    yield f"{LARGEST} largest", suite[-LARGEST:]


def main() -> None:
    """Print a line for each question and set of programs: the times of both checkouts, and their ratio."""
    other, every = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    workers = [Worker(other), Worker(ROOT)]
    for question in QUESTIONS:
        for name, paths in programs(every):
            times = [found for path in paths if (found := least(workers, question, path)) is not None]
            before, after = (sum(column) for column in zip(*times, strict=True))
            print(
                f"{question:9} {name:11} {len(times):4} programs {before:8.2f} s {after:8.2f} s  {after / before:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
