"""The explorer of programs with anything deployed: every state is shown, and SC follows just as far as a run is like one."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

import pytest

from rdma_robust.language.flow.cfg import ImmPut, Program, Send
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import sc_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.run_history import history
from rdma_robust.teaching.explorer.address import Place, Track
from rdma_robust.teaching.explorer.session import Session
from tests.support.random_deployed import FAMILIES, loaded, named, named_texts, random_deployed

SOME: Final = ("sb-stores", "lock-release-cas", "two-buffers", "sb-forwarded", "flip-a", "ping-pong", "sherman")


def walked(cases: Iterable[tuple[Program, Model]], rng: Random) -> tuple[int, int]:
    """Walk at random to the end of each program, and look at every state on the way.

    Return how many runs SC can follow to their end, and how many it cannot; as the axioms say of their traces.
    """
    followed = broken = 0
    for program, model in cases:
        session = Session(program, model=model)
        machine = session.rdma.machine
        if not isinstance(machine, DeployedMachine):
            continue
        choices: list[int] = []
        while moves := session.rdma.moves(session.rdma.point(choices)):
            choices.append(rng.randrange(len(moves)))
        broken_at = None
        waits = any(isinstance(step.op, Send | ImmPut) for thread in program.threads for _, _, step in thread.edges)
        for at in range(len(choices) + 1):
            place = Place("follow", Track(tuple(choices[:at]), at))
            view = session.view(place)
            broken_at = at if broken_at is None and view.broken is not None else broken_at
            # A message that waits for a buffer holds up SC until that is posted.
            assert waits or (view.broken is None) == (broken_at is None), program.source
            assert [len(view.rdma.steps), view.rdma.at] == [at, at]
            assert all(move.label for move in (*view.rdma.moves, *view.sc.moves))
        points = session.rdma.point(choices).path()
        run = [p.move for p in (session.rdma.point(()), *points) if p.move is not None]
        past = history(machine, run)
        if past.is_prefix() and machine.is_drained(run[-1].state):
            trace = trace_of_order([event for _, event in past.events()], program, model)
            like = sc_violation(trace) is None
            end = session.followed(Place("follow", Track(tuple(choices), len(choices))))
            assert (end.broken is None) == like, program.source
            assert waits or (broken_at is None) == like, program.source
            followed += like
            broken += not like
    return followed, broken


def test_named_programs_are_explored() -> None:
    texts = named_texts()
    followed, broken = walked((loaded(texts[name], name) for name in SOME if name in texts), Random(3))
    assert followed and followed + broken >= 5


def test_a_receive_that_waits_in_a_store_buffer_is_done_for_a_message_that_must_be() -> None:
    """The second put lands before the message of the first, for which no receive is posted yet."""
    cases = random_deployed("weaker", [121])
    followed, broken = walked(cases, Random("121 0"))
    assert followed + broken == 1


@pytest.mark.long
def test_long_programs_are_explored() -> None:
    for seed in range(5):
        followed, broken = walked(named(), Random(seed))
        assert followed > 30 and broken > 5
    for family in FAMILIES:
        walked(random_deployed(family, range(200)), Random(family))


def test_what_is_under_way_beside_queue_pairs_is_shown() -> None:
    text = (
        "node A { x = 1 }\nnode B { b }\nthread T on A { x = 2; send x to U }\nthread U on B { posted b from T\n rpoll T }"
    )
    session = Session(load_program(text, "t"), model=Model(cpu="tso"))
    place = session.step(Place(), "rdma", 0)
    view = session.view(place)
    assert [thread.carries for thread in view.rdma.threads] == ["store buffer: A.x = 2", "posted for T: b"]
    assert view.rdma.steps[0].label == "puts x = 2 into the store buffer"
    assert view.rdma.threads[1].text == "waits: rpoll T (no message yet)"


def test_a_message_that_waits_for_its_buffer_is_followed_once_that_is_posted() -> None:
    (program, model), *_ = random_deployed("messages", [38])
    choices = (1, 1, 0, 0, 1, 1, 1, 1, 2, 2, 0, 1, 2, 0, 0, 0, 0)
    session = Session(program, model=model)
    assert session.followed(Place("follow", Track(choices, len(choices)))).broken is None
