"""Whether the engine `states` says of a message program what all its interleavings do."""

from __future__ import annotations

from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    MatchMove,
    MessageEngine,
    MessageQuestions,
    OperationId,
    Schedule,
)
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.naive_messages import Naive, naive_messages

QUESTIONS = MessageQuestions(pairs=True, count=True, limit=2_000, listed=2_000)


def matches(schedule: Schedule) -> int:
    """Return how many matches a run has."""
    return sum(isinstance(each, MatchMove) for each in schedule)


def differences(answer: BufferAnswer, naive: Naive) -> list[str]:
    """Return in which points an exact answer is not what happens."""
    shortest = {(each.span, each.kind): matches(each.schedule) for each in answer.violations}
    listed = None if answer.matchings is None else set(answer.matchings.listed)
    points: list[tuple[str, object, object]] = [
        ("reason", answer.reason, ""),
        ("violated", answer.violated, "yes" if naive.violations else "no"),
        ("violations", shortest, naive.violations),
        ("deadlocked", answer.deadlocked, "no" if naive.deadlock is None else "yes"),
        ("deadlock", None if answer.deadlock is None else matches(answer.deadlock.schedule), naive.deadlock),
        ("leaking", answer.leaking, "no" if naive.leak is None else "yes"),
        ("leak", None if answer.leak is None else matches(answer.leak.schedule), naive.leak),
        ("pairs", answer.pairs, naive.pairs),
        ("matchings", listed, naive.matchings),
    ]
    return [f"{name}: {ours} is not {theirs}" for name, ours, theirs in points if ours != theirs]


def disagreement(program: MessageProgram, buffer: Buffer, limit: int = 3_000) -> list[str] | None:
    """Return where `states` and all interleavings differ; None if there are too many of these, or no end of names."""
    naive = naive_messages(program, buffer, limit)
    if naive is None:
        return None
    answer = by_states(program, buffer, QUESTIONS, Limits.of(20))
    confirm_answer(program, answer)
    return differences(answer, naive)


def differences_in_facts(answer: BufferAnswer, naive: Naive) -> list[str]:
    """Return in which points an exact answer is not what happens, but for how long the runs are that it shows."""
    by_receive: dict[OperationId, int] = {}
    for pair in naive.pairs:
        by_receive[pair.receive] = by_receive.get(pair.receive, 0) + 1
    happens = {
        "violated": "yes" if naive.violations else "no",
        "violations": set(naive.violations),
        "deadlocked": "no" if naive.deadlock is None else "yes",
        "leaking": "no" if naive.leak is None else "yes",
        "pairs": naive.pairs,
        "races": tuple(sorted(receive for receive, count in by_receive.items() if count > 1)),
        "count": (len(naive.matchings), True),
        "matchings": naive.matchings,
    }
    ours = facts(answer)
    return [f"{name}: {ours[name]} is not {theirs}" for name, theirs in happens.items() if ours[name] != theirs]


def facts(answer: BufferAnswer) -> dict[str, object]:
    """Return what two exact answers have in common, whichever runs they show."""
    assert answer.matchings is not None
    return {
        "violated": answer.violated,
        "violations": {(each.span, each.kind) for each in answer.violations},
        "deadlocked": answer.deadlocked,
        "leaking": answer.leaking,
        "pairs": answer.pairs,
        "races": answer.races,
        "mismatches": {each.processes for each in answer.mismatches},
        "count": (answer.matchings.count, answer.matchings.exact),
        "matchings": set(answer.matchings.listed) if answer.matchings.exact else None,
    }


def compared_with_states(engine: MessageEngine, program: MessageProgram, buffer: Buffer) -> bool:
    """Compare an engine with `states`; return whether both were exact. What the engine has found is right in any case."""
    states = by_states(program, buffer, QUESTIONS, Limits.of(20))
    answer = engine(program, buffer, QUESTIONS, Limits.of(20))
    confirm_answer(program, answer)
    if states.reason:
        return False
    ours, theirs = facts(answer), facts(states)
    if not answer.reason:
        assert ours == theirs
        return True
    for name in ("violated", "deadlocked", "leaking"):
        assert ours[name] in ("unknown", theirs[name])
    assert answer.pairs is not None
    assert states.pairs is not None
    assert answer.pairs <= states.pairs
    return False
