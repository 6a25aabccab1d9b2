"""The generator of random programs and the shrinker that other tests rely on."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.language.flow.cfg import Cas, Get, Poll, Put, Read, RFence, Silent, Write, steps
from rdma_robust.language.load import load_program
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.values import is_loop_free
from tests.support.random_programs import LARGER, SMALL, TINY, Size, random_program
from tests.support.shares import share
from tests.support.shrinking import shrink


@pytest.mark.parametrize("size", share([SMALL, TINY, LARGER]))
def test_random_programs_load_and_keep_to_their_size(size: Size) -> None:
    looping = 0
    for seed in range(100):
        for loops in (False, True):
            text = random_program(Random(seed), size, loops=loops)
            assert text == random_program(Random(seed), size, loops=loops)
            program = load_program(text, f"random-{seed}.rdma")
            assert len(program.threads) <= size.threads[1] and len(program.nodes) <= size.nodes[1]
            assert loops or is_loop_free(program)
            looping += not is_loop_free(program)
    assert looping > 30


def test_random_programs_use_every_instruction() -> None:
    programs = [load_program(random_program(Random(seed)), "random.rdma") for seed in range(200)]
    edges = [step for program in programs for thread in program.threads for _, _, step in steps(thread)]
    used = {type(step.op) for step in edges}
    assert used == {Silent, Read, Write, Cas, Put, Get, Poll, RFence}
    assert any(step.fault is not None for step in edges)
    assert any("[" in str(cell) for program in programs for cell in program.cells)
    assert any(program.allow_loopback for program in programs)


def test_shrinking_keeps_only_what_fails() -> None:
    text = """domain 0..3
node A {
  x
  w
}
node B {
  y
}
thread T on A {
  reg r
  if w == 0 {
    put B.y = x
    choose {
      r = 1
    } or {
      x = 1
    }
  } else {
    w = 2
  }
}
thread U on B {
  y = 1
}
"""

    def fails(candidate: str) -> bool:
        return oracle_robust(load_program(candidate, "candidate.rdma")) is not None

    assert fails(text)
    assert shrink(text, fails) == "node A {\n  x\n}\nnode B {\n  y\n}\nthread T on A {\n    put B.y = x\n      x = 1\n}\n"
