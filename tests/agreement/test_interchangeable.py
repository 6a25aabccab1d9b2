"""Looking at one of the states that differ in who is who only finds the same as looking at all of them."""

from __future__ import annotations

from typing import Any

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer
from rdma_robust.messages.machine import interchangeable, states, value_kinds
from rdma_robust.messages.machine.interchangeable import interchangeable_processes
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.message_agreement import matches
from tests.support.random_families import random_family
from tests.support.shares import chunks

PER_CHUNK = 50


def facts(answer: BufferAnswer) -> tuple[object, ...]:
    ends = answer.deadlock, answer.leak
    return (
        {(each.span, each.kind): matches(each.schedule) for each in answer.violations},
        (answer.violated, answer.deadlocked, answer.leaking),
        [None if each is None else matches(each.schedule) for each in ends],
        answer.pairs,
        answer.reason,
    )


def both(text: str, buffer: Buffer, limit: int = 3_000) -> tuple[BufferAnswer, BufferAnswer]:
    """Return what is found with and without interchangeable processes."""
    program = load_messages(text, "t.mp")
    with_them = by_states(program, buffer, MessageQuestions(), Limits.of(30, limit))
    confirm_answer(program, with_them)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(states, "interchangeable_processes", lambda _program: None)
        return with_them, by_states(program, buffer, MessageQuestions(), Limits.of(30, limit))


def compare(seeds: range) -> tuple[int, int]:
    """Return how many programs have interchangeable processes, and of how many that makes fewer states."""
    having = fewer = 0
    for seed in seeds:
        text = random_family(seed)
        if interchangeable_processes(load_messages(text, "t.mp")) is None:
            continue
        having += 1
        for buffer in BUFFERS:
            ours, theirs = both(text, buffer)
            if not theirs.reason.startswith("reached"):
                assert facts(ours) == facts(theirs), (seed, buffer)
                fewer += ours.work["states"] < theirs.work["states"]
    return having, fewer


def test_it_does_not_matter_who_is_who() -> None:
    having, fewer = compare(range(3))
    assert having > 0
    assert fewer > 0


@pytest.mark.parametrize("chunk", chunks(1, 120))
def test_it_does_not_matter_who_is_who_in_more(chunk: int) -> None:
    having, fewer = compare(range(100 + chunk * PER_CHUNK, 100 + (chunk + 1) * PER_CHUNK))
    assert having > PER_CHUNK // 4
    assert fewer > PER_CHUNK // 4


NAMED = {
    "what is sent later differs": """
        proc S { reg v, w, s; recv v from any s; send 0 to s; recv w from s tag 1; assert w == 1 }
        proc C[i in 1..2] { reg x; send 0 to S; recv x; send i to S tag 1 }
        """,
    "a number of a process is compared by size": """
        proc S { reg v, w, s; recv v from any s; recv w; assert s < 2 }
        proc C[i in 1..2] { send 0 to S }
        """,
    "one of them is named": """
        proc S { reg v; recv v; recv v from C[2] }
        proc C[i in 1..2] { send 0 to S }
        """,
    "they are named one after the other": """
        proc S { reg v; recv v; for j in 1..2 { recv v from C[j] } }
        proc C[i in 1..2] { send 0 to S; send 0 to S }
        """,
    "they name others": """
        proc S { reg v; recv v }
        proc C[i in 1..2] { send 0 to S; send 0 to i + 2 }
        proc D { reg x; recv x }
        proc E { reg x; recv x; assert x }
        """,
    "a register that is 0 names one of them": """
        proc C[i in 0..1] { send 0 to S }
        proc S { reg v, u; recv v from u }
        """,
    "who was first and who was second": """
        proc S { reg v, s, u; recv v from any s; recv v from any u; recv v tag 0; recv v tag 0; recv v tag 1; assert s == u }
        proc C[i in 1..2] { send 0 to S; send 0 to S; send 0 to S tag 1 }
        """,
    "what is calculated with matters": """
        proc S { reg v, w, t; recv v; recv w; t = v + v; assert t == 2 }
        proc C[i in 1..2] { send i to S }
        """,
    "arrays have lengths": """
        proc S { reg v, w; recv v; recv w; w = v[1]; assert 0 }
        proc C[i in 1..2] { reg a; choose { a = new(1) } or { a = new(2) }; send a to S }
        """,
}


_KIND = value_kinds.Kinds.kind


def _without_numbers(shapes: list[Any], mentioned: list[Any]) -> Any:
    return _CLASSES([shape[:-1] for shape in shapes], mentioned)


def _never_mind_others(one: int, other: int, mentioned: Any, _by_others: Any) -> bool:
    places = {one: other, other: one}
    return tuple(places.get(each, each) for each in mentioned[one]) == mentioned[other]


def _without_references(self: Any, state: Any) -> object:
    parts = [self._part(me, number)[0] for me, number in enumerate(state)]
    return tuple(sorted(parts))


def _only_idle(self: Any, node: Any) -> Any:
    self.has_arrays = False
    return _KIND(self, node)


_CLASSES = interchangeable._classes
MUTANTS = {
    "numbers in the code do not matter": (interchangeable, "_classes", _without_numbers, "what is sent later differs"),
    "processes are numbers too": (
        value_kinds.Kinds,
        "are_mixed",
        lambda _self: False,
        "a number of a process is compared by size",
    ),
    "a process that is calculated": (
        value_kinds.Kinds,
        "are_mixed",
        lambda _self: False,
        "they are named one after the other",
    ),
    "others may name them": (interchangeable, "_change_places", _never_mind_others, "one of them is named"),
    "they may name anybody": (interchangeable, "_change_places", lambda *_: True, "they name others"),
    "process 0 is one of them": (interchangeable, "_FIRST", 0, "a register that is 0 names one of them"),
    "who is named does not matter": (interchangeable.Orbits, "key", _without_references, "who was first and who was second"),
    "operands do not matter": (value_kinds.Kinds, "_settle", lambda _self: None, "what is calculated with matters"),
    "lengths do not matter": (value_kinds.Kinds, "kind", _only_idle, "arrays have lengths"),
    "pairs of others are no pairs": (
        interchangeable.Alike,
        "expanded",
        lambda _self, pairs: set(pairs),
        "who was first and who was second",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_who_is_not_interchangeable_is_not_taken_for_it(name: str) -> None:
    for buffer in BUFFERS:
        ours, theirs = both(NAMED[name], buffer)
        assert facts(ours) == facts(theirs), buffer


@pytest.mark.parametrize("mutant", MUTANTS)
def test_symmetry_that_is_wrongly_claimed_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, other, noticed_by = MUTANTS[mutant]
    monkeypatch.setattr(where, name, other)
    assert any(facts(ours) != facts(theirs) for ours, theirs in (both(NAMED[noticed_by], buffer) for buffer in BUFFERS))


def test_many_clients_of_a_server_have_few_states() -> None:
    text = """
    proc S { reg v, s; for j in 1..40 { recv v from any s; send v to s } }
    proc C[i in 1..40] { reg x; send i to S; recv x from S; assert x == i }
    """
    answer = by_states(load_messages(text, "t.mp"), "zero", MessageQuestions(), Limits(states=100))
    assert (answer.violated, answer.deadlocked, answer.reason) == ("no", "no", "")
    assert answer.pairs is not None
    assert len(answer.pairs) == 2 * 40 * 40
