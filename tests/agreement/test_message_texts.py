"""A message program that is built and the same one read from its text do the same."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from tests.support.message_agreement import QUESTIONS
from tests.support.random_message_texts import expressible, message_text
from tests.support.random_messages import random_completions, random_messages
from tests.support.shares import chunks


def does(program: MessageProgram, buffer: Buffer, lines: dict[object, int] | None) -> tuple[object, ...]:
    """Return what a program does, violations by the lines of the text."""
    found = by_states(program, buffer, QUESTIONS, Limits(states=3_000))
    violations = {(each.span.line if lines is None else lines[each.span], each.kind) for each in found.violations}
    assert found.matchings is not None
    return violations, found.deadlocked, found.leaking, found.pairs, set(found.matchings.listed)


def compare(seeds: range) -> int:
    """Return how many programs the language has; the others name a process that is none."""
    compared = 0
    for seed in seeds:
        built = expressible(random_messages(seed) if seed % 3 else random_completions(seed))
        text = message_text(built)
        try:
            read = load_messages(text.text, "random.mp")
        except ProgramError as refused:
            assert {each.code for each in refused.diagnostics} == {"RR914"}, seed
            continue
        compared += 1
        for buffer in BUFFERS:
            assert does(read, buffer, None) == does(built, buffer, {**text.where}), (seed, buffer)
    return compared


def test_text_and_record_do_the_same() -> None:
    assert compare(range(6)) > 3


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_more_texts_and_records_do_the_same(chunk: int) -> None:
    assert compare(range(50 + 50 * chunk, 100 + 50 * chunk)) > 30
