"""The interpreter that checks runs: what it refuses, what it sees, and that it needs each of its rules."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.expr import Const, Name
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.messages.language.message_terms import Element, FaultError, Length, Operation, Term, Value, Zeros, value_of
from rdma_robust.messages.machine.courses import NormalFormDecisions, expanded, random_run
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import (
    BufferGrant,
    Deadlock,
    Leak,
    MatchedPair,
    MatchMove,
    MessageQuestions,
    OperationId,
    ProcessStep,
    Violation,
)
from rdma_robust.messages.replay.interpreter import Interpreter, NotEnabled
from rdma_robust.messages.replay.replaying import confirm_deadlock, confirm_leak, confirm_violation, replay_schedule
from rdma_robust.messages.replay.world import ActiveReceive, ActiveSend
from rdma_robust.messages.replay.worth import replay_value
from tests.support.naive_messages import naive_messages
from tests.support.named_messages import NAMED, Expected

PAIR = load_messages(
    "proc A { reg x; recv x tag 1; recv x }\nproc B { send 1 to A; send 2 to A tag 1; send 3 to A tag 1 }", "t"
)


def _pair(receive: int, send: int, receiver: int = 0, sender: int = 1) -> MatchMove:
    return MatchMove(MatchedPair(OperationId(receiver, receive), OperationId(sender, send)))


STEPS = (ProcessStep(0), *[ProcessStep(1)] * 5)
"""A posts a receive, B has issued all and waits for the last."""


@pytest.mark.parametrize(
    "moves, why",
    [
        ((ProcessStep(2),), "there is no process 2"),
        ((ProcessStep(0), ProcessStep(0)), "process 0 waits"),
        ((ProcessStep(0, 1),), "cannot choose 1"),
        ((_pair(0, 0),), "both must be issued"),
        ((ProcessStep(0), ProcessStep(1), _pair(0, 0)), "does not accept"),
        ((*STEPS, _pair(0, 2)), "would overtake"),
        ((BufferGrant(1),), "does not wait for a send"),
        ((ProcessStep(0), *[ProcessStep(1)] * 4, _pair(0, 1), _pair(0, 1)), "both must be issued"),
        ((*[ProcessStep(1)] * 6, ProcessStep(1)), "process 1 has ended"),
    ],
)
def test_a_move_that_no_rule_allows_is_refused(moves: tuple[Any, ...], why: str) -> None:
    with pytest.raises(NotEnabled, match=why):
        replay_schedule(PAIR, "infinite", moves)


def test_a_receive_that_is_posted_later_has_to_wait_for_its_turn() -> None:
    program = load_messages("proc A { reg x, y; req h, k; h = irecv x; k = irecv y from B }\nproc B { send 1 to A }", "t")
    with pytest.raises(NotEnabled, match="posted earlier"):
        replay_schedule(program, "zero", (*[ProcessStep(0)] * 4, ProcessStep(1), _pair(1, 0)))


def test_a_run_ends_with_registers_pairs_and_what_is_left() -> None:
    end = replay_schedule(
        PAIR, "infinite", (*STEPS, ProcessStep(1), _pair(0, 1), ProcessStep(0), ProcessStep(0), _pair(1, 0), ProcessStep(0))
    )
    assert end.ending == "complete"
    assert end.registers[0] == {"x": 1}
    assert end.leaked == ((OperationId(1, 2),), ())
    assert len(end.pairs) == 2


def test_runs_that_do_not_show_what_they_should_are_not_confirmed() -> None:
    program = load_messages("proc A { reg x; recv x; assert x == 1 }\nproc B { send 2 to A }", "t")
    answer = by_states(program, "zero", MessageQuestions(), NO_LIMITS)
    violation = answer.violations[0]
    with pytest.raises(InternalError, match="violation"):
        confirm_violation(program, "zero", Violation(1, violation.kind, violation.span, violation.schedule))
    with pytest.raises(InternalError, match="violation"):
        confirm_violation(program, "zero", Violation(0, "index", violation.span, violation.schedule))
    with pytest.raises(InternalError, match="deadlock"):
        confirm_deadlock(program, "zero", Deadlock((), violation.schedule))
    with pytest.raises(InternalError, match="leak"):
        confirm_leak(program, "zero", Leak((), (), violation.schedule))


class _Overtaking(Interpreter):
    def overtakes(self, *_: Any) -> bool:
        return False


class _QueueJumping(Interpreter):
    def jumps_the_queue(self, *_: Any) -> bool:
        return False


class _Hasty(Interpreter):
    """Passes waits of one kind at once."""

    kind: type = ActiveSend

    def is_closed(self, world: Any, request: Any) -> bool:
        return not isinstance(request, self.kind) and super().is_closed(world, request)


class _Slow(Interpreter):
    """Has every wait for a send be that of zero."""

    def is_closed(self, world: Any, request: Any) -> bool:
        closed = isinstance(request, ActiveSend) and request.send not in world.sent_off
        return closed or super().is_closed(world, request)


MUTANTS: dict[str, tuple[Callable[..., Interpreter], str]] = {
    "messages overtake": (_Overtaking, "messages keep their order"),
    "receives overtake": (_QueueJumping, "receives keep their order"),
    "sends never wait": (_Hasty, "head to head"),
    "sends always wait": (_Slow, "head to head"),
    "receives never wait": (type("_", (_Hasty,), {"kind": ActiveReceive}), "nobody sends"),
}


def _seen(kind: Callable[..., Interpreter], name: str) -> tuple[Expected, ...] | None:
    program, found = load_messages(NAMED[name].text, name), []
    for buffer in BUFFERS:
        try:
            naive = naive_messages(program, buffer, 20_000, kind(program, buffer))
        except StopIteration:
            return None
        assert naive is not None
        ends = naive.deadlock is not None, naive.leak is not None
        found.append(Expected(bool(naive.violations), *ends, len(naive.pairs), len(naive.matchings)))
    return tuple(found)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_every_rule_of_the_interpreter_is_needed(mutant: str) -> None:
    kind, name = MUTANTS[mutant]
    assert _seen(Interpreter, name) == NAMED[name].expected
    assert _seen(kind, name) != NAMED[name].expected


def test_decisions_and_chance_give_runs_that_replay() -> None:
    program = load_messages(NAMED["only any"].text, "t")
    first = (_pair(0, 0, 2, 0), _pair(0, 1, 1, 0), _pair(1, 0, 2, 1), _pair(2, 2, 2, 0), _pair(0, 0, 0, 2))
    end = replay_schedule(
        program, "zero", expanded(program, "zero", NormalFormDecisions(tuple(each.pair for each in first)))
    )
    assert (end.ending, len(end.pairs)) == ("complete", 5)
    stuck = NormalFormDecisions(
        (_pair(0, 1, 1, 0).pair, _pair(0, 0, 2, 1).pair, _pair(1, 0, 2, 0).pair), granted=frozenset({OperationId(0, 0)})
    )
    assert replay_schedule(program, "any", expanded(program, "any", stuck)).ending == "deadlock"
    with pytest.raises(InternalError, match=r"cannot make .*, as it was decided"):
        expanded(program, "zero", stuck)
    for seed in range(10):
        for buffer in BUFFERS:
            assert replay_schedule(program, buffer, random_run(program, buffer, seed)).ending in ("complete", "deadlock")
    assert random_run(program, "any", 3) == random_run(program, "any", 3)


def _random_term(chance: random.Random, depth: int) -> Term:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice([Const(chance.randint(-3, 3)), Name("x"), Name("a"), Zeros(Const(chance.randint(-1, 2)))])
    inner = [_random_term(chance, depth - 1) for _ in range(3)]
    kind = chance.randrange(6)
    if kind == 0:
        return Element(inner[0], inner[1])
    if kind == 1:
        return Length(inner[0])
    if kind == 2:
        return Operation(chance.choice("-!"), (inner[0],))
    if kind == 3:
        return Operation("?", tuple(inner))
    op = chance.choice(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"])
    return Operation(op, (inner[0], inner[1]))


def _outcome(evaluate: Callable[..., Value], term: Term) -> object:
    try:
        return evaluate(term, {"x": 2, "a": (1, (0, 5), -2)})
    except FaultError as fault:
        return fault.kind


def test_the_evaluator_agrees_with_that_of_the_language() -> None:
    chance = random.Random(1)
    terms = [_random_term(chance, 3) for _ in range(3_000)]
    outcomes = [_outcome(replay_value, term) for term in terms]
    assert outcomes == [_outcome(value_of, term) for term in terms]
    assert {"kind", "index", "division", "length"} <= {each for each in outcomes if isinstance(each, str)}
