"""Theorem 7.1(1) as a compiler: from a VASS to an RDMA program that is not robust iff the VASS covers a target.

One thread on one node simulates the VASS. Its control state is a variable of that node. Every counter is a node with one
word, and its value is the number of puts towards that node which no poll has taken yet: giving a token is a put, taking one
is a poll, which waits forever if there is no completion left to take. A loop chooses among the rules: look at the control
state, take, give, set the control state. Behind the loop stand for each target a test of the control state and the polls
for the tokens it asks for, and then a gadget that is not robust: `put Gadget.z = g`, then `g = 1`, of which the card may
read the new `g`.

The simulation is exact. There is one thread, so rules are not interleaved; that a rule is several instructions does not
matter, because a thread that waits in the middle of one never reaches the gadget, and one that does reach it has finished
every rule it began. The k-th poll of a queue pair can go on iff there are k puts before it in program order (under RDMA
every put completes some day, so a poll is late at worst). So a path of the thread is possible iff at every poll there were
more puts than polls, which is what the VASS asks for. A rule takes what its guard asks for and gives back what it does not
consume, first all takes, then all gives. Coverability is monotone in the counters, so the largest number of an initial
interval stands for all of it.

Without the gadget the program is robust. Constants that are put lie in words that are never written, and nobody reads the
counters' words. So every conflict is between accesses of the control state, which are CPU events, or between puts to one
word, which share a queue pair. Both are kept in order (ippo and oppo), so rf, rb and mo agree with po, and the union sc of
the four has no cycle. A violating trace therefore has an event on `g`, hence a path that reaches the gadget. Conversely,
behind such a path the card may read `g` after the write: nlR before CPU is kept by no order, and rf from the later write
closes a cycle with po.

Source: Abdulla, Atig, Govind, Spengler 2026, Section 7.1, Figure 5, Theorem 7.1(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.counters.explicit import ExplicitVass
from rdma_robust.errors import SizeLimitError
from rdma_robust.hardness.symbols import INDENT, nested_lines
from rdma_robust.language.flow.cfg import MAX_CELLS, MAX_STEPS
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.language.syntax.layout import MAX_TOKENS
from rdma_robust.petri.net import Net, Vector


@dataclass(frozen=True, slots=True)
class CounterRule:
    """Takes `take` from the counters, which must be there, then gives `give`; moves the control from `source` to `target`.

    `about` says where the rule comes from. Without control states `source` and `target` are 0.
    """

    about: str
    take: Vector
    give: Vector
    source: int = 0
    target: int = 0


@dataclass(frozen=True, slots=True)
class CoverGoal:
    """Control state `state` with at least `least` in the counters."""

    least: Vector
    state: int = 0


@dataclass(frozen=True, slots=True)
class System:
    """A VASS and a set of targets. `states` is empty if there is one control state, which nobody needs to look at.

    Counter i starts with exactly `start[i]` tokens, or with any number from there up if `unbounded[i]`.
    """

    name: str
    states: tuple[str, ...]
    counters: tuple[str, ...]
    rules: tuple[CounterRule, ...]
    initial: int
    start: tuple[int, ...]
    unbounded: tuple[bool, ...]
    goals: tuple[CoverGoal, ...]


def system_of_net(net: Net) -> System:
    """Return a net as a VASS with one control state; it covers a target iff the net does.

    An interval of initial tokens becomes its upper end: more tokens enable every run that fewer enable, so the largest
    marking covers what any of them covers. Without an upper end the counter is unbounded.
    """
    return System(
        name=net.name,
        states=(),
        counters=net.places,
        rules=tuple(
            CounterRule(f"{t.name} (line {t.line})" if t.line else t.name, t.guard, _added(t.guard, t.delta))
            for t in net.transitions
        ),
        initial=0,
        start=tuple(low if high is None else high for low, high in zip(net.least, net.most, strict=True)),
        unbounded=tuple(high is None for high in net.most),
        goals=tuple(CoverGoal(target) for target in net.targets),
    )


def system_of_vass(vass: ExplicitVass) -> System:
    """Return an explicit VASS, without the names of control states if it has only one."""
    return System(
        name=vass.name,
        states=vass.states if len(vass.states) > 1 else (),
        counters=vass.counters,
        rules=tuple(
            CounterRule(
                e.name,
                _sparse(e.effect.guard),
                _sparse(g + d for g, d in zip(e.effect.guard, e.effect.delta, strict=True)),
                e.source,
                e.target,
            )
            for e in vass.edges
        ),
        initial=vass.initial,
        start=vass.start,
        unbounded=(False,) * len(vass.counters),
        goals=tuple(CoverGoal(_sparse(cone.least), cone.state) for cone in vass.targets),
    )


def _added(left: Vector, right: Vector) -> Vector:
    sums = dict(left)
    for place, amount in right:
        sums[place] = sums.get(place, 0) + amount
    return tuple(sorted((place, amount) for place, amount in sums.items() if amount))


def _sparse(marking: Iterable[int]) -> Vector:
    return tuple((counter, amount) for counter, amount in enumerate(marking) if amount)


UNROLLED: Final = 4
"""Polls or puts in a row that are written out; more of them become a loop that counts."""
MAX_AMOUNT: Final = 1_000
"""Tokens taken or given at once. The checker tells apart the numbers a loop counts to, and a run has an event for each."""
_TAKEN: Final = ("Leader", "Gadget", "Simulator")


@dataclass(frozen=True, slots=True)
class Encoding:
    """The generated program: its text, and the node of each counter, None where nothing happens to it."""

    text: str
    nodes: tuple[str | None, ...]


def vass_program(system: System, *, robust: bool | None = None) -> Encoding:
    """Return the program for `system`; with `robust` it ends with that `expect` line.

    It has the size of `system` up to a factor: a take or give of up to UNROLLED tokens is written out, a larger one is a
    loop that counts in a register, with a `domain`. Raises SizeLimitError for a system that needs more than the language
    allows, or a single amount above MAX_AMOUNT.
    """
    possible = _possible(system)
    used = {c for vector in _vectors(possible) for c, _ in vector} | set(_marked_at_start(system))
    _refuse_large(possible, len(used))
    names = node_names(system.counters)
    nodes = tuple(name if c in used else None for c, name in enumerate(names))
    writer = _Writer(possible, names)
    body = [*writer.declarations(nodes), "", *writer.thread()]
    body += [] if robust is None else ["", f"expect {'robust' if robust else 'not robust'}"]
    text = "\n".join([*_heading(system, possible, nodes), *body]) + "\n"
    return Encoding(text, nodes)


def node_names(counters: Sequence[str]) -> tuple[str, ...]:
    """Return names of the language for nodes, all different, as like those of the counters as can be."""
    used = {*_TAKEN, *load_grammar().keywords.values()}
    wanted = set(counters)
    names = []
    for counter in counters:
        base = re.sub(r"[^A-Za-z0-9]+", "_", counter).strip("_") if not _NAME.fullmatch(counter) else counter
        base = f"c_{base}" if not base or base[0].isdigit() else base
        name, number = base, 1
        while name in used or (name != counter and name in wanted):
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        names.append(name)
    return tuple(names)


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _marked_at_start(system: System) -> Iterator[int]:
    return (c for c, (n, more) in enumerate(zip(system.start, system.unbounded, strict=True)) if n or more)


def _possible(system: System) -> System:
    """Return `system` without rules and targets that need a counter to which nothing is ever given.

    They would be polls that wait forever, of which the language warns.
    """
    marked = set(_marked_at_start(system))
    missing = [sum(counter not in marked for counter, _ in rule.take) for rule in system.rules]
    waiting: dict[int, list[int]] = {}
    for number, rule in enumerate(system.rules):
        for counter, _ in rule.take:
            if counter not in marked:
                waiting.setdefault(counter, []).append(number)
    todo = [number for number, lacks in enumerate(missing) if not lacks]
    while todo:
        for counter, _ in system.rules[todo.pop()].give:
            if counter not in marked:
                marked.add(counter)
                for number in waiting.get(counter, ()):
                    missing[number] -= 1
                    if not missing[number]:
                        todo.append(number)
    return replace(
        system,
        rules=tuple(rule for rule, lacks in zip(system.rules, missing, strict=True) if not lacks),
        goals=tuple(goal for goal in system.goals if all(counter in marked for counter, _ in goal.least)),
    )


def _vectors(system: System) -> Iterator[Vector]:
    for rule in system.rules:
        yield rule.take
        yield rule.give
    for goal in system.goals:
        yield goal.least


def _refuse_large(system: System, counters: int) -> None:
    """Raise SizeLimitError for what the language has no room for; so many `counters` become nodes."""
    largest = max((n for vector in _vectors(system) for _, n in vector), default=0)
    largest = max(largest, *system.start, 0)
    if largest > MAX_AMOUNT:
        raise SizeLimitError(
            f"{largest:,} tokens at once are too many: the program counts them one by one, up to {MAX_AMOUNT:,}"
        )
    if counters + 3 > MAX_CELLS:
        raise SizeLimitError(f"{counters:,} counters are too many: each becomes a node, up to {MAX_CELLS - 3:,}")
    amounts = [n for vector in _vectors(system) for _, n in vector] + [n for n in system.start if n]
    steps = sum(n if n <= UNROLLED else 4 for n in amounts) + 3 * len(system.rules) + 2 * len(system.goals) + 8
    tokens = 10 * len(system.rules) + 8 * counters + 8 * len(system.goals)
    tokens += sum(8 * n if n <= UNROLLED else 24 for n in amounts) + 100
    if steps > MAX_STEPS or tokens > MAX_TOKENS:
        raise SizeLimitError(
            f"{len(system.rules):,} rules with their targets are too many: the program would have about "
            f"{tokens:,} tokens, and the language allows {MAX_TOKENS:,}"
        )


def _heading(system: System, possible: System, nodes: Sequence[str | None]) -> Iterator[str]:
    """Yield the comments that say what the program is and what its names stand for."""
    yield f"// {_comment(system.name)} as an RDMA program: not robust iff a target can be covered (Theorem 7.1)."
    yield "// The number of puts towards a node that were not polled yet is the value of its counter."
    for counter, node in zip(system.counters, nodes, strict=True):
        if node is None:
            yield f"// Nothing happens to the counter {_comment(counter)}."
        elif node != counter:
            yield f"// Node {node} is the counter {_comment(counter)}."
    for what, all_of, kept in (("rule", system.rules, possible.rules), ("target", system.goals, possible.goals)):
        if left_out := len(all_of) - len(kept):
            yield f"// {left_out} {what}{'s' if left_out > 1 else ''} left out: they need tokens that nothing gives."
    for number, state in enumerate(system.states):
        yield f"// state {number} is {_comment(state)}."
    yield ""


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).strip()


class _Writer:
    """Writes the program in canonical layout."""

    def __init__(self, system: System, nodes: Sequence[str]) -> None:
        self.system = system
        self.nodes = nodes
        self.counts = max((n for n in self._amounts() if n > UNROLLED), default=0)
        self.rules = [lines for rule in system.rules if (lines := self._rule(rule))]

    def _amounts(self) -> Iterator[int]:
        yield from self.system.start
        for vector in _vectors(self.system):
            yield from (n for _, n in vector)

    def declarations(self, nodes: Sequence[str | None]) -> Iterator[str]:
        system = self.system
        if self.counts:
            yield f"domain 0..{max(self.counts, len(system.states) - 1)}"
            yield ""
        tested = system.states and (self.rules or system.goals)
        variables = [f"state = {system.initial}"] if tested else []
        variables += ["g"] if system.goals else []
        yield f"node Leader {{ {', '.join(variables)} }}" if variables else "node Leader { }"
        yield from (f"node {node} {{ tokens }}" for node in nodes if node is not None)
        if system.goals:
            yield "node Gadget { z }"

    def thread(self) -> Iterator[str]:
        body = list(self._body())
        head = "thread Simulator on Leader"
        if len(body) > 1 or (body and "{" in body[0]):
            yield from nested_lines(head, body)
        else:
            yield " ".join([head, "{", *body, "}"])

    def _body(self) -> Iterator[str]:
        system = self.system
        if self.counts:
            yield "reg k"
        yield from self._start()
        if self.rules:
            yield from nested_lines("loop", list(_choice(self.rules)))
        if system.goals:
            yield from _choice([self._goal(number, goal) for number, goal in enumerate(system.goals, 1)])
            yield "put Gadget.z = g"
            yield "g = 1"

    def _start(self) -> Iterator[str]:
        for counter, (amount, unbounded) in enumerate(zip(self.system.start, self.system.unbounded, strict=True)):
            yield from self._times(amount, f"put {self.nodes[counter]}.tokens = 1")
            if unbounded:
                yield f"loop {{ put {self.nodes[counter]}.tokens = 1 }}"

    def _rule(self, rule: CounterRule) -> list[str]:
        """Return a branch for `rule`, nothing if it would change nothing."""
        changes = [*self._all(rule.take, "poll {}"), *self._all(rule.give, "put {}.tokens = 1")]
        if self.system.states and rule.target != rule.source:
            changes.append(f"state = {rule.target}")
        if rule.take == rule.give and rule.source == rule.target:
            return []
        return [f"// {_comment(rule.about)}", *self._test(rule.source), *changes]

    def _goal(self, number: int, goal: CoverGoal) -> list[str]:
        lines = [*self._test(goal.state), *self._all(goal.least, "poll {}")]
        return [f"// target {number}", *(lines or ["skip"])]

    def _test(self, state: int) -> list[str]:
        return [f"assume state == {state}"] if self.system.states else []

    def _all(self, amounts: Vector, statement: str) -> Iterator[str]:
        for counter, amount in amounts:
            yield from self._times(amount, statement.format(self.nodes[counter]))

    @staticmethod
    def _times(amount: int, statement: str) -> list[str]:
        if amount <= UNROLLED:
            return [statement] * amount
        return ["k = 0", *nested_lines(f"while k < {amount}", [statement, "k = k + 1"])]


def _choice(branches: Sequence[Sequence[str]]) -> Iterator[str]:
    if len(branches) == 1:
        yield from branches[0]
        return
    for number, branch in enumerate(branches):
        yield "} or {" if number else "choose {"
        yield from (f"{INDENT}{line}" for line in branch)
    yield "}"
