"""What lints claim, against the searches: each claim is true of the executions that it speaks of."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from rdma_robust import reach
from rdma_robust.analyses.lints.lint import lints
from rdma_robust.analyses.lints.queue_flow import flows
from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from rdma_robust.semantics.event_table import polls_of
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.support.compare import by

DATA, FLAG = "put B.d = 9", ("put C.f = 9", "f = 9")
STATEMENTS = (
    "put B.u = x",
    "put B.v = y",
    "put C.w = x",
    "get x = B.u",
    "get y = C.w",
    "x = 1",
    "y = 2",
    "r = x",
    "r = y",
    "poll B",
    "poll B",
    "poll C",
    "rfence B",
)


def program(random: Random) -> str:
    """One thread of remote operations with a put of data and a flag behind it, and others that look at all of its words."""
    body = [random.choice(STATEMENTS) for _ in range(random.randint(3, 6))]
    at = random.randint(0, len(body))
    body.insert(at, DATA)
    body.insert(random.randint(at + 1, len(body)), random.choice(FLAG))
    if random.random() < 0.3:
        cut = random.randint(0, len(body) - 1)
        body[cut : cut + 1] = [f"choose {{ {body[cut]} }} or {{ {random.choice(STATEMENTS)} }}"]
    return (
        "node A { x = 0, y = 0, f = 0 }\nnode B { u = 0, v = 0, d = 0 }\nnode C { w = 0, f = 0 }\nthread T on A {\nreg r\n"
        + "\n".join(body)
        + "\n}\nthread U on B { reg r; r = d; r = u }\nthread V on C { reg r; r = f; r = w }\n"
        + "thread W on A { reg r; r = f }\n"
    )


def may_wait(found: Program) -> bool:
    """Whether some path comes to a poll with nothing to take, so that what is behind it may never be reached."""
    return any(
        polls_of(step.op) == node and 0 in flow.outstanding(node).get(source, {0})
        for flow in flows(found)
        for node in flow.nodes
        for edges in flow.out.values()
        for source, _, step in edges
    )


def check_in_flight(found: Program, _warning: Diagnostic) -> None:
    """A result read too early, or a source overwritten: what SC forbids, if the statement is reached."""
    assert by("pivot")(found, False) == "not-robust"


def check_order(found: Program, warning: Diagnostic) -> None:
    """The flag can be seen while the data is not there."""
    said = re.search(r"`([^`]*)` on line \d+ may be seen", warning.message)
    assert said is not None
    lines = found.source.split("\n")
    if said[1] in FLAG and DATA in lines and f"line {lines.index(DATA) + 1} is sent" in warning.message:
        owner = "C" if said[1].startswith("put") else "A"
        assert reach(found, f"{owner}.f == 9 && B.d == 0").answer.value == "reachable"


def check_fence(found: Program, warning: Diagnostic) -> None:
    """Without the fence everything is the same."""
    lines = found.source.split("\n")
    row, column = warning.span.line - 1, warning.span.column - 1
    lines[row] = lines[row][:column] + "skip" + lines[row][column + len("rfence B") :]
    without = load_program("\n".join(lines), "without")
    assert by("pivot")(found, False) == by("pivot")(without, False)
    assert explore_outcomes(found, RDMA).rdma.finals == explore_outcomes(without, RDMA).rdma.finals


def check_waiting(found: Program, warning: Diagnostic) -> None:
    """Some execution comes to the poll; where it always waits, none ends."""
    assert reach(found, f"T at {warning.span.line}", model="sc").answer.value == "reachable"
    if "waits for ever" in warning.message and "choose" not in found.source:
        assert reach(found, "T ended", model="sc").answer.value == "unreachable"


CHECKS = {
    "RR702": check_waiting,
    "RR721": check_in_flight,
    "RR722": check_in_flight,
    "RR723": check_order,
    "RR724": check_fence,
}


def agree(seeds: range) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in seeds:
        text = program(Random(f"lints {seed}"))
        found = load_program(text, f"seed {seed}")
        waits = may_wait(found)
        for warning in lints(found).found:
            if warning.code in CHECKS and waits == (warning.code == "RR702"):
                counted[warning.code] += 1
                CHECKS[warning.code](found, warning)
    return counted


@pytest.mark.ci
def test_what_lints_say_is_so() -> None:
    counted = agree(range(160))
    assert set(counted) == set(CHECKS)
    assert min(counted.values()) >= 4, counted


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_what_lints_say_is_so(chunk: int) -> None:
    agree(range(1_000 * (chunk + 1), 1_000 * (chunk + 1) + 400))
