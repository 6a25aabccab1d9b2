"""Trencher programs by themselves: a reader of ten lines, store buffers as they are, and every execution of a small program.

Shares nothing with what it is compared with: not the reader, not the locked sections, not the axioms. What a thread does
with the memory locked is one vertex of the happens-before relation.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
}


def value(words: list[str], registers: dict[str, int]) -> int:
    """Take an expression off the front of `words` and return its value."""
    word = words.pop(0)
    if word == "!":
        return int(not value(words, registers))
    if word in OPERATORS:
        left = value(words, registers)
        return int(OPERATORS[word](left, value(words, registers)))
    return int(word) if word.lstrip("-").isdigit() else registers.get(word, 0)


def threads_of(text: str) -> list[tuple[str, list[tuple[str, str, list[str]]]]]:
    """Return each thread's initial state and its transitions: from, to, the words of the instruction."""
    found: list[tuple[str, list[tuple[str, str, list[str]]]]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["initial"]:
            found.append((words[1], []))
        elif words[:1] == ["transition"]:
            found[-1][1].append((words[1], words[2], words[3:]))
    return found


Event = tuple[int, int]
"""The number of a thread, and of the event in it."""


@dataclass(frozen=True)
class Now:
    """A state of an execution and what happened: `made` counts the events of each thread, `edges` are rf, and for each
    address `order` has its stores as they came to memory, `reads` the position in it that each read saw. `first` is the
    first event of who has the memory locked, `inside` the events that happened so, with theirs."""

    states: tuple[str, ...]
    registers: tuple[tuple[tuple[str, int], ...], ...]
    buffers: tuple[tuple[tuple[int, int, Event], ...], ...]
    memory: tuple[tuple[int, int], ...] = ()
    owner: int = -1
    made: tuple[int, ...] = ()
    order: tuple[tuple[int, Event], ...] = ()
    reads: tuple[tuple[Event, int, Event | None], ...] = ()
    first: int = -1
    inside: frozenset[tuple[Event, Event]] = frozenset()


def executions(text: str, *, tso: bool) -> Iterator[Now]:
    """Yield every state of every execution of a loop-free program; without `tso` stores are seen at once."""
    threads = threads_of(text)
    count = len(threads)
    first = Now(tuple(t[0] for t in threads), ((),) * count, ((),) * count, made=(0,) * count)
    seen, todo = {first}, [first]
    while todo:
        now = todo.pop()
        yield now
        for after in _after(now, threads, tso):
            if after not in seen:
                seen.add(after)
                todo.append(after)


def robust(text: str) -> bool:
    """Return whether the happens-before relation of every execution with empty buffers at its end is acyclic."""
    return not any(_cyclic(now) for now in executions(text, tso=True) if not any(now.buffers))


def final_states(text: str, *, tso: bool) -> set[tuple[tuple[tuple[str, int], ...], ...]]:
    """Return the registers of all threads (those that are not 0) where every thread is at an end, the memory behind them."""
    ends = [{t[1] for t in each} - {t[0] for t in each} for _, each in threads_of(text)]
    return {
        (*now.registers, now.memory)
        for now in executions(text, tso=tso)
        if not any(now.buffers) and all(s in e for s, e in zip(now.states, ends, strict=True))
    }


def _put(items: tuple, at: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:at], item, *items[at + 1 :])


def _after(now: Now, threads: list[tuple[str, list[tuple[str, str, list[str]]]]], tso: bool) -> Iterator[Now]:
    for t, (_, transitions) in enumerate(threads):
        if now.buffers[t] and now.owner in (-1, t):
            yield _flushed(now, t)
        for source, target, (kind, *operands) in transitions:
            if source == now.states[t]:
                for after in _moved(now, t, kind, operands):
                    there = replace(after, states=_put(now.states, t, target))
                    yield there if tso or not there.buffers[t] else _flushed(there, t)


def _flushed(now: Now, t: int) -> Now:
    (address, stored, event), *rest = now.buffers[t]
    memory = tuple(sorted({**dict(now.memory), address: stored}.items()))
    return replace(now, buffers=_put(now.buffers, t, tuple(rest)), memory=memory, order=(*now.order, (address, event)))


def _moved(now: Now, t: int, kind: str, operands: list[str]) -> Iterator[Now]:
    registers = dict(now.registers[t])
    words = list(operands)
    if kind in ("read", "write") and now.owner == t:
        now = replace(now, inside=now.inside | {((t, now.made[t]), (t, now.first))})
    name = words.pop(0) if kind in ("read", "local") else ""
    if kind in ("read", "write") and now.owner not in (-1, t):
        return  # its buffer could be read, or filled, and nothing more would come of it
    if kind == "local":
        registers[name] = value(words, registers)
        yield replace(now, registers=_put(now.registers, t, tuple(sorted(registers.items()))))
    elif kind == "check":
        if value(words, registers):
            yield now
    elif kind == "noop":
        yield now
    elif kind in ("mfence", "lock", "unlock"):
        free = {"mfence": True, "lock": now.owner == -1, "unlock": now.owner == t}[kind]
        if not now.buffers[t] and free:
            first = {"mfence": now.first, "lock": now.made[t], "unlock": -1}[kind]
            yield replace(now, owner={"mfence": now.owner, "lock": t, "unlock": -1}[kind], first=first)
    elif kind == "write":
        stored = value(words, registers)
        address = value(words, registers)
        event = t, now.made[t]
        made = _put(now.made, t, now.made[t] + 1)
        yield replace(now, made=made, buffers=_put(now.buffers, t, (*now.buffers[t], (address, stored, event))))
    else:
        address = value(words, registers)
        own = [(v, e) for a, v, e in now.buffers[t] if a == address]
        there = [e for a, e in now.order if a == address]
        found, writer = own[-1] if own else (dict(now.memory).get(address, 0), there[-1] if there else None)
        registers[name] = found
        yield replace(
            now,
            registers=_put(now.registers, t, tuple(sorted(registers.items()))),
            made=_put(now.made, t, now.made[t] + 1),
            reads=(*now.reads, ((t, now.made[t]), address, writer)),
        )


def _cyclic(now: Now) -> bool:
    edges: dict[Event, set[Event]] = {}
    vertex = dict(now.inside)
    for t, made in enumerate(now.made):
        for k in range(made - 1):
            edges.setdefault((t, k), set()).add((t, k + 1))
    orders: dict[int, list[Event]] = {}
    for address, event in now.order:
        orders.setdefault(address, []).append(event)
    for events in orders.values():
        for a, b in pairwise(events):
            edges.setdefault(a, set()).add(b)
    for read, address, writer in now.reads:
        order = orders.get(address, [])
        if writer is not None:
            edges.setdefault(writer, set()).add(read)
        later = order if writer is None else order[order.index(writer) + 1 :]
        edges.setdefault(read, set()).update(later[:1])
    joined: dict[Event, set[Event]] = {}
    for event, later in edges.items():
        a = vertex.get(event, event)
        joined.setdefault(a, set()).update(b for b in (vertex.get(each, each) for each in later) if a != b)
    edges = joined
    state: dict[Event, int] = {}

    def back(event: Event) -> bool:
        state[event] = 1
        found = any(state.get(n) == 1 or (n not in state and back(n)) for n in edges.get(event, ()))
        state[event] = 2
        return found

    return any(event not in state and back(event) for event in list(edges))


def random_trencher(rng: Random, threads: tuple[int, int] = (2, 2), length: tuple[int, int] = (2, 3)) -> str:
    """Return a loop-free program of few accesses: stores, loads, fences, checks, and sections of one word each."""
    return "\n".join(_Writer(rng, t).thread(rng.randint(*length)) for t in range(rng.randint(*threads))) + "\n"


def random_sections(rng: Random, threads: tuple[int, int] = (2, 2), length: tuple[int, int] = (2, 3)) -> str:
    """The same, where sections touch two or three of three words, in any order."""
    return "\n".join(_SectionWriter(rng, t).thread(rng.randint(*length)) for t in range(rng.randint(*threads))) + "\n"


class _Writer:
    """One thread. Most begin with a store and end with a load of another word: else hardly any program is not robust."""

    def __init__(self, rng: Random, number: int) -> None:
        self.rng, self.number, self.at = rng, number, 0
        self.lines = [f"thread t{number}", "initial s0"]

    def add(self, *instructions: str) -> None:
        for instruction in instructions:
            self.lines.append(f"transition s{self.at} s{self.at + 1} {instruction}")
            self.at += 1

    def beside(self, source: str, target: str, instruction: str) -> None:
        self.lines.append(f"transition {source} {target} {instruction}")

    def thread(self, length: int) -> str:
        crossing = self.rng.random() < 0.8
        if crossing:
            self.add(f"write 1 {self.number % 2}")
        for _ in range(length - crossing):
            self.statement(self.rng.choice(["0", "1", "0", "1", "a", "& a 1"]))
        if crossing:
            self.add(f"read b {1 - self.number % 2}")
        return "\n".join([*self.lines, "end"])

    def statement(self, address: str) -> None:
        rng = self.rng
        match rng.choice("wwwrrrlsbf"):
            case "w":
                self.add(f"write {rng.choice(['1', '2', 'a', '+ a 1'])} {address}")
            case "r":
                self.add(f"read {rng.choice('ab')} {address}")
            case "l":
                self.add(f"local a {rng.choice(['- 1 a', '! b', '* 2 b', '& - 0 a 3'])}")
            case "b":
                self.add(f"check == {rng.choice('ab')} 0")
                self.beside(f"s{self.at - 1}", f"s{self.at}", f"check != {rng.choice('ab')} 0")
            case "f":
                self.add("mfence")
            case "s":
                self.section(str(rng.randint(0, 1)))

    def section(self, address: str) -> None:
        """One word with the memory locked."""
        start = self.at
        self.add("lock", f"read b {address}")
        found = f"s{self.at}"
        match self.rng.randint(0, 4):
            case 0:  # a compare-and-swap: else it unlocks without a write
                self.add("check == b 0", f"write 1 {address}", "unlock")
                self.beside(found, f"s{start}x", "check != b 0")
                self.beside(f"s{start}x", f"s{self.at}", "unlock")
            case 1:  # it waits with the memory locked
                self.add("check == b 1", "unlock")
            case 2:  # an exchange, or it locks again
                self.add(f"write + b 1 {address}", "unlock")
                self.beside(found, f"s{self.at}", "lock")
            case 3:
                self.add("mfence", f"write {self.rng.randint(1, 2)} {address}", f"read a {address}", "unlock")
            case 4:  # nothing is locked, and it is unlocked
                self.lines[-2] = self.lines[-2].replace(" lock", " noop")
                self.beside(found, f"s{self.at + 1}", "unlock")
                self.add("noop")


class _SectionWriter(_Writer):
    """One thread of a program with sections of several locations."""

    def statement(self, address: str) -> None:
        if self.rng.random() < 0.5:
            super().statement(self.rng.choice([address, "2"]))
        else:
            self.section(address)

    def section(self, _address: str) -> None:
        rng, start = self.rng, self.at
        words = rng.sample(["0", "1", "2"], rng.choice([2, 2, 3]))
        self.add("lock", *(self.access(word) for word in words))
        match rng.randint(0, 5):
            case 0:  # one word more, or none
                self.add(f"check == {rng.choice('ab')} 0", self.access(words[0]), "unlock")
                self.beside(f"s{self.at - 3}", f"s{start}x", f"check != {rng.choice('ab')} 0")
                self.beside(f"s{start}x", f"s{self.at}", "unlock")
            case 1:  # it may keep the memory locked
                self.add(f"check == {rng.choice('ab')} {rng.randint(0, 1)}", "unlock")
            case 2:  # the word of the address that was read
                self.add("read b & a 1", self.access("b") if rng.random() < 0.3 else "noop", "unlock")
            case _:
                self.add("unlock")

    def access(self, address: str) -> str:
        rng = self.rng
        if rng.random() < 0.5:
            return f"read {rng.choice('ab')} {address}"
        return f"write {rng.choice(['1', '2', 'a', '+ b 1'])} {address}"
