"""All interleavings, the engines `states`, `sat` and `smt`: each says the same of random message programs as the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.engines.smt import by_smt
from rdma_robust.messages.language.message_program import ALL_BUFFERS, BUFFERS, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageEngine
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.message_agreement import QUESTIONS, differences, differences_in_facts
from tests.support.naive_messages import naive_messages
from tests.support.random_messages import (
    BLOCKING,
    TASTES,
    random_collectives,
    random_completions,
    random_looks,
    random_messages,
    random_modes,
    random_types,
)
from tests.support.shares import chunks

PER_CHUNK = 50
ENGINES: dict[str, MessageEngine] = {"states": by_states, "sat": by_sat, "smt": by_smt}


def any_message(seed: int) -> MessageProgram:
    tastes = (*TASTES, replace(BLOCKING, operations=8))
    return random_messages(seed, tastes[seed % len(tastes)])


def compared(seeds: range, limit: int = 1_500, made: Callable[[int], MessageProgram] = any_message) -> dict[str, int]:
    """Compare; return how many programs were small enough under each buffer semantics, and how many each engine decided."""
    counts = dict.fromkeys(ENGINES, 0)
    for seed in seeds:
        program = made(seed)
        for buffer in program.buffers:
            naive = naive_messages(program, buffer, limit)
            counts[buffer] = counts.get(buffer, 0) + (naive is not None)
            for name, engine in ENGINES.items() if naive is not None else ():
                answer = engine(program, buffer, QUESTIONS, Limits.of(30))
                confirm_answer(program, answer)
                if answer.reason and name != "states":
                    continue
                counts[name] += 1
                found = differences_in_facts(answer, naive) + (differences(answer, naive) if name == "states" else [])
                assert not found, (seed, buffer, name)
    return counts


def test_all_ways_agree() -> None:
    counts = compared(range(40_000, 40_003), 300)
    assert min(counts.values()) > 0


@pytest.mark.parametrize("chunk", chunks(0, 100))
def test_all_ways_agree_on_more(chunk: int) -> None:
    first = 41_000 + chunk * PER_CHUNK
    counts = compared(range(first, first + PER_CHUNK))
    assert min(counts[buffer] for buffer in BUFFERS) > PER_CHUNK // 3
    assert min(counts[name] for name in ENGINES) > PER_CHUNK


@pytest.mark.ci
def test_all_ways_agree_on_modes() -> None:
    counts = compared(range(50_000, 50_045), 300, random_modes)
    assert min(counts.values()) > 0


@pytest.mark.ci
def test_all_ways_agree_on_completions() -> None:
    counts = compared(range(70_000, 70_040), 300, random_completions)
    assert min(counts.values()) > 0


@pytest.mark.parametrize("chunk", chunks(0, 100))
def test_all_ways_agree_on_more_completions(chunk: int) -> None:
    first = 71_000 + chunk * PER_CHUNK
    counts = compared(range(first, first + PER_CHUNK), made=random_completions)
    assert min(counts[buffer] for buffer in ALL_BUFFERS) > PER_CHUNK // 4


@pytest.mark.ci
def test_all_ways_agree_on_types_and_lengths() -> None:
    counts = compared(range(80_000, 80_030), 300, random_types)
    assert min(counts.values()) > 0


@pytest.mark.parametrize("chunk", chunks(0, 60))
def test_all_ways_agree_on_more_types_and_lengths(chunk: int) -> None:
    first = 81_000 + chunk * PER_CHUNK
    counts = compared(range(first, first + PER_CHUNK), made=random_types)
    assert min(counts[buffer] for buffer in BUFFERS) > PER_CHUNK // 4


def states_compared(
    made: Callable[[int], MessageProgram],
    counts: Callable[[MessageProgram], bool],
    seeds: range,
    limit: int,
    *others: MessageEngine,
) -> int:
    """Compare `states`, and others where they decide, with all ways on random programs that count; return how many programs
    were compared under how many buffers, by each of them."""
    count = 0
    for seed in seeds:
        program = made(seed)
        for buffer in program.buffers if counts(program) else ():
            naive = naive_messages(program, buffer, limit)
            if naive is not None:
                for engine in (by_states, *others):
                    answer = engine(program, buffer, QUESTIONS, Limits.of(30))
                    confirm_answer(program, answer)
                    decides = engine is by_states or not answer.reason
                    assert not (decides and differences_in_facts(answer, naive)), (seed, buffer, answer.engine)
                    count += decides
    return count


def collectives_compared(seeds: range, limit: int) -> int:
    """Compare `states` with all ways on programs with collective operations."""
    return states_compared(random_collectives, lambda program: program.gathers, seeds, limit)


@pytest.mark.ci
def test_states_enter_what_all_ways_enter() -> None:
    assert collectives_compared(range(90_000, 90_060), 300) > 100


@pytest.mark.parametrize("chunk", chunks(0, 100))
def test_states_enter_what_more_ways_enter(chunk: int) -> None:
    first = 91_000 + chunk * PER_CHUNK
    assert collectives_compared(range(first, first + PER_CHUNK), 1_500) > PER_CHUNK


def looks_compared(seeds: range, limit: int) -> int:
    """Compare `states` and `smt` with all ways on programs with looks."""
    return states_compared(random_looks, lambda program: program.looks, seeds, limit, by_smt)


@pytest.mark.ci
def test_states_see_what_all_ways_see() -> None:
    assert looks_compared(range(60_180, 60_250), 300) > 200


@pytest.mark.parametrize("chunk", chunks(0, 100))
def test_states_see_what_more_ways_see(chunk: int) -> None:
    first = 61_000 + chunk * PER_CHUNK
    assert looks_compared(range(first, first + PER_CHUNK), 1_500) > 2 * PER_CHUNK


@pytest.mark.parametrize("chunk", chunks(0, 32))
def test_states_see_what_all_ways_of_small_programs_see(chunk: int) -> None:
    first = 120_000 + chunk * 1_000
    assert looks_compared(range(first, first + 1_000), 120) > 1_500


@pytest.mark.parametrize("chunk", chunks(0, 100))
def test_all_ways_agree_on_more_modes(chunk: int) -> None:
    first = 51_000 + chunk * PER_CHUNK
    counts = compared(range(first, first + PER_CHUNK), made=random_modes)
    assert min(counts[buffer] for buffer in ALL_BUFFERS) > PER_CHUNK // 4
