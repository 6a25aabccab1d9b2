"""The automata that the proven search is asked about have the words that threads can make by the tool's own event table.

The automata come from the checker's reading of the threads; the words from the paths that the brute force over the axioms
takes, with all values that cells may come to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import ThreadAutomaton, _Threads
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.model import Model, rdma
from rdma_robust.semantics.oracle.thread_paths import Extent, ThreadPath, thread_paths
from rdma_robust.semantics.trace import CPU_TYPES, READ_TYPES, EventType
from rdma_robust.semantics.values import is_loop_free
from tests.litmus.goldens import PROGRAMS
from tests.support.checker_search import platform_of
from tests.support.random_deployed import random_deployed
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.shares import chunks, share

Word = tuple[tuple[str, ...], ...]


def words_of_automaton(automaton: ThreadAutomaton) -> Iterator[Word]:
    """Every path from the start in which no poll comes too early."""
    todo: list[tuple[int, Word]] = [(automaton.start, ())]
    leading: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    for source, target, label in automaton.edges:
        leading.setdefault(source, []).append((target, tuple(label.split())))
    while todo:
        at, word = todo.pop()
        yield word
        for target, label in leading.get(at, []):
            longer = (*word, label)
            if label[0] != "P" or _completions(longer)[label[1]] >= 0:
                todo.append((target, longer))


def _completions(word: Word) -> Counter[str]:
    """For each queue pair how many completions are left."""
    left: Counter[str] = Counter()
    for label in word:
        if label[0].startswith(("nrW", "nlW")) and label[1] == "s":
            left[label[2]] += 1
        elif label[0] == "P":
            left[label[1]] -= 1
    return left


def words_of_path(path: ThreadPath, program: Program) -> Iterator[Word]:
    """The words of a path, with all values that its CPU reads may have."""
    known = [e.type in READ_TYPES and e.type in CPU_TYPES for e in path.events]
    choices = [sorted(path.allowed[n]) if reads else [0] for n, reads in enumerate(known)]
    for values in product(*choices):
        if all(guard.of(values, 0) for guard in path.guards):
            yield tuple(_label(path, n, values, program) for n in range(len(path.events)))


def _label(path: ThreadPath, n: int, values: Sequence[int], program: Program) -> tuple[str, ...]:
    event = path.events[n]
    words = [event.type.value]
    if event.type in (EventType.NRW, EventType.NLW):
        by_card = n > 0 and path.events[n - 1].type in (EventType.NLR, EventType.NRR) and event.copied == 1
        words = [event.type.value if by_card else f"{event.type.value}-inline", "s" if event.completes else "u"]
    if event.remote is not None and event.type not in (EventType.LR, EventType.LW, EventType.CAS):
        words.append(f"to {event.remote}")
    if event.cell is not None:
        words.append(str(program.cells.index(event.cell)))
    if event.type in READ_TYPES and event.type in CPU_TYPES:
        words.append(str(values[n]))
    if event.written is not None:
        words.append(str(event.written.of(values, 0)))
    elif words[0].endswith("-inline"):
        words.append(str(values[n - event.copied]))
    return tuple(words)


def renamed(word: Word) -> Word:
    """The word with queue pairs numbered as they come."""
    numbers: dict[str, str] = {}
    found = []
    for label in word:
        at = {"P": 1, "nF": 1, "nlR": 1, "nrR": 1, "nrW": 2, "nlW": 2, "nrW-inline": 2}.get(label[0])
        if at is not None:
            number = numbers.setdefault(label[at], f"queue {len(numbers)}")
            label = (*label[:at], number, *label[at + 1 :])
        found.append(label)
    return tuple(found)


def compared(program: Program, model: Model) -> int:
    """The number of words of the program's threads, 0 if the search does not cover it. Fails if they differ."""
    threads = _Threads(program, platform_of(model))
    try:
        automata = threads.automata()
    except NotCovered:
        return 0
    values = {cell: frozenset(held) for cell, held in threads._values.items()}
    count = 0
    for thread, automaton in zip(program.threads, automata, strict=True):
        paths = thread_paths(thread, values, Extent.ALL, 10_000, model=model)
        expected = {renamed(word) for path in paths for word in words_of_path(path, program)}
        found = set(map(renamed, words_of_automaton(automaton)))
        assert found == expected, f"{program.file}: {thread.name}"
        count += len(found)
    return count


@pytest.mark.parametrize("chunk", share(range(6), 6))
def test_litmus_programs(chunk: int) -> None:
    programs = [load_decidable(path.read_text("utf-8"), path.name) for path in PROGRAMS[chunk::6]]
    counts = [compared(p, p.hardware.model) for p in programs if is_loop_free(p) and not p.crowds]
    assert sum(count > 0 for count in counts) > 20


@pytest.mark.parametrize("chunk", [0, *chunks(1, 20)[1:]])
def test_random_programs(chunk: int) -> None:
    counts = []
    for seed in range(60 * chunk, 60 * (chunk + 1)):
        text = random_program(Random(f"automata {seed}"), (SMALL, LARGER)[seed % 2])
        counts.append(compared(load_decidable(text, f"seed {seed}"), rdma(False)))
    for family in ("stores", "completions", "weaker", "mixed"):
        counts += [compared(*each) for each in random_deployed(family, range(20 * chunk, 20 * (chunk + 1)))]
    assert sum(count > 5 for count in counts) > 60
