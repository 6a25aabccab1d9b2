"""Each rule of the evaluation of C, broken: a named program of tests/data/c/verbs is another one then, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from rdma_robust import check
from rdma_robust.c.code import Index
from rdma_robust.c.evaluate import (
    arithmetic,
    atomics,
    byte_ranges,
    c_values,
    evaluation_rounds,
    memory,
    pthreads,
    round_facts,
    shared_texts,
    silent_code,
    thread_machine,
    word_copies,
)  # fmt: skip
from rdma_robust.c.evaluate.c_values import canonical
from rdma_robust.c.evaluate.evaluated_c import _Writer
from rdma_robust.c.evaluate.operations import ThreadStatement, Word
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.c.evaluate.state import Events
from rdma_robust.c.evaluate.thread_run import ThreadRun
from rdma_robust.c.evaluate.verbs import polls, posts, sent_words, set_up, work_requests
from rdma_robust.c.front import conditions, expression_code, updates
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from tests.agreement.test_c_rows import FOLDER, read
from tests.agreement.test_c_twins import finals
from tests.support.c_automata import program_of
from tests.support.patches import Patch, mutated

_SEGMENTS, _LIST, _STEPPED = work_requests.segments_of, work_requests.list_of, updates.stepped
_GLOBAL = World.global_of


def _always(value: Any) -> Any:
    return lambda *_arguments, **_named: value


def _first(value: Any, *_rest: Any) -> Any:
    return value


def _integers(**changed: Any) -> tuple[Patch, ...]:
    names = {"divide": "/", "rest": "%", "shift": ">>"}
    return ((c_values, "_INTEGERS", {**c_values._INTEGERS, **{names[name]: each for name, each in changed.items()}}),)


def _bounds(change: Any) -> tuple[Patch, ...]:
    return ((word_copies, "bounds_of", change), (round_facts, "bounds_of", change))


def _every_member(leaves: Any) -> set[int]:
    return {cut for leaf in leaves for cut in (leaf.offset, leaf.offset + leaf.size)}


def _step_of_one(each: Index, after: int) -> Any:
    return arithmetic._index(replace(each, step=min(each.step, 1)), after)


def _of_first(self: World, _process: str, variable: Any) -> Any:
    return _GLOBAL(self, "A", variable)


MUTANTS: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    # values
    "casts change nothing": (((arithmetic, "convert", _first),), "numbers"),
    "all numbers are unsigned": (
        ((c_values, "in_bytes", lambda value, size, _signed: value & (1 << 8 * size) - 1),),
        "numbers",
    ),
    "numbers have no width": (((c_values, "in_bytes", _first),), "numbers"),
    "division rounds down": (_integers(divide=lambda x, y: x // y), "numbers"),
    "the rest has the sign of the divisor": (_integers(rest=lambda x, y: x % y), "numbers"),
    "`&&` and `||` evaluate both sides": (((conditions, "AND", -1), (expression_code, "AND", -1)), "numbers"),
    "`x++` is the new value": (
        ((expression_code, "stepped", lambda *given, by, old: _STEPPED(*given, by=by, old=not old)),),
        "numbers",
    ),
    "addresses go by bytes": (((arithmetic, "_COMPUTE", {**arithmetic._COMPUTE, Index: _step_of_one}),), "numbers"),
    "a part of a number is its lowest bytes": (
        ((memory, "bytes_of", lambda value, _size, _low, width: canonical(value, width)),),
        "numbers",
    ),
    "what overlaps a write keeps all bytes": (((memory.ObjectBytes, "_clear", _always(None)),), "numbers"),
    "bytes are joined the highest first": (((memory, "joined", lambda parts: c_values.joined(parts[::-1])),), "numbers"),
    "bit-fields are whole words": (((thread_machine, "extracted", lambda value, *_where: value),), "bit_fields"),
    "a bit-field replaces its word": (((thread_machine, "inserted", lambda _old, value, *_where: value),), "bit_fields"),
    # what nobody sees
    "all memory is of one thread": (((silent_code.PrivateMemory, "_is_private", _always(True)),), "workers"),
    "branches go on": (((silent_code, "_branch", lambda _condition, then, _otherwise: lambda *_run: then),), "numbers"),
    "stores keep all numbers": (((silent_code, "range_of", _always((-(1 << 70), 1 << 70))),), "numbers"),
    # words
    "memory holds 0 at the start": (((World, "initial_of", _always(0)),), "halves"),
    "sequentially consistent stores have no fence": (((atomics, "SEQ_CST", 99),), "strong_store"),
    "copies are not cut at fields": (_bounds(_always(set())), "halves"),
    "unions are cut at all their members": (_bounds(_every_member), "unions"),
    "what is printed is not read": (((shared_texts, "_texts_among", _always([])),), "printed"),
    "accesses of processors are not seen": (((ThreadRun, "kind_of_access", _always(None)),), "accesses"),
    "an addition in memory adds nothing": (
        ((atomics, "possible_sums", lambda world, word, _added: world.values_of(word)),),
        "added",
    ),
    "results of bitwise atomics are always used": (((atomics, "is_dropped", _always(False)),), "locked_bits"),
    "results of bitwise atomics are never used": (((atomics, "is_dropped", _always(True)),), "used_bits"),
    "no region is relaxed": (((set_up, "RELAXED_ORDERING", 0),), "relaxed_region"),
    "a bad address is refused": (((thread_machine, "_BAD_ADDRESS", ()),), "cm_events"),
    # threads
    "memory that threads share is private": (((round_facts, "conflicting_bytes", _always([])),), "mutex"),
    "all accesses come before a thread is created": (((byte_ranges, "_is_before", _always(True)),), "mutex"),
    "threads return nothing": (((ThreadRun, "returns", _always(None)),), "workers"),
    "barriers of one object are one": (
        ((pthreads, "Word", lambda name, _offset, size: Word(name, 0, size)),),
        "workers",
    ),
    "spin locks are given back before": (
        ((pthreads, "write_statement", lambda _word, _value: ThreadStatement("skip")),),
        "spin_and_barrier",
    ),
    # requests and completions
    "requests are never inline": (((work_requests, "INLINE", 0),), "inlined"),
    "requests are never fenced": (((work_requests, "FENCE", 0),), "fenced"),
    "requests are never signaled": (((work_requests, "SIGNALED", 0),), "lists"),
    "queue pairs never signal by themselves": (((set_up, "optional", _always(0)),), "created"),
    "buffers are gathered backwards": (
        ((work_requests, "segments_of", lambda *given: tuple(reversed(_SEGMENTS(*given)))),),
        "lists",
    ),
    "lists are posted backwards": (((work_requests, "list_of", lambda *given: _LIST(*given)[::-1]),), "lists"),
    "room of queues is not counted": (((set_up, "_room", _always(0)),), "full_queue"),
    "a completion frees one place": (
        ((posts, "WaitingCompletion", lambda *given: polls.WaitingCompletion(*given[:3])),),
        "full_queue",
    ),
    "a poll takes what was not signaled": (((posts.PostedWork, "flags", _always("")),), "lists"),
    "there are no lanes": (((_Writer, "_lanes_of", _always({})),), "lanes"),
    "an event always tells of a completion": (((Events, "polled", lambda self: self),), "stale_event"),
    "messages have one word": (
        ((sent_words, "_cut_points", lambda _world, _sender, length: [0, length]),),
        "long_messages",
    ),
    "messages are not counted": (((World, "counts_messages", _always(False)),), "lengths"),
    "as many messages come as are waited for": (((polls.QueuePoll, "_may_receive", _always(True)),), "endless_receiver"),
    "numbers of messages are all 0": (
        ((posts, "_immediate", lambda post: None if post.request.immediate is None else 0),),
        "immediates",
    ),
    "fields of completions are those of the first": (
        ((polls.QueuePoll, "_nth", lambda self, _index: self.address),),
        "two_at_once",
    ),
    # rounds
    "values do not flow with what NICs move": (((World, "flow", _always(None)),), "unions"),
    "one round is enough": (((evaluation_rounds, "_signature", _always(0)),), "messages"),
    "set-up never ends": (((World, "end_set_up", _always(None)),), "messages"),
    "processes have their globals together": (((World, "global_of", _of_first),), "messages"),
}


def notices(name: str) -> bool:
    """Whether a program is refused, or another one than the `.rdma` beside it."""
    text = (FOLDER / f"{name}.rdma").read_text(encoding="utf-8")
    wanted = load_program(text, name)
    try:
        found = program_of(read(FOLDER / f"{name}.c"))
    except (ProgramError, KeyError, StopIteration, AssertionError):
        return True
    if not {each for each in wanted.cells if not each.hidden} <= set(found.cells):
        return True
    if check(wanted, timeout=60).verdict is not check(found, timeout=60).verdict:
        return True
    names = {f"{cell.node}.{cell.name}" for cell in wanted.cells}
    return finals(wanted, names) != finals(found, names)


@pytest.mark.ci
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_program_notices(mutant: str) -> None:
    patches, program = MUTANTS[mutant]
    assert not notices(program)
    with mutated(patches):
        assert notices(program)
