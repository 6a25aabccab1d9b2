"""Programs in which everybody meets in collective operations, decided piece by piece; compared with all states."""

from __future__ import annotations

import random

import pytest

from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.engines.engine_table import contradictions
from rdma_robust.messages.engines.pieces import by_pieces
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from rdma_robust.messages.replay.replaying import confirm_answer

ASKED = MessageQuestions(count=True)


def program(*bodies: str) -> MessageProgram:
    made = (f"proc P{me} {{ reg v; req a, b; {'; '.join(body.split(', '))} }}" for me, body in enumerate(bodies))
    return load_messages("\n".join(made), "p.mp")


GATHER = "recv v from any tag any, recv v from any tag any, collective barrier"


def sending(meeting: str = "collective barrier", times: int = 2) -> tuple[str, str, str]:
    """Two processes send to a third, and all meet; so many times."""
    sends = f"send 1 to P0, {meeting}"
    return tuple(", ".join([each] * times) for each in (GATHER.replace("collective barrier", meeting), sends, sends))  # type: ignore[return-value]


CROSSING = (GATHER, "send 1 to P0, collective barrier", "collective barrier, send 1 to P0")


@pytest.mark.parametrize("buffer", BUFFERS)
def test_pieces_say_what_all_states_say(buffer: Buffer) -> None:
    made = program(*sending())
    found, wanted = by_pieces(made, buffer, ASKED, NO_LIMITS, by_states), by_states(made, buffer, ASKED, NO_LIMITS)
    assert found is not None and not contradictions(found, wanted)
    assert (found.matchings, found.pairs, found.work["pieces"]) == (wanted.matchings, wanted.pairs, 3)


@pytest.mark.parametrize(
    ("bodies", "buffer"),
    [
        (CROSSING, "infinite"),
        (tuple(each.replace("barrier", "bcast root 0") for each in sending()), "any"),
        (("a = irecv v from P1, collective barrier, wait a", "a = isend 1 to P0, collective barrier, wait a"), "zero"),
        (("collective bcast root 0, collective barrier", "collective barrier"), "infinite"),
        (("recv v from P1, collective barrier", "send buffered 1 to P0, send buffered 2 to P0, collective barrier"), "zero"),
    ],
)
def test_what_may_cross_a_meeting_has_no_pieces(bodies: tuple[str, ...], buffer: Buffer) -> None:
    assert by_pieces(program(*bodies), buffer, ASKED, NO_LIMITS, by_states) is None


def test_a_deadlock_of_a_later_piece_is_shown_from_the_start() -> None:
    gather, first, second = sending()
    made = program(gather, f"{first}, send 1 to P2, recv v from P2", f"{second}, send 1 to P1, recv v from P1")
    found = by_pieces(made, "any", ASKED, NO_LIMITS, by_states)
    assert found is not None and found.deadlock is not None
    confirm_answer(made, found)
    assert len(found.deadlock.schedule) > 20


def test_random_programs_are_decided_alike() -> None:
    chance = random.Random(11)
    decided = 0
    for _ in range(10):
        bodies = [""] * 3
        for _ in range(2):
            for _ in range(chance.randint(0, 2)):
                sender, receiver = chance.sample(range(3), 2)
                bodies[sender] += f"send 1 to P{receiver}, "
                bodies[receiver] += f"recv v from {chance.choice(['any', f'P{sender}'])} tag any, "
            bodies = [f"{each}collective barrier, " for each in bodies]
        made = program(*(each.removesuffix(", ") for each in bodies))
        for buffer in BUFFERS:
            if (found := by_pieces(made, buffer, ASKED, NO_LIMITS, by_states)) is not None:
                decided += 1
                confirm_answer(made, found)
                assert not contradictions(found, by_states(made, buffer, ASKED, NO_LIMITS))
    assert decided > 15


def test_a_deadlock_behind_an_operation_that_is_left_early_is_for_other_engines() -> None:
    """Process 1 leaves the reduction before process 0 has entered it, for which a piece has no run from the start."""
    made = program(
        "collective barrier, recv v from P1, collective reduce root 0",
        "collective barrier, collective reduce root 0, send 1 to P0",
    )
    found = by_pieces(made, "any", ASKED, NO_LIMITS, by_states)
    assert found is None or not contradictions(found, by_states(made, "any", ASKED, NO_LIMITS))
