"""Words that an automaton can touch, and values that it can meet.

First by sets: a set of values for each register at each state and for each word, whoever writes it and when. Where these
sets do not end, or addresses need it, by states: all that the program reaches under sequential consistency. Where these do
not end either (a counter that only grows), the range is cut, and the program says so where it would leave it.

Sets are right for every execution, whatever the hardware. States are right for sequential consistency only, which is enough:
take the first step of an execution on TSO that leaves the range. What comes before is an execution of the program that stops
there instead; if that is robust, it has the trace of a sequentially consistent one, which could make that step as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from rdma_robust.digraph import live_names, sets_of
from rdma_robust.expr import Const, Expr, constants, evaluate, names
from rdma_robust.language.trencher.trencher_syntax import AutomataFile, AutomatonEdge, ThreadAutomatonText

MOST_VALUES: Final = 20
MOST_COMBINATIONS: Final = 400
"""Values in one set, and combinations of values that one expression is evaluated for, before sets are given up."""

MOST_ADDRESSES: Final = 200
MOST_STATES: Final = 30_000
SLACK: Final = 64
BEYOND: Final = 6
"""Words of one access, and states, that are looked at; how far beyond twice the greatest constant values are followed; and
how far beyond all constants the range reaches where it is cut."""

Place = tuple[int, int]
"""The number of a thread and of one of its transitions."""

LOCAL: Final = frozenset({"local", "check", "noop", "mfence"})
"""Instructions that touch no memory."""


class _NoEndError(Exception):
    """Values are too many."""


@dataclass
class Values:
    """The range of all values, 0 included, and the words that each read and write can touch.

    `by` says how they were found. By `sets` no execution leaves them, by `states` none under sequential consistency, and
    what is `cut` was not followed to its end.
    """

    low: int = 0
    high: int = 0
    addresses: dict[Place, set[int]] = field(default_factory=dict)
    by: str = "sets"

    def saw(self, value: int) -> None:
        self.low, self.high = min(self.low, value), max(self.high, value)


def values_of(automata: AutomataFile) -> Values:
    """Return what the program can meet."""
    try:
        return _Sets(automata).found()
    except _NoEndError:
        return _States(automata).found()


def greatest_constant(automata: AutomataFile) -> int:
    """Return the greatest absolute value of a constant in what the program calculates, addresses aside."""
    exprs = (t.value for thread in automata.threads for t in thread.transitions)
    return max((abs(c) for expr in exprs for c in constants(expr)), default=0)


Known = dict[str, frozenset[int]]
_ZERO: Final = frozenset({0})


class _Sets:
    """The fixed point of sets: registers at each state, and memory at any time."""

    def __init__(self, automata: AutomataFile) -> None:
        self._automata = automata
        self._memory: dict[int, frozenset[int]] = {}
        self._most = SLACK + 2 * greatest_constant(automata)

    def found(self) -> Values:
        values = Values()
        threads = [_Flow(thread) for thread in self._automata.threads]
        changed = True
        while changed:
            changed = False
            values.addresses.clear()
            for number, thread in enumerate(threads):
                changed |= self._thread(number, thread, values)
        for value in (v for each in self._memory.values() for v in each):
            values.saw(value)
        for value in (v for thread in threads for at in thread.at.values() for each in at.values() for v in each):
            values.saw(value)
        return values

    def _thread(self, number: int, thread: _Flow, values: Values) -> bool:
        """Follow a thread with the memory of now; return whether it wrote something new."""
        before = dict(self._memory)
        todo = list(thread.at)
        while todo:
            state = todo.pop()
            for index, transition in thread.out[state]:
                after = self._step((number, index), transition, thread.at[state], values)
                if after is not None and thread.join(transition.target, after):
                    todo.append(transition.target)
        return before != self._memory

    def _step(self, place: Place, t: AutomatonEdge, at: Known, values: Values) -> Known | None:
        match t.kind:
            case "check":
                return self._passed(t.value, at)
            case "local":
                return {**at, t.register: self._small(self._values(t.value, at))}
            case "read":
                where = self._values(t.address, at)
                values.addresses.setdefault(place, set()).update(where)
                read = frozenset().union(*(self._memory.get(address, _ZERO) for address in where))
                return {**at, t.register: self._small(read)}
            case "write":
                where, what = self._values(t.address, at), self._values(t.value, at)
                values.addresses.setdefault(place, set()).update(where)
                for address in where:
                    self._memory[address] = self._small(self._memory.get(address, _ZERO) | what)
                return at
            case _:
                return at

    def _small(self, values: frozenset[int]) -> frozenset[int]:
        if len(values) > MOST_VALUES or max(map(abs, values), default=0) > self._most:
            raise _NoEndError
        return values

    def _values(self, expr: Expr, at: Known) -> frozenset[int]:
        return self._small(frozenset(value for value, _ in self._evaluated(expr, at)))

    def _passed(self, expr: Expr, at: Known) -> Known | None:
        """Return what is known behind a check; None if it never passes."""
        kept: dict[str, set[int]] = {}
        passes = False
        for value, env in self._evaluated(expr, at):
            if value:
                passes = True
                for name, each in env.items():
                    kept.setdefault(name, set()).add(each)
        return {**at, **{name: frozenset(each) for name, each in kept.items()}} if passes else None

    @staticmethod
    def _evaluated(expr: Expr, at: Known) -> Iterator[tuple[int, Mapping[str, int]]]:
        used = list(dict.fromkeys(names(expr)))
        sets = [sorted(at.get(name, _ZERO)) for name in used]
        if prod(map(len, sets)) > MOST_COMBINATIONS:
            raise _NoEndError
        for combination in product(*sets):
            env = dict(zip(used, combination, strict=True))
            yield evaluate(expr, env), env


class _Flow:
    """The states of one thread with what is known there."""

    def __init__(self, thread: ThreadAutomatonText) -> None:
        self.out: dict[str, list[tuple[int, AutomatonEdge]]] = {state: [] for state in thread.leaving()}
        for index, transition in enumerate(thread.transitions):
            self.out[transition.source].append((index, transition))
        self.at: dict[str, Known] = {thread.initial: {}}

    def join(self, state: str, known: Known) -> bool:
        """Add what is known at a state; return whether that is new. A register that is not named is 0."""
        old = self.at.get(state)
        if old is None:
            self.at[state] = known
            return True
        joined = {name: old.get(name, _ZERO) | known.get(name, _ZERO) for name in (*old, *known)}
        self.at[state] = joined
        return any(joined[name] != old.get(name, _ZERO) for name in joined)


Config = tuple[str, tuple[tuple[str, int], ...]]
"""A state of a thread, and its registers that are not 0 and matter."""

Memory = tuple[tuple[int, int], ...]
"""The words that are not 0."""

Node = tuple[tuple[Config, ...], Memory, int]
"""All threads, the memory, and who has it locked: the number of a thread, or -1."""


class _States:
    """All states under sequential consistency; the steps of a thread that touch no memory belong to its access before."""

    def __init__(self, automata: AutomataFile) -> None:
        self._automata = automata
        self._most = SLACK + 2 * greatest_constant(automata)
        self._threads = [_Runner(thread, self._saw) for thread in automata.threads]
        self._values = Values(by="states")

    def found(self) -> Values:
        first: Node = (tuple((thread.initial, ()) for thread in self._automata.threads), (), -1)
        seen, todo = {first}, [first]
        try:
            while todo:
                for after in self._after(todo.pop()):
                    if after not in seen:
                        if len(seen) >= MOST_STATES:
                            raise _NoEndError
                        seen.add(after)
                        todo.append(after)
        except _NoEndError:
            return self._cut()
        return self._values

    def _cut(self) -> Values:
        """The range where the end was not found; not more of it than a search can do something with."""
        exprs = [t.value for thread in self._automata.threads for t in thread.transitions]
        known = [0, *(c for expr in exprs for c in constants(expr))]
        self._values.by = "cut"
        self._values.low = max(self._values.low, min(known) - BEYOND)
        self._values.high = min(self._values.high, max(known) + BEYOND)
        return self._values

    def _saw(self, value: int) -> None:
        self._values.saw(value)
        if abs(value) > self._most:
            raise _NoEndError

    def _after(self, node: Node) -> Iterator[Node]:
        configs, memory, owner = node
        for number, thread in enumerate(self._threads):
            if owner not in (-1, number):
                continue
            for (_, registers), index, t in thread.moves(configs[number]):
                moved = self._move((number, index), t, dict(registers), memory, owner)
                if moved is not None:
                    after, memory_after, owner_after = moved
                    config = thread.config(t.target, after)
                    yield (*configs[:number], config, *configs[number + 1 :]), memory_after, owner_after

    def _move(
        self, place: Place, t: AutomatonEdge, registers: dict[str, int], memory: Memory, owner: int
    ) -> tuple[dict[str, int], Memory, int] | None:
        if t.kind == "lock":
            return (registers, memory, place[0]) if owner == -1 else None
        if t.kind == "unlock":
            return (registers, memory, -1) if owner == place[0] else None
        address = value_with_zeros(t.address, registers)
        self._values.addresses.setdefault(place, set()).add(address)
        if len(self._values.addresses[place]) > MOST_ADDRESSES:
            raise _NoEndError
        words = dict(memory)
        if t.kind == "read":
            return {**registers, t.register: words.get(address, 0)}, memory, owner
        words[address] = value_with_zeros(t.value, registers)
        self._saw(words[address])
        return registers, tuple(sorted((a, v) for a, v in words.items() if v)), owner


class _Runner:
    """The steps of one thread that touch no memory."""

    def __init__(self, thread: ThreadAutomatonText, saw: Callable[[int], None]) -> None:
        self._flow = _Flow(thread).out
        self._live = live_at_states(thread)
        self._saw = saw
        self._known: dict[Config, list[tuple[Config, int, AutomatonEdge]]] = {}

    def config(self, state: str, registers: Mapping[str, int]) -> Config:
        live = self._live[state]
        return state, tuple(sorted((name, value) for name, value in registers.items() if value and name in live))

    def moves(self, start: Config) -> list[tuple[Config, int, AutomatonEdge]]:
        """Return the accesses that a thread can come to by steps of its own."""
        if start not in self._known:
            found = []
            seen, todo = {start}, [start]
            while todo:
                state, registers = config = todo.pop()
                for index, t in self._flow[state]:
                    after = self._local(t, dict(registers)) if t.kind in LOCAL else None
                    if t.kind not in LOCAL:
                        found.append((config, index, t))
                    elif after is not None and (then := self.config(t.target, after)) not in seen:
                        if len(seen) >= MOST_STATES:
                            raise _NoEndError
                        seen.add(then)
                        todo.append(then)
            self._known[start] = found
        return self._known[start]

    def _local(self, t: AutomatonEdge, registers: dict[str, int]) -> dict[str, int] | None:
        if t.kind == "check":
            return registers if value_with_zeros(t.value, registers) else None
        if t.kind == "local":
            registers[t.register] = value_with_zeros(t.value, registers)
            self._saw(registers[t.register])
        return registers


def value_with_zeros(expr: Expr, registers: Mapping[str, int]) -> int:
    """Return the value of an expression where registers that are not named are 0."""
    if isinstance(expr, Const):
        return expr.value
    return evaluate(expr, {name: registers.get(name, 0) for name in names(expr)})


def live_at_states(thread: ThreadAutomatonText) -> dict[str, frozenset[str]]:
    """Return for each state the registers whose values can matter behind it."""
    leaving = thread.leaving()
    flows = [
        (state, t.target, {*names(t.value), *names(t.address)}, sets_of([t.register] * (t.kind in ("read", "local"))))
        for state, transitions in leaving.items()
        for t in transitions
    ]
    return live_names(flows, dict.fromkeys(leaving, frozenset()))
