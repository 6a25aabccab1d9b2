"""Whether an assertion can fail, by the paper's own encoding on today's z3, by the engine `smt`, and by `sat`, side by side.

`python -m bench message-solvers` asks each in a process of its own, and stops a way of solving at the first size for which a
minute of processor time is not enough. Only the assertions are asked for, under `infinite`: that is what the paper asks.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from bench.message_programs import GOALS, figure_1, figure_8, senders
from bench.paper_encoding import PaperEncoding
from bench.records import Solving, save
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.clock_formula import ClockFormula
from rdma_robust.messages.engines.match_clauses import MatchClauses
from rdma_robust.messages.engines.sat import SatQuestions
from rdma_robust.messages.engines.smt import SmtQuestions
from rdma_robust.messages.engines.smt_solver import SmtSolver
from rdma_robust.messages.engines.solved_models import Executions
from rdma_robust.messages.engines.solver_clauses import Clauses
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import MessageProgram

SECONDS: Final = 60
SENDERS: Final = (10, 20, 30, 40, 50, 60, 70)
ROUNDS: Final = (5, 10, 15, 20, 25, 33)


def by_paper(program: MessageProgram) -> bool | None:
    """The encoding as it is printed."""
    return PaperEncoding(program, whole_order=False).violable()


def by_paper_in_order(program: MessageProgram) -> bool | None:
    """The same with the whole program order."""
    return PaperEncoding(program, whole_order=True).violable()


def by_smt(program: MessageProgram) -> bool | None:
    solver = SmtSolver(NO_LIMITS)
    asked = SmtQuestions(program, ClockFormula(candidate_pairs(unroll(program, 8), "infinite"), solver))
    return asked.one_of(asked.violations().values()) is not None


def by_sat(program: MessageProgram) -> bool | None:
    with Clauses(NO_LIMITS) as clauses:
        executions = Executions(MatchClauses(candidate_pairs(unroll(program, 8), "infinite"), clauses))
        asked = SatQuestions(program, "infinite", executions)
        return asked.one_of(asked.violations().values()) is not None


WAYS: Final[Mapping[str, Callable[[MessageProgram], bool | None]]] = {
    "paper": by_paper,
    "paper, whole order": by_paper_in_order,
    "smt": by_smt,
    "sat": by_sat,
}
"""Ways to decide, by the names of the rows."""


def figure_8_by_value(rounds: int) -> str:
    """Return figure 8 with its assertion about values: encodings without senders say the same."""
    return figure_8(rounds).replace("recv v from any s", "recv v").replace("reg v, s", "reg v").replace("s == B", "v != 3")


def families() -> Iterator[tuple[str, tuple[int, ...], Callable[[int], str]]]:
    """Yield what is measured: a name, sizes, and the text of a size."""
    for goal in GOALS:
        yield goal, SENDERS, lambda size, goal=goal: senders(size, goal)  # type: ignore[misc]
    yield "figure 8", ROUNDS, figure_8_by_value
    yield "figure 1", ROUNDS, figure_1


def report(say: Callable[[str], None]) -> None:
    """Measure all and keep it."""
    rows = []
    for family, sizes, text in families():
        for way in WAYS:
            if way == "paper, whole order" and family in GOALS:
                continue
            for size in sizes:
                rows.append(apart(family, size, way, text(size)))
                say(f"{family} {size} {way}: {rows[-1].verdict} {rows[-1].seconds}")
                if rows[-1].seconds is None:
                    break
    save("message-solvers", rows)


def apart(family: str, size: int, way: str, text: str) -> Solving:
    """Decide a program in a process of its own, which ends when its processor time is over."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.message_solvers", way], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return Solving(family, size, way, "unknown", None)
    done.check_returncode()
    violable, seconds = json.loads(done.stdout)
    verdict = "unknown" if violable is None else "violated" if violable else "holds"
    return Solving(family, size, way, verdict, seconds)


def alone(way: str, text: str) -> None:
    """Decide a program and print what was found, in how many seconds of processor."""
    WAYS[way](load_messages(senders(3, "twice"), "bench.mp"))  # loads what is loaded when first asked
    started = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + int(started) + 1,) * 2)
    found = WAYS[way](load_messages(text, "bench.mp"))
    print(json.dumps([found, round(time.process_time() - started, 3)]))


if __name__ == "__main__":
    alone(sys.argv[1], sys.stdin.read())
