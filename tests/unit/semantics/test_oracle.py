"""The brute-force oracle: on classic shapes, against a plain enumeration of orders, and against itself."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import is_violating, rdma_violation, sc_violation
from rdma_robust.semantics.oracle.brute_force import OracleLimits, axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.trace import CPU_TYPES, EventType
from rdma_robust.semantics.wellformed import check_well_formed
from tests.support.random_programs import TINY, random_program
from tests.support.shares import share
from tests.support.traces import Place, event_types, places, run_in_order

NODES = "node A { x = 0, a = 0, s = 0 }\nnode B { y = 0, b = 0, t = 0 }\n"

SB_FLUSHED = """on A { reg r; put B.y = 1; get s = B.b; poll B; poll B; r = x }
on B { reg r; put A.x = 1; get t = A.a; poll A; poll A; r = y }"""

# (name, threads, robust by default, robust with ordered reads)
SHAPES = [
    ("SB by puts", "on A { reg r; put B.y = 1; r = x } on B { reg r; put A.x = 1; r = y }", False, False),
    ("SB polled", "on A { reg r; put B.y = 1; poll B; r = x } on B { reg r; put A.x = 1; poll A; r = y }", False, False),
    ("SB flushed", SB_FLUSHED, True, True),
    ("MP by puts on one queue pair", "on A { put B.y = 1; put B.b = 1 } on B { reg r, q; r = b; q = y }", True, True),
    ("MP by gets", "on A { get x = B.b; get a = B.y } on B { y = 1; b = 1 }", False, True),
    ("MP by polled gets", "on A { get x = B.b; poll B; get a = B.y; poll B } on B { y = 1; b = 1 }", True, True),
    ("put then overwrite the source", "on A { put B.y = x; x = 1 }", False, False),
    ("put, poll, overwrite the source", "on A { put B.y = x; poll B; x = 1 }", True, True),
    ("get then read", "on A { reg r; get x = B.y; r = x } on B { y = 1 }", False, False),
    ("get, poll, read", "on A { reg r; get x = B.y; poll B; r = x } on B { y = 1 }", True, True),
    ("get then put of the same word", "on A { get x = B.y; put B.b = x } on B { y = 1 }", False, False),
    ("get, rfence, put of the same word", "on A { get x = B.y; rfence B; put B.b = x } on B { y = 1 }", True, True),
    ("put then get back", "on A { put B.y = 1; get x = B.y }", True, True),
    ("local only", "on A { x = 1 } on A { reg r; r = x }", True, True),
]


def program_of(threads: str) -> Program:
    text = NODES
    for i, body in enumerate(threads.split("on ")[1:]):
        text += f"thread T{i} on {body}\n"
    return load_program(text, "shape.rdma")


@pytest.mark.parametrize(("name", "threads", "plain", "ordered"), SHAPES)
def test_classic_shapes(name: str, threads: str, plain: bool, ordered: bool) -> None:
    program = program_of(threads)
    for ordered_reads, robust in ((False, plain), (True, ordered)):
        trace = oracle_robust(program, rdma(ordered_reads))
        assert (trace is None) == robust, name
        assert (oracle_robust(program, rdma(ordered_reads), all_prefixes=True) is None) == robust
        if trace is not None:
            check_well_formed(program, trace)
            assert rdma_violation(trace, rdma(ordered_reads)) is None and sc_violation(trace) is not None


def orders(program: Program) -> Iterator[list[Place]]:
    """Every order of all events in which CPU events keep theirs and a NIC read comes before its write."""
    threads = places(program)
    types = [event_types(program, t) for t in range(len(threads))]

    def free(place: Place, done: set[Place]) -> bool:
        t, i = place
        earlier = [k for k in range(i) if (t, k) not in done]
        if types[t][i] in CPU_TYPES:
            return all(types[t][k] not in CPU_TYPES for k in earlier)
        return types[t][i] not in (EventType.NRW, EventType.NLW) or i - 1 not in earlier

    def extend(order: list[Place], done: set[Place]) -> Iterator[list[Place]]:
        rest = [place for thread in threads for place in thread if place not in done]
        if not rest:
            yield order
        for place in rest:
            if free(place, done):
                yield from extend([*order, place], done | {place})

    yield from extend([], set())


@pytest.mark.parametrize(("name", "threads"), [shape[:2] for shape in SHAPES if "flushed" not in shape[0]])
@pytest.mark.parametrize("ordered_reads", share([False, True], 2))
def test_a_violating_trace_is_one_of_some_order(name: str, threads: str, ordered_reads: bool) -> None:
    """Every RDMA-consistent trace is T(order) for a linearisation of its ob, so trying all orders decides robustness."""
    program = program_of(threads)
    found = any(is_violating(run_in_order(program, order), rdma(ordered_reads)) for order in orders(program))
    assert found == (oracle_robust(program, rdma(ordered_reads)) is not None), name


@pytest.mark.parametrize("first", share(range(0, 400, 50), 4))
def test_maximal_prefixes_are_enough(first: int) -> None:
    for seed in range(first, first + 50):
        program = load_program(random_program(Random(seed), TINY), f"random-{seed}.rdma")
        ordered_reads = bool(seed % 2)
        maximal = oracle_robust(program, rdma(ordered_reads))
        every = oracle_robust(program, rdma(ordered_reads), all_prefixes=True)
        assert (maximal is None) == (every is None), program.source


@pytest.mark.parametrize("first", share(range(0, 400, 50), 4))
def test_robust_programs_gain_no_outcomes(first: int) -> None:
    for seed in range(first, first + 50):
        program = load_program(random_program(Random(seed)), f"random-{seed}.rdma")
        outcomes = axiomatic_outcomes(program)
        assert outcomes.sc <= outcomes.rdma
        assert outcomes.sc == outcomes.rdma or oracle_robust(program) is not None, program.source


def test_a_robustness_violation_without_a_new_outcome() -> None:
    program = program_of("on A { put B.y = x; x = 0 }")
    outcomes = axiomatic_outcomes(program)
    assert outcomes.sc == outcomes.rdma
    assert oracle_robust(program) is not None


def test_unending_threads_have_no_outcomes() -> None:
    assert axiomatic_outcomes(program_of("on A { assume x == 1 }")).rdma == frozenset()
    assert axiomatic_outcomes(program_of("on A { poll B }")).rdma == frozenset()
    assert len(axiomatic_outcomes(program_of("on A { put B.y = 1; halt; x = 1 }")).rdma) == 1


def test_a_violation_before_a_fault_counts() -> None:
    text = "domain 0..1\nnode A { x }\nnode B { y }\nthread T on A { reg r; put B.y = x; x = 1; r = 1; r = r + 1; x = 0 }"
    program = load_program(text, "fault.rdma")
    assert oracle_robust(program) is not None
    assert axiomatic_outcomes(program).rdma == frozenset()


def test_limits_are_stated() -> None:
    loop = load_program("node A { x }\nthread T on A { while x == 0 { } }", "loop.rdma")
    with pytest.raises(SizeLimitError, match="without loops"):
        oracle_robust(loop)
    with pytest.raises(SizeLimitError, match="without loops"):
        axiomatic_outcomes(loop)
    wide = program_of("".join("on A { x = 1; x = 2; x = 3 } " for _ in range(6)))
    with pytest.raises(SizeLimitError, match="more than 10 events"):
        oracle_robust(wide, limits=OracleLimits(events=10))
    with pytest.raises(SizeLimitError, match="more than 500 decisions"):
        oracle_robust(wide, limits=OracleLimits(decisions=500))
    with pytest.raises(SizeLimitError, match=r"0\.01 s"):
        oracle_robust(wide, limits=OracleLimits(timeout=0.01))
    branches = program_of("on A { choose { x = 1 } or { x = 2 } } " * 3)
    with pytest.raises(SizeLimitError, match="combinations"):
        oracle_robust(branches, limits=OracleLimits(choices=7))
