"""A film of a run shows what the machine's states are, and only of runs that the machine can make."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from rdma_robust.teaching.demos.frames import BUFFERED, DONE, EXACT, POLLABLE, READ, Film, film, packed
from rdma_robust.teaching.demos.walk import Animation
from tests.support.random_programs import random_program
from tests.support.walks import animation, chain, litmus, random_run

CPU = (Verb.ACCESS, Verb.ISSUE, Verb.POLL)


def states(shot: Film) -> Iterator[dict[int, int]]:
    """Yield the slots after each frame; those that are not there are 0."""
    slots: dict[int, int] = {}
    for frame in shot.frames:
        slots = slots | dict(frame.changes)
        yield slots


def lanes(shot: Film, program: Program, slots: Mapping[int, int]) -> list[str]:
    """Return the queue pairs as `RdmaMachine.describe` tells them, from the slots alone."""
    first = len(shot.cells) + sum(len(t.registers) + 1 for t in program.threads)
    told = []
    for number, queue in enumerate(shot.queues):
        pipe, right, left, unpolled = [], [], [], []
        for i, operation in enumerate(shot.operations):
            slot = slots.get(first + i, 0)
            if operation.queue != number or not slot:
                continue
            far = slot % POLLABLE
            if far < BUFFERED:
                pipe.append(operation.text + (f" (read {operation.value})" if far == READ else ""))
            elif far == BUFFERED:
                node = queue.remote if operation.kind == "put" else program.threads[queue.thread].node
                (right if operation.kind == "put" else left).append(f"{node}.{operation.target} = {operation.value}")
            else:
                assert far == DONE
            if slot > POLLABLE:
                unpolled.append(operation.text)
        parts = {"pipe": pipe, "wbR": right, "wbL": left, "unpolled": unpolled}
        texts = [f"{name}: [{', '.join(members)}]" for name, members in parts.items() if members]
        if texts:
            told.append(f"{program.threads[queue.thread].name} -> {queue.remote}: " + " ".join(texts))
    return told


def check(shown: Animation) -> Film:
    program, machine = shown.program, RdmaMachine(shown.program)
    shot = film(shown)
    assert len(shot.frames) == len(shown.moves)
    for frame, slots, move in zip(shot.frames, states(shot), shown.moves, strict=True):
        state = move.state
        assert isinstance(state, RdmaState)
        memory = [value for cell, value in zip(program.cells, state.memory, strict=True) if not cell.hidden]
        registers = [value for thread in state.threads for value in thread.registers]
        row = [slots.get(i, 0) for i in range(len(memory) + len(registers) + len(state.threads))]
        assert row[: len(memory) + len(registers)] == memory + registers
        described = machine.describe(state)
        assert lanes(shot, program, slots) == described[len(state.threads) + 1 :]
        able = {m.action.thread for m in machine.successors(state) if m.action.verb in CPU}
        for number, place in enumerate(row[len(memory) + len(registers) :]):
            status = shot.places[place].status
            assert (status == "ready") == (number in able)
            assert (status == "ended") == (f"{program.threads[number].name} ended" in described[number])
        assert frame.verb is move.action.verb and frame.thread == move.action.thread
        if frame.word is not None:
            assert slots.get(frame.word, 0) == (move.action.read if move.action.written is None else move.action.written)
    return shot


@pytest.mark.ci
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.booleans())
def test_the_slots_are_the_state(seed: int, loops: bool) -> None:
    rng = Random(seed)
    program = load_program(random_program(rng, loops=loops), "p.rdma")
    check(animation(program, random_run(program, rng, 40, rng.choice((0.2, 0.5, 0.9)))))


@pytest.mark.parametrize("name", ["mailbox-polled", "forward-two-words-polled", "mp-get-fenced-one-poll", "cowr-put-get"])
def test_runs_of_the_suite(name: str) -> None:
    program = litmus(name)
    shot = check(animation(program, random_run(program, Random(5), 200)))
    assert shot.ending in ("final", "stuck")


def test_a_long_run_of_four_processes_is_small() -> None:
    program = chain()
    moves = random_run(program, Random(2), 600, 0.2)
    assert len(moves) == 601
    shot = film(animation(program, moves))
    assert sum(len(frame.changes) for frame in shot.frames) < 4 * len(moves)
    assert len(json.dumps(packed(shot))) < 90_000
    assert shot.ending == ""


def test_constants_are_not_shown() -> None:
    program = litmus("sb-put-plain")
    shot = film(animation(program, random_run(program, Random(1), 100)))
    assert not any(cell.hidden for cell in shot.cells)
    taken = [frame for frame in shot.frames if frame.verb is Verb.NIC_READ]
    assert taken
    for frame in taken:
        assert frame.operation is not None
        operation = shot.operations[frame.operation]
        assert (frame.word is None) == operation.source.isdigit()
        assert frame.word is not None or operation.source == str(operation.value)


def test_moves_that_are_no_run_are_refused() -> None:
    program = litmus("mailbox-plain")
    moves = random_run(program, Random(3), 8)
    good = animation(program, moves, "The run")
    assert len(film(good).frames) == len(moves)
    wrong = moves[4].action._replace(written=(moves[4].action.written or 0) + 1)
    bad = (
        moves[1:],
        moves[:3] + moves[4:],
        (*moves[:5], moves[5]._replace(state=moves[4].state), *moves[6:]),
        (*moves[:4], moves[4]._replace(action=wrong), *moves[5:]),
    )
    for each in bad:
        with pytest.raises(InternalError, match=r"move \d of the run `The run`"):
            film(animation(program, each, "The run"))
    with pytest.raises(InternalError, match="a note, maybe empty, for each move"):
        film(replace(good, notes=good.notes[1:]))
    with pytest.raises(InternalError, match="needs a start"):
        film(Animation("none", program, (), ()))


def test_what_is_packed_is_the_film() -> None:
    program = litmus("forward-two-words-polled")
    shot = film(animation(program, random_run(program, Random(4), 100)))
    data = json.loads(json.dumps(packed(shot)))
    texts = data["texts"]
    assert len(set(texts)) == len(texts)
    for row, frame in zip(data["frames"], shot.frames, strict=True):
        assert row[:7] == [frame.agent, frame.thread, frame.verb.value, frame.line, frame.queue, frame.operation, frame.word]
        assert [texts[i] for i in row[7:11]] == [frame.label, frame.hint, frame.then, frame.event]
        assert list(zip(row[12][::2], row[12][1::2], strict=True)) == list(frame.changes)
    for row, operation in zip(data["operations"], shot.operations, strict=True):
        assert (texts[row[2]], row[3], row[6]) == (operation.text, operation.kind, operation.value)


def test_large_numbers_keep_their_digits() -> None:
    program = load_program(f"node A {{ x = {EXACT + 1}, y = {EXACT - 1} }}\nthread T on A {{ x = 0 }}\n", "p.rdma")
    data = packed(film(animation(program, random_run(program, Random(0), 5))))
    frames = json.loads(json.dumps(data["frames"]))
    assert frames[0][12][:4] == [0, str(EXACT + 1), 1, EXACT - 1]
