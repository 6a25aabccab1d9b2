"""Random walks of the explorer over random programs for RDMA as deployed: SC follows each, or the program is not robust."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from rdma_robust import Verdict, check, parse
from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.teaching.explorer.session import Session
from tests.support.random_deployed import FAMILIES, mutants, random_deployed

WALKS = 3
STEPS = 60

FORWARDED = """node A { x = 1 }
node B { x = 1 }
thread T0 on B {
  put A.x = x
  put A.x = x
}
thread T1 on A {
  reg r
  x = 0
  r = x
}
"""
"""What is forwarded from the store buffer stays between its store and what else may still be written."""

FILLED = """node A { a0 }
node B { b0, b1 }
thread T1 on A {
  send 1 to T2
  recv a0 from T2
}
thread T2 on B {
  recv b1 from T1
  b1 = 1
}
"""
"""A message may leave before the receive that it fills has left the store buffer."""


def walk(session: Session, rng: Random) -> str:
    """Walk until nothing is left to do, or SC cannot follow; return how it ends."""
    view = session.seen("")
    for _ in range(STEPS):
        if view.broken is not None:
            return "broken"
        if not view.rdma.moves:
            break
        view = session.seen(view.address, ["step", "rdma", rng.randrange(len(view.rdma.moves))])
    place = session.place(view.address)
    point = session.rdma.point(place.rdma.choices)
    if not session.rdma.machine.is_final(point.state):
        return "not at its end"
    there = session.sc.point(session.followed(place).choices)
    assert session.sc.machine.final(there.state) == session.rdma.machine.final(point.state), view.address
    return "at its end"


def walked(program: Program, model: Model, seed: int) -> set[str]:
    session, rng = Session(program, model=model), Random(seed)
    ends = {walk(session, rng) for _ in range(WALKS)}
    if "broken" in ends:
        hardware = CheckOptions(cpu=model.cpu, atomics=model.atomics, order=model.order, ordered_reads=model.ordered_reads)
        with suppress(ProgramError):  # numbers without a domain: nothing decides that
            assert check(program, hardware).verdict is not Verdict.ROBUST, program.source
    return ends


def test_a_store_that_is_forwarded_stays_before_what_may_still_come() -> None:
    session = Session(parse(FORWARDED), model=Model("rdma", "tso"))
    assert {walk(session, Random(seed)) for seed in range(30)} == {"at its end"}


def test_a_message_may_fill_a_receive_that_waits_in_the_store_buffer() -> None:
    session = Session(parse(FILLED), model=Model("rdma", "tso"))
    assert "at its end" in {walk(session, Random(seed)) for seed in range(30)}


def ends_of(seeds: range) -> set[str]:
    found = set()
    for seed in seeds:
        for family in FAMILIES:
            for program, model in random_deployed(family, [seed]):
                found |= walked(program, model, seed)
        for program, model in mutants([seed]):
            found |= walked(program, model, seed)
    return found


@pytest.mark.ci
def test_walks() -> None:
    assert ends_of(range(2)) == {"broken", "at its end", "not at its end"}


@pytest.mark.ci
def test_more_walks() -> None:
    assert len(ends_of(range(2, 20))) == 3


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_walks(chunk: int) -> None:
    assert len(ends_of(range(1000 * (chunk + 1), 1000 * (chunk + 1) + 400))) == 3
