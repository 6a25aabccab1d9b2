"""Possible values of cells, and the symbolic paths of threads."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.oracle.thread_paths import Extent, ThreadPath, thread_paths
from rdma_robust.semantics.values import is_loop_free, possible_values
from tests.support.random_programs import SMALL, random_program


def values(text: str) -> dict[str, list[int]]:
    return {
        str(cell): sorted(held) for cell, held in possible_values(load_program(text, "v.rdma")).items() if not cell.hidden
    }


def paths(program: Program, thread: int, extent: Extent) -> tuple[ThreadPath, ...]:
    return thread_paths(program.threads[thread], possible_values(program), extent, 100)


def test_constants_flow_through_puts_gets_and_registers() -> None:
    text = """
    node A { x = 5, w }
    node B { y, z }
    thread T on A { put B.y = x; x = 7 }
    thread U on B { reg r; r = y; z = r; if r == 9 { z = 1 } }
    thread V on A { get w = B.z }
    """
    assert values(text) == {"A.x": [5, 7], "A.w": [0, 5, 7], "B.y": [0, 5, 7], "B.z": [0, 5, 7]}


def test_guards_bound_arithmetic_by_the_domain() -> None:
    text = """
    domain 0..3
    node A { x, y }
    thread T on A { reg r; loop { r = x; x = r + 1 } }
    thread U on A { reg r; r = x; y = r * 2 }
    """
    assert values(text) == {"A.x": [0, 1, 2, 3], "A.y": [0, 2]}


def test_a_swap_writes_only_if_it_may_succeed() -> None:
    assert values("node A { x }\nthread T on A { cas(x, 4, 9) }") == {"A.x": [0]}
    assert values("node A { x = 4 }\nthread T on A { cas(x, 4, 9) }") == {"A.x": [4, 9]}


def test_too_many_valuations_give_the_whole_domain() -> None:
    loops = "loop { a = a + 1 }; loop { b = b + 1 }"
    text = f"domain 0..99\nnode A {{ x }}\nthread T on A {{ reg a, b; {loops}; x = (a + b) % 2 }}"
    assert values(text) == {"A.x": list(range(100))}
    huge = text.replace("0..99", "0..2000000000")
    with pytest.raises(SizeLimitError, match="domain"):
        values(huge)


def test_loops_are_seen() -> None:
    assert not is_loop_free(load_program("node A { x }\nthread T on A { while x == 0 { } }", "l.rdma"))
    assert is_loop_free(load_program("node A { x }\nthread T on A { if x == 0 { x = 1 } }", "l.rdma"))


@pytest.mark.parametrize("seed", range(40))
def test_final_values_are_possible(rng_program: Program) -> None:
    held = possible_values(rng_program)
    cells = [cell for cell in rng_program.cells if not cell.hidden]
    for state in explore(RdmaMachine(rng_program), Limits(states=2_000)).finals:
        assert all(value in held[cell] for cell, value in zip(cells, state, strict=False))


@pytest.fixture
def rng_program(seed: int) -> Program:
    return load_program(random_program(Random(seed), SMALL), "random.rdma")


def test_extents_of_a_put_and_a_poll() -> None:
    program = load_program("node A { x }\nnode B { y }\nthread T on A { put B.y = x; poll B; poll B }", "p.rdma")
    assert [len(p.events) for p in paths(program, 0, Extent.ALL)] == [0, 1, 2, 3]
    assert [len(p.events) for p in paths(program, 0, Extent.MAXIMAL)] == [3]
    assert paths(program, 0, Extent.ENDED) == ()


def test_a_thread_may_stop_where_an_assume_may_block() -> None:
    text = "node A { x }\nthread T on A { reg r; assume x == 1; r = x }\nthread U on A { x = 1 }"
    program = load_program(text, "a.rdma")
    assert [len(p.events) for p in paths(program, 0, Extent.MAXIMAL)] == [0, 2]
    assert paths(program, 0, Extent.MAXIMAL)[1].allowed == (frozenset({1}), frozenset({0, 1}))


def test_a_branch_on_one_read_blocks_nowhere() -> None:
    program = load_program(
        "node A { x, y }\nthread T on A { if x == 0 { y = 1 } else { y = 2 } }\nthread U on A { x = 1 }", "b.rdma"
    )
    assert [len(p.events) for p in paths(program, 0, Extent.MAXIMAL)] == [2, 2]


def test_impossible_branches_are_left_out() -> None:
    text = """
    node A { x }
    thread T on A { reg r; r = x; if r == 0 { x = 0 }; if r != 0 { x = 0 } else { skip } }
    thread U on A { x = 1 }
    """
    program = load_program(text, "c.rdma")
    assert [len(p.events) for p in paths(program, 0, Extent.ENDED)] == [2, 2]


def test_a_fault_ends_a_path_for_good() -> None:
    text = "domain 0..1\nnode A { x, y }\nthread T on A { reg r; r = x; r = r + 1; y = r }\nthread U on A { x = 1 }"
    program = load_program(text, "f.rdma")
    assert sorted(len(p.events) for p in paths(program, 0, Extent.MAXIMAL)) == [1, 2]
    assert [len(p.events) for p in paths(program, 0, Extent.ENDED)] == [2]


def test_too_many_paths_are_refused() -> None:
    body = "; ".join(["choose { skip } or { x = 1 }"] * 8)
    program = load_program(f"node A {{ x }}\nthread T on A {{ {body} }}", "m.rdma")
    with pytest.raises(SizeLimitError, match="thread T has more than 100 paths"):
        paths(program, 0, Extent.ENDED)


def test_many_branches_without_an_end_are_refused() -> None:
    body = "; ".join(["choose { skip } or { x = 1 }"] * 20)
    program = load_program(f"node A {{ x }}\nthread T on A {{ {body}; assume x == 5 }}", "d.rdma")
    with pytest.raises(SizeLimitError, match="thread T has more than 100 paths"):
        paths(program, 0, Extent.ENDED)
