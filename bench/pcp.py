"""`python -m bench.pcp`: Post's problem solved by running its program, states and time against solution length.

Writes the table of docs/undecidability.md. The states are the same in every run, and a test compares them.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from rich.console import Console

from bench.measure import keep, processor_time
from rdma_robust.hardness.pcp import PcpInstance, pcp_program
from rdma_robust.hardness.pcp_search import PcpAnswer, solve
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "undecidability.md"
BEGIN, END = "<!-- bench/pcp.py writes from here -->", "<!-- to here -->"
HEADER = ("solution", "pairs", "top", "bottom", "states", "choices", "moves of the run", "time")
RUNS = 3
LIMITS = Limits(depth=20)

INSTANCES = (
    ("ab,b", "ab,a"),
    ("ab,b", "a,bb"),
    ("a,aa", "aaa,a"),
    ("b,abb", "bba,b"),
    ("a,ab,bba", "baa,aa,bb"),
    ("baa,ab,abb,b", "a,bb,ba,ba"),
    ("bb,a,a", "b,aab,bb"),
    ("aaa,aba,a,a", "ab,a,bb,aa"),
    ("bbb,b,baa", "a,bbb,b"),
    ("ba,ab,aa,aab", "b,aaa,baa,a"),
    ("aba,bba,b", "bab,b,ab"),
    ("b,abb,aaa,aba", "ba,b,b,bab"),
    ("a,ab,baa", "aba,a,b"),
    ("a,ab,bba,ba", "aab,a,a,b"),
)
"""Top and bottom words, by the length of their shortest solutions: random ones, but for the classic one."""


def instance(top: str, bottom: str) -> PcpInstance:
    return PcpInstance(tuple(top.split(",")), tuple(bottom.split(",")))


def solved(top: str, bottom: str) -> tuple[PcpAnswer, Program]:
    found = instance(top, bottom)
    program = load_program(pcp_program(found), "pcp.rdma")
    return solve(found, program, LIMITS), program


def cells(top: str, bottom: str) -> tuple[str, ...]:
    """Return the row of an instance, but for the time."""
    answer, _ = solved(top, bottom)
    assert answer.solution is not None
    length, moves = len(answer.solution.indices), len(answer.solution.run)
    search = answer.search
    return str(length), str(top.count(",") + 1), top, bottom, f"{search.states:,}", f"{search.kept:,}", f"{moves:,}"


def seconds(top: str, bottom: str) -> float:
    """Return the median processor time of some searches, replay of the run included."""
    times = []
    for _ in range(RUNS):
        started = processor_time()
        solved(top, bottom)
        times.append(processor_time() - started)
    return statistics.median(times)


def report() -> str:
    """Return the table in Markdown."""
    rules = ("---:", "---:", "---", "---", "---:", "---:", "---:", "---:")
    rows = [HEADER, rules, *((*cells(*words), f"{seconds(*words):.2f} s") for words in INSTANCES)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure, print the table, and keep it in the document."""
    text = report()
    Console(width=140).print(text, markup=False, highlight=False, soft_wrap=True)
    keep(DOCUMENT, BEGIN, END, text)


if __name__ == "__main__":
    main()
