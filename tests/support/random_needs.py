"""Small programs whose network matters, and what they need of it by brute force over the axioms."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA
from rdma_robust.orders.guarantees import guarantees, order_giving, with_implied
from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, oracle_robust

OBSERVERS: Final = ("r = y; r = x", "r = x; r = y", "x = 1; y = 1", "y = 2; x = 2", "r = x; r = x", "r = y", "x = 3")
MORE: Final = (
    "",
    "",
    "",
    "thread V on A { reg r; r = b; r = a }\n",
    "thread V on C { reg r; await x == 1; get y = B.x }\n",
    "thread V on A { a = 1; b = 1 }\n",
)
KINDS: Final = (*["put"] * 4, *["get"] * 3, "faa", "faa", "cas", "copy", "copy", "poll", "poll", "rfence", "add")


def random_needs_program(random: Random) -> str:
    """Return a program: a thread that posts requests, one that looks, and sometimes another one."""
    peers = ["B"] if random.random() < 0.8 else ["B", "C"]
    posted: list[str] = []
    lines = [line for _ in range(random.choice([2, 2, 3, 3, 4])) if (line := _statement(random, peers, posted))]
    head = "domain 0..7\nnode A { a, b }\nnode B { x, y }\nnode C { x, y }\n"
    threads = f"thread T on A {{ {'; '.join(lines)} }}\nthread U on B {{ reg r; {random.choice(OBSERVERS)} }}\n"
    return head + threads + random.choice(MORE)


def _statement(random: Random, peers: list[str], posted: list[str]) -> str:
    kind, node, word, own = random.choice(KINDS), random.choice(peers), random.choice("xy"), random.choice("ab")
    if kind == "poll":
        return f"poll {posted.pop(0)}" if posted else ""
    if kind == "rfence":
        return f"rfence {node}"
    posted.append(node)
    there = f"{node}.{word}"
    return {
        "put": f"put {there} = {random.choice([1, 2])}",
        "copy": f"put {there} = {own}",
        "get": f"get {own} = {there}",
        "faa": f"get {own} = faa({there}, 1)",
        "cas": f"get {own} = cas({there}, 0, {random.choice([1, 2])})",
        "add": f"faa({there}, 1)",
    }[kind]


class BruteForceNeeds:
    """The minimal sets of a program, with what their guarantees come with, from all its traces under each order that is
    asked; none if it is not robust with every guarantee."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._robust: list[frozenset[str]] = []
        self._broken: list[frozenset[str]] = []

    def sets(self) -> set[frozenset[str]] | None:
        """Return the sets; None if no set is enough. Raises SizeLimitError for a program that is too large."""
        every = frozenset(guarantees())
        if not self._is_robust(every):
            return None
        least: set[frozenset[str]] = set()
        candidates = [frozenset[str]()]
        while (names := next((each for each in candidates if each not in least), None)) is not None:
            if self._is_robust(names):
                least.add(names)
                continue
            missing = every - self._grown(names)
            longer = {each if each & missing else None for each in candidates} - {None}
            longer |= {with_implied(each | {name}) for each in candidates if not each & missing for name in missing}
            found = [each for each in longer if each is not None]
            candidates = sorted(
                (e for e in found if not any(other < e for other in found)), key=lambda e: (len(e), sorted(e))
            )
        return least

    def _grown(self, names: frozenset[str]) -> frozenset[str]:
        for name in sorted(guarantees()):
            more = with_implied(names | {name})
            if not self._is_robust(more):
                names = more
        return names

    def _is_robust(self, names: frozenset[str]) -> bool:
        if any(each <= names for each in self._robust):
            return True
        if any(names <= each for each in self._broken):
            return False
        found = oracle_robust(self._program, replace(RDMA, order=order_giving(names)), DEFAULT_LIMITS) is None
        (self._robust if found else self._broken).append(names)
        return found
