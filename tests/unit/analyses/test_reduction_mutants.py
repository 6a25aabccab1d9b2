"""Every rule of the reductions has a program whose answer depends on it: without the rule the answer is another one."""

from __future__ import annotations

from typing import Any

import pytest

from rdma_robust.analyses.prove import lazy_system, reduced_rma
from rdma_robust.analyses.prove.lazy_system import Burst, LazySystem, _Due
from rdma_robust.analyses.prove.placing import seen
from rdma_robust.analyses.prove.prove import FIRST, decide_safety
from rdma_robust.analyses.prove.reduced_rdma import PipeSystem, QueuePairState
from rdma_robust.analyses.prove.reduced_rma import PendingSetSystem
from rdma_robust.analyses.prove.reduced_sets import StatementSetSystem, StoreBufferSystem
from rdma_robust.analyses.prove.reduced_system import ReducedSystem
from rdma_robust.analyses.prove.reductions import InOrderSystem
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety
from rdma_robust.analyses.prove.transition_system import Assignment
from rdma_robust.language.flow.cfg import Cas, MFence, Put, Rmw
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Verb

SAFE, UNSAFE = Safety.SAFE, Safety.UNSAFE

OWN_STORE = """node A { x }
thread T on A { reg r; x = 1; r = x; assert r == 1 }
"""
WIDE_OWN_STORE = """node A { x }
thread T on A { reg r, c; c = nondet(); x = c; r = x; assert r == c }
"""
STORE_BUFFERING = """node A { x, y }
thread T on A { reg r; x = 1; mfence; r = y }
thread U on A { reg r; y = 1; mfence; r = x }
outcome T.r == 0 && U.r == 0 : forbidden under tso, forbidden under pso, forbidden under sc
"""
MESSAGE_PASSING = """node A { x, y }
thread T on A { x = 1; y = 1 }
thread U on A { reg r, s; r = y; s = x }
outcome U.r == 1 && U.s == 0 : forbidden under tso, forbidden under pso
"""
TWO_BUFFERED = """node A { x, y, z }
thread T on A { reg r; x = 1; y = 1; r = z }
thread U on A { reg s; z = 1; mfence; s = x }
outcome T.r == 0 && U.s == 0 : forbidden under tso, forbidden under pso
"""
LAST_STORE = """node A { x }
thread T on A { x = 1; x = 2 }
outcome A.x != 2 : forbidden under tso, forbidden under pso
"""
WIDE_STORES = """node A { x, y }
thread T on A { reg c; c = nondet(); x = c; y = c - 1 }
outcome A.x <= A.y : forbidden under tso, forbidden under pso
"""
SWAPPED = """node A { x, y }
thread T on A { reg r, s; x = 1; s = swap(x, 2); r = y }
thread U on A { reg r; y = 1; mfence; r = x }
outcome T.r == 0 && U.r == 0 : forbidden under tso, forbidden under pso
"""
BOTH_FLUSHED = """node P { Y = 1 }
node Q { R = 0, X = 2 }
thread T on Q { reg r; put P.Y = X; flush P; X = 3; get R = P.Y; flush P; r = R }
outcome T.r == 3 : forbidden under rma
outcome T.r == 0 : forbidden under rma
"""
UNFLUSHED = """node P { Y = 1 }
node Q { R = 0, X = 2 }
thread T on Q { reg r; put P.Y = X; X = 3; get R = P.Y; flush P; r = R }
outcome T.r == 3 : forbidden under rma
"""
CHAIN = """node A { x = 1, z }
node B { y }
thread T on A { reg r; put B.y = x; get z = B.y; flush B; r = z }
outcome T.r == 1 : forbidden under rma
"""
RACE = """node A { x }
thread T on A { x = 1 }
thread U on A { reg r; r = x }
outcome U.r == 0 : forbidden under sc
"""
OTHER_NODE = """node A { x }
node B { y = 4 }
node C { z }
thread T on A { reg r; get x = B.y; put C.z = 1; flush C; r = x }
outcome T.r == 0 : forbidden under rma
"""
TWO_PUTS = """node A { x }
node B { y }
thread T on A { reg i; while i < 2 { put B.y = x; i = i + 1 }; x = 1; x = 2 }
thread U on B { reg a, b; a = y; b = y }
outcome U.a == 2 && U.b == 1 : forbidden under rma
"""
COUNTED = """node A { x }
node B { y }
thread T on A { reg c, i; c = nondet(); while i < 2 { c = c + 1; x = c; put B.y = x; i = i + 1 } }
thread U on B { reg a, b; a = y; b = y }
outcome U.a == T.c && U.b + 1 == T.c && U.b > 0 : forbidden under rma
"""
ONE_TICKET = """node A { x, w }
node B { y }
thread T on A { reg r; get x = faa(B.y, 1); flush B; r = x }
thread U on B { reg r; r = faa(y, 1) }
outcome T.r == U.r : forbidden under rma
"""
TWO_STEPS = """node A { x, w }
node B { y, w }
thread T on A { put B.y = x }
thread U on A { x = 7; put B.w = 1 }
thread V on B { await w == 1; y = 5 }
outcome B.y == 0 : forbidden under sc
"""
PUT_GET = """node A { x = 1, z }
node B { y }
thread T on A { reg r; put B.y = x; get z = B.y; flush B; r = z }
outcome T.r == 0 : forbidden under rdma
"""
PUT_FLUSHED = """node A { x = 1 }
node B { y, w }
thread T on A { reg r; put B.y = x; flush B; x = 2 }
outcome B.y != 1 : forbidden under rdma
"""
PUT_SEEN = """node A { x, w }
node B { y, z }
thread T on A { put B.y = 1; flush B; w = 1 }
thread U on B { reg r; get z = A.w; flush A; r = z; if r == 1 { r = y; assert r == 1 } }
"""
POLLED_GET = """node A { x }
node B { y = 1 }
thread T on A { reg r; get x = B.y; poll B; r = x; assert r == 1 }
"""
PUTS_READ_IN_ORDER = """node A { x }
node B { y, z }
thread T on A { put B.y = x; put B.z = x }
thread U on A { x = 1 }
outcome B.y == 1 && B.z == 0 : forbidden under rdma
"""
WIDE_PUTS = """node A { x, w }
node B { y, z }
thread T on A { reg c; c = nondet(); x = c; w = c - 1; put B.y = x; put B.z = w }
outcome B.y <= B.z : forbidden under rdma
"""
FENCED_PUT = """node A { x }
node B { y = 1, z }
thread T on A { get x = B.y; rfence B; put B.z = x }
outcome B.z == 0 : forbidden under rdma
"""


BOTH_THERE = """node A { x }
thread T on A { reg r; r = 1; cs: r = 2 }
thread U on A { reg r; r = 1; cs: r = 2 }
invariant !(T at cs && U at cs)
"""
LED_UP_TO = """node A { g }
node B { w = 1, y }
thread T on A { get g = B.w; put B.y = g }
thread U on B { reg r; r = y }
outcome U.r == 1 : forbidden under rma
"""
GOTTEN = """node A { x }
node B { y = 1 }
thread T on A { get x = B.y }
thread U on A { reg r; r = x }
outcome U.r == 1 : forbidden under rma
"""
KEPT = """node A { g }
node B { y }
thread T on A { reg r; g = 1; flush B; r = g }
outcome T.r == 0 : forbidden under rma
"""


def _all_quiet(program: Any, *_: Any, **__: Any) -> Any:
    return [frozenset(thread.points) for thread in program.threads]


_STILL_OWED = _Due._still_owed


def _reads_stay_owed(self: Any, owed: Any, move: Any) -> Any:
    return _STILL_OWED(self, owed, move._replace(leads=None))


def _sees_at_once(self: Any, burst: Any, claim: Any, _touch: Any) -> Any:
    return iter(self.base.bad(burst.state, claim))


def _reads_memory(_self: Any, state: Any, _t: int, _stores: Any, word: Any) -> Any:
    return seen(word, state)


def _one_buffer(self: Any, program: Any, claims: Any, narrow: int, bound: int, _per_word: bool) -> None:
    _STORE_BUFFERS(self, program, claims, narrow, bound, False)


_STORE_BUFFERS = StoreBufferSystem.__init__


_MOVES = StoreBufferSystem.system_moves_of


def _newest_first(self: Any, state: Any) -> Any:
    return [m._replace(key=len(state[self.under_way + m.thread]) - 1) for m in _MOVES(self, state)]


_OPERATE = StoreBufferSystem.operate


def _no_waiting(self: Any, state: Any, command: Any) -> Any:
    """Let fences and atomics find an empty buffer."""
    place = self.under_way + command.thread
    if not isinstance(command.step.op, MFence | Rmw | Cas):
        return _OPERATE(self, state, command)
    moves = _OPERATE(self, (*state[:place], (), *state[place + 1 :]), command)
    return [m._replace(to=(*m.to[:place], state[place], *m.to[place + 1 :])) for m in moves]


_FIRST = InOrderSystem._first


def _both_halves(self: Any, state: Any, command: Any) -> Any:
    for first in _FIRST(self, state, command):
        for second in self._second(first.to, command):
            yield second._replace(causes=first.causes + second.causes, updates=first.updates + second.updates)


def _waits_for_reads(self: Any, state: Any, command: Any) -> bool:
    """As [R] 2.1 reads literally: the local write of a get that has been read is not waited for."""
    postings, pending = self.postings[command.thread], state[self.under_way + command.thread]
    return any(not read and postings[n].command.peer == command.peer for (n, read, _), _ in pending)


def _leaves_none(self: Any, pending: Any, element: Any) -> Any:
    count = dict(pending)[element]
    rest = tuple(counted for counted in pending if counted[0] != element)
    return [rest] if count > self.bound or count == 1 else [tuple(sorted([*rest, (element, count - 1)]))]


def _waits_for_all(self: Any, state: Any, command: Any) -> bool:
    return bool(state[self.under_way + command.thread])


_MAY_READ = PipeSystem._may_read


def _get_passes_puts(self: Any, pair: Any, kind: Any, earlier: Any) -> bool:
    return bool(_MAY_READ(self, pair._replace(right=()), kind, earlier))


def _put_passes_gets(self: Any, pair: Any, kind: Any, earlier: Any) -> bool:
    return bool(_MAY_READ(self, pair._replace(left=()), kind, earlier))


def _puts_read_in_any_order(self: Any, pair: Any, kind: Any, earlier: Any) -> bool:
    return kind is Put or bool(_MAY_READ(self, pair, kind, earlier))


_TAKES = PipeSystem._takes


def _takes_too_early(self: Any, state: Any, command: Any) -> Any:
    place, qp = self.under_way + command.thread, self._qp(command)
    pairs = state[place]
    pair = pairs[qp]._replace(unpolled=tuple((get, True) for get, _ in pairs[qp].unpolled))
    return _TAKES(self, (*state[:place], (*pairs[:qp], pair, *pairs[qp + 1 :]), *state[place + 1 :]), command)


_ADDITIONS = StatementSetSystem._with_additions


def _stores_add_nothing(self: Any, transition: Any, word: Any) -> Any:
    return transition if transition.causes[0].verb is Verb.ACCESS else _ADDITIONS(self, transition, word)


def _cards_add_nothing(self: Any, transition: Any, word: Any) -> Any:
    return _ADDITIONS(self, transition, word) if transition.causes[0].verb is Verb.ACCESS else transition


_MADE = StatementSetSystem.made


def _writes_once(self: Any, state: Any, move: Any) -> Any:
    for each in _MADE(self, state, move):
        if move.key not in dict(each.to[self.under_way + move.thread]):
            yield each


Mutant = tuple[AnyModelName, str, Safety, Any, str, Any]
"""A model, a program, the answer, and what is put in place of which attribute."""

MUTANTS: dict[str, Mutant] = {
    "a load does not look into the buffer": ("tso", OWN_STORE, SAFE, StoreBufferSystem, "_load", _reads_memory),
    "a wide load does not look into the buffer": ("pso", WIDE_OWN_STORE, SAFE, StoreBufferSystem, "_load", _reads_memory),
    "one buffer for all words": ("pso", MESSAGE_PASSING, UNSAFE, StoreBufferSystem, "__init__", _one_buffer),
    "a slot too few is not told": ("tso", TWO_BUFFERED, UNSAFE, ReducedSystem, "overflowed", lambda _s, _c: False),
    "the newest store lands first": ("tso", LAST_STORE, SAFE, StoreBufferSystem, "system_moves_of", _newest_first),
    "wide stores do not move forward": ("tso", WIDE_STORES, SAFE, StoreBufferSystem, "_shifted", lambda *_: ()),
    "mfence does not wait": ("pso", STORE_BUFFERING, SAFE, StoreBufferSystem, "operate", _no_waiting),
    "atomics do not wait": ("tso", SWAPPED, SAFE, StoreBufferSystem, "operate", _no_waiting),
    "an end may have stores in flight": ("tso", LAST_STORE, SAFE, LazySystem, "_seen", _sees_at_once),
    "a put under sc is one step": ("sc", TWO_STEPS, UNSAFE, InOrderSystem, "_first", _both_halves),
    "a flush does not wait": ("rma", BOTH_FLUSHED, SAFE, PendingSetSystem, "waits", lambda *_: False),
    "a flush waits for reads only": ("rma", BOTH_FLUSHED, SAFE, PendingSetSystem, "waits", _waits_for_reads),
    "a flush waits for other nodes": ("rma", OTHER_NODE, UNSAFE, PendingSetSystem, "waits", _waits_for_all),
    "one of many leaves none": ("rma", TWO_PUTS, UNSAFE, PendingSetSystem, "_without", _leaves_none),
    "a slot has one value": ("rma", COUNTED, UNSAFE, reduced_rma, "Join", Assignment),
    "a remote atomic only reads": ("rma", ONE_TICKET, SAFE, PendingSetSystem, "_effect", lambda *_: [([], ())]),
    "a step that others see goes alone": ("sc", RACE, UNSAFE, InOrderSystem, "concerns_nobody", lambda *_: True),
    "moves of buffers are never due": (
        "pso",
        MESSAGE_PASSING,
        UNSAFE,
        LazySystem,
        "_bursts",
        lambda _self, at, *_: [Burst(at)],
    ),
    "moves of NICs are never due": ("rma", UNFLUSHED, UNSAFE, LazySystem, "_bursts", lambda _self, at, *_: [Burst(at)]),
    "a flush does not wait for the pipe": (
        "rdma",
        PUT_FLUSHED,
        SAFE,
        QueuePairState,
        "drained",
        property(lambda p: not p.right),
    ),
    "a flush does not wait for wbR": ("rdma", PUT_SEEN, SAFE, QueuePairState, "drained", property(lambda p: not p.pipe)),
    "a flush does not wait for wbL": (
        "rdma",
        PUT_GET,
        SAFE,
        QueuePairState,
        "drained",
        property(lambda p: not (p.pipe or p.right)),
    ),
    "a get does not wait for wbR": ("rdma", PUT_GET, SAFE, PipeSystem, "_may_read", _get_passes_puts),
    "a put does not wait for wbL": ("rdma", FENCED_PUT, SAFE, PipeSystem, "_may_read", _put_passes_gets),
    "puts read in any order": ("rdma", PUTS_READ_IN_ORDER, SAFE, PipeSystem, "_may_read", _puts_read_in_any_order),
    "a poll takes what is not complete": ("rdma", POLLED_GET, SAFE, PipeSystem, "_takes", _takes_too_early),
    "wide puts do not move forward": ("rdma", WIDE_PUTS, SAFE, PipeSystem, "_shifted", lambda *_: ()),
}


SET_MUTANTS: dict[str, Mutant] = {
    "a store adds nothing to sets": ("rma", UNFLUSHED, UNSAFE, StatementSetSystem, "_with_additions", _stores_add_nothing),
    "a NIC's write adds nothing to sets": ("rma", CHAIN, UNSAFE, StatementSetSystem, "_with_additions", _cards_add_nothing),
    "a NIC writes once": ("rma", TWO_PUTS, UNSAFE, StatementSetSystem, "made", _writes_once),
    "a flush does not wait": ("rma", BOTH_FLUSHED, SAFE, StatementSetSystem, "awaited", lambda *_: None),
}
"""Those of the encoding with a set per remote statement."""


MUTANTS |= {
    "no claim looks at labels": ("sc", BOTH_THERE, UNSAFE, lazy_system, "quiet_points", _all_quiet),
    "only what a step touches leads up to it": ("rma", LED_UP_TO, UNSAFE, _Due, "_reach", lambda self: self.touch),
    "a write does not call for its read": ("rma", GOTTEN, UNSAFE, _Due, "_still_owed", _reads_stay_owed),
    "a flush kills what no get overwrites": ("rma", KEPT, SAFE, PendingSetSystem, "is_dead", lambda *_: True),
}


def verdict(text: str, model: AnyModelName, reduction: ReductionOptions = FIRST) -> Safety:
    return decide_safety(load_program(text, "mutant.rdma"), model, Limits(states=20_000), reduction=reduction).safety


@pytest.mark.parametrize("name", MUTANTS)
def test_a_rule_left_out_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, text, expected, owner, attribute, mutated = MUTANTS[name]
    assert verdict(text, model) is expected
    monkeypatch.setattr(owner, attribute, mutated)
    assert verdict(text, model) is not expected


@pytest.mark.parametrize("name", SET_MUTANTS)
def test_a_rule_of_sets_left_out_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, text, expected, owner, attribute, mutated = SET_MUTANTS[name]
    assert verdict(text, model, ReductionOptions("sets")) is expected
    monkeypatch.setattr(owner, attribute, mutated)
    assert verdict(text, model, ReductionOptions("sets")) is not expected
