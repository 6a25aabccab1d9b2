"""The table of docs/theory-messages.md in difference logic: Booleans for pairs, a clock for each event, match times.

Rows are receives in posting order, columns sends, process by process, of one endpoint (encoding/endpoint_pairs.py). Terms of
unrolled programs are exact integers of z3, with `/` and `%` as in C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from rdma_robust.expr import COMPARISONS
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, connected_parts
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.possible_values import component
from rdma_robust.messages.encoding.symbolic_terms import LEAVES, Symbol
from rdma_robust.messages.encoding.unrolled import (
    Event,
    LookEvent,
    ReadyEvent,
    ReceiveEvent,
    SendEvent,
    UnrolledProgram,
    WaitEvent,
    acceptance,
)
from rdma_robust.messages.engines.look_formulas import LookFormulas
from rdma_robust.messages.engines.smt_solver import SmtSolver

_TRUTHS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "!", "&&", "||"})

Matches = Callable[[int], Sequence[tuple[SendEvent, Any]]]
"""The candidates of a receive, by its number, each with the Boolean of the match."""


class SmtTerms:
    """Numbers and truths, each made once. What is received is what is sent, by the match (MP), if `linked`."""

    def __init__(self, solver: SmtSolver, unrolled: UnrolledProgram, matches: Matches, *, linked: bool = True) -> None:
        self._solver, self._z3 = solver, solver.z3
        self._unrolled, self._matches, self._linked = unrolled, matches, linked
        self._made: dict[int, Any] = {}
        self._new_leaves: list[Symbol] = []

    def truth(self, symbol: Symbol) -> Any:
        """Return whether `symbol` is not 0."""
        made = self._of(symbol)
        return made if symbol.op in _TRUTHS else self._z3.BoolVal(symbol.value != 0) if symbol.constant else made != 0

    def number(self, symbol: Symbol) -> Any:
        """Return `symbol` as an integer; a truth is 0 or 1."""
        return self._number(symbol, self._of(symbol))

    def _number(self, symbol: Symbol, made: Any) -> Any:
        return self._z3.If(made, self._z3.IntVal(1), self._z3.IntVal(0)) if symbol.op in _TRUTHS else made

    def _of(self, root: Symbol) -> Any:
        if root.number not in self._made:
            self._make(root)
            while self._new_leaves:
                self._link(self._new_leaves.pop())
        return self._made[root.number]

    def _make(self, root: Symbol) -> None:
        """Make the terms of `root` and of all that it is made of, without going deep."""
        todo = [root]
        while todo:
            each = todo[-1]
            missing = [of for of in each.operands if of.number not in self._made]
            if missing:
                todo += missing
                continue
            todo.pop()
            if each.number not in self._made:
                self._made[each.number] = self._leaf(each) if each.op in LEAVES else self._operator(each)

    def _operator(self, symbol: Symbol) -> Any:
        z3, made = self._z3, [self._made[each.number] for each in symbol.operands]
        if symbol.op in ("!", "&&", "||"):
            truths = [self.truth(each) for each in symbol.operands]
            return z3.Not(truths[0]) if symbol.op == "!" else z3.And(truths) if symbol.op == "&&" else z3.Or(truths)
        if symbol.op == "?":
            test, a, b = symbol.operands
            return z3.If(self.truth(test), self._number(a, made[1]), self._number(b, made[2]))
        numbers = [self._number(each, term) for each, term in zip(symbol.operands, made, strict=True)]
        if len(numbers) == 1:
            return -numbers[0]
        return self._binary(symbol.op, *numbers)

    def _binary(self, op: str, a: Any, b: Any) -> Any:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return self._z3.If(b == 0, self._z3.IntVal(0), self._quotient(a, b))
            case "%":
                return self._z3.If(b == 0, self._z3.IntVal(0), a - b * self._quotient(a, b))
            case _:
                return COMPARISONS[op](a, b)

    def _quotient(self, a: Any, b: Any) -> Any:
        """Return C's `a / b`: z3 rounds so that no remainder is negative, C towards zero."""
        return self._z3.If(a >= 0, a / b, -((-a) / b))

    def _leaf(self, leaf: Symbol) -> Any:
        z3 = self._z3
        if leaf.constant:
            return z3.IntVal(leaf.value)
        made = z3.Int(" ".join([leaf.op, str(leaf.value), *map(str, leaf.path)]))
        if leaf.op == "choice":
            self._solver.add(made >= 0, made < self._unrolled.choices[leaf.value].options)
        elif leaf.op not in ("seen", "expected"):
            self._new_leaves.append(leaf)
        return made

    def _link(self, leaf: Symbol) -> None:
        """MP: what a receive gets is what the send has that it is matched with."""
        for send, match in self._matches(leaf.value) if self._linked else ():
            source = self._source(leaf, send)
            if source is not None:
                self._make(source)
                number = self._number(source, self._made[source.number])
                self._solver.add(self._z3.Implies(match, self._made[leaf.number] == number))

    def _source(self, leaf: Symbol, send: SendEvent) -> Symbol | None:
        if leaf.op == "sender":
            return self._unrolled.symbols.const(send.process)
        return send.tag if leaf.op == "tag" else component(send.value, leaf.path)


PARTS: Final = frozenset({
    "PO reached", "PO clocks", "MP issued", "MP accepts", "MP clocks", "MP together", "MP values", "U receives", "U sends",
    "W matched", "W clocks", "NS matched", "NS clocks", "NR matched", "NR clocks", "Z matched", "Z clocks",
    "lemma counts", "lemma sums", "look waits", "look issued", "look there", "look channel", "look posted",
    "ready issued", "ready there", "ready channel", "ready posted",
})  # fmt: skip
"""What the families consist of. The lemmas follow from U and MP."""


class ClockFormula:
    """All formulas of PO to A for one buffer semantics, and the terms to ask about; `parts` are those kept, for tests.

    An execution that a solution stands for goes, in each process, to the first wait that is not `passed`, which is before
    the events of which `reached` is false. Clocks of events that do not happen are anything.
    """

    def __init__(self, candidates: Candidates, solver: SmtSolver, parts: frozenset[str] = PARTS) -> None:
        self.candidates, self.solver, self.z3, self.parts = candidates, solver, solver.z3, parts
        self.unrolled, self.buffer = candidates.unrolled, candidates.buffer
        self.matches: dict[tuple[int, int], Any] = {}
        for receive, send in candidates.pairs():
            self.matches[receive, send] = solver.truth(f"x {receive} {send}")
        self.terms = SmtTerms(solver, self.unrolled, self._senders, linked="MP values" in parts)
        z3, sends, receives = self.z3, self.unrolled.sends, self.unrolled.receives
        self.send_time = [z3.Int(f"m S{each.number}") for each in sends]
        self.receive_time = [z3.Int(f"m R{each.number}") for each in receives]
        self.reached: list[list[Any]] = []
        self.passed: dict[tuple[int, int], Any] = {}
        self.ends_reached: list[Any] = []
        self.matched_receive, self.matched_send = self._unique()
        self._program_order()
        self._match_pairs()
        for pairs in candidates.endpoints:
            self._messages_in_order(pairs)
            self._receives_in_order(pairs)
            self._both_sides(pairs)
        self.looks = LookFormulas(self)

    def _senders(self, receive: int) -> list[tuple[SendEvent, Any]]:
        return [(send, self.matches[receive, send.number]) for send in self.candidates.senders(receive)]

    def done(self, event: Event) -> Any:
        """Return whether an event happens; of a wait, whether the process gets to it."""
        return self.z3.And(self.reached[event.process][event.position], self.terms.truth(event.guard))

    def accepted(self, pairs: EndpointPairs, row: int, column: int) -> Any | None:
        """Return where a receive accepts a send, None if nowhere."""
        if pairs.rule[row, column] == 1:
            return None
        if pairs.sure[row, column]:
            return self.z3.BoolVal(True)
        return self.terms.truth(acceptance(self.unrolled, pairs.receives[row], pairs.sends[column]))

    def _say(self, part: str, *premises: Any, then: Any) -> None:
        """Add an implication, if its part of the constraints is kept."""
        if part in self.parts:
            self.solver.add(self.z3.Implies(self.z3.And(premises), then) if premises else then)

    def _unique(self) -> tuple[list[Any], list[Any]]:
        """U, and what matched(R) and matched(S) are."""
        of_receive: list[list[Any]] = [[] for _ in self.unrolled.receives]
        of_send: list[list[Any]] = [[] for _ in self.unrolled.sends]
        for (receive, send), match in self.matches.items():
            of_receive[receive].append(match)
            of_send[send].append(match)
        return [self._some("U receives", each) for each in of_receive], [self._some("U sends", each) for each in of_send]

    def _some(self, part: str, matches: Sequence[Any]) -> Any:
        """Say that at most one of these is true; return whether one is. A counter: so far, and here."""
        z3 = self.z3
        if not matches:
            return z3.BoolVal(False)
        so_far = matches[0]
        for match in matches[1:]:
            self._say(part, match, then=z3.Not(so_far))
            so_far = self.solver.named("so far", z3.Or(so_far, match))
        return so_far

    def _program_order(self) -> None:
        """PO, W and Z: only waits hold a process up, those for sends only under zero and any."""
        for events in self.unrolled.events:
            here, reached, last = self.z3.BoolVal(True), [], None
            for event in events:
                reached.append(here)
                if self._holds_up(event):
                    passed = self.solver.truth(f"passed {event.process} {event.position}")
                    self.passed[event.process, event.position] = passed
                    self._say("PO reached", passed, then=here)
                    here = passed
                    if isinstance(event, WaitEvent):
                        self._wait(event, passed)
                elif not isinstance(event, SendEvent | ReceiveEvent | LookEvent | ReadyEvent):
                    continue
                clock = self.clock(event)
                if last is not None:
                    self._say("PO clocks", then=last < clock)
                last = clock
            self.reached.append(reached)
            self.ends_reached.append(here)

    def _holds_up(self, event: Event) -> bool:
        """Return whether the process may have to wait at an event."""
        if isinstance(event, LookEvent):
            return event.waits
        return isinstance(event, WaitEvent) and self.unrolled.opened(event, self.buffer) != "infinite"

    def clock(self, event: Event) -> Any:
        """Return the time of an event that has one, if it happens."""
        return self.z3.Int(f"c {event.process} {event.position}")

    def _wait(self, event: WaitEvent, passed: Any) -> None:
        receives = event.kind == "receive"
        if self.unrolled.opened(event, self.buffer) != "zero":
            return
        family = "W" if receives else "Z"
        matched = (self.matched_receive if receives else self.matched_send)[event.operation]
        time = (self.receive_time if receives else self.send_time)[event.operation]
        guard = self.terms.truth(event.guard)
        self._say(f"{family} matched", passed, guard, then=matched)
        self._say(f"{family} clocks", passed, guard, then=time < self.clock(event))

    def _match_pairs(self) -> None:
        """MP: both are issued before they are matched, at one time, and the receive accepts; values follow from terms."""
        for operations, matched, times in (
            (self.unrolled.receives, self.matched_receive, self.receive_time),
            (self.unrolled.sends, self.matched_send, self.send_time),
        ):
            for operation in operations:
                self._say("MP issued", matched[operation.number], then=self.done(operation))
                self._say("MP clocks", then=self.clock(operation) < times[operation.number])
        for (receive, send), match in self.matches.items():
            self._say("MP together", match, then=self.receive_time[receive] == self.send_time[send])
        for pairs in self.candidates.endpoints:
            for row, column in zip(*np.nonzero(pairs.possible & ~pairs.sure), strict=True):
                match = self.matches[pairs.receives[row].number, pairs.sends[column].number]
                self._say("MP accepts", match, then=self.accepted(pairs, int(row), int(column)))

    def _messages_in_order(self, pairs: EndpointPairs) -> None:
        """NS: what comes before a send in its channel, and the receive accepts, is matched, and earlier."""
        for channel in pairs.channels():
            columns = range(channel.start, channel.stop)
            plain = [bool(pairs.sure[:, column].all()) for column in columns]
            for at, later in _ordered([each.guard for each in pairs.sends[channel]], plain):
                match = self._taken_here(pairs, columns[later])
                self._earlier_send(pairs.sends[columns[at]], match, then=self.send_time[pairs.sends[columns[later]].number])
            if not all(plain):
                for row in range(len(pairs.receives)):
                    self._messages_overtaken(pairs, row, [(each, plain[at]) for at, each in enumerate(columns)])

    def _messages_overtaken(self, pairs: EndpointPairs, row: int, columns: Sequence[tuple[int, bool]]) -> None:
        """NS for one receive, from the last message of a channel on; plain ones are in order anyway."""
        receive, later = pairs.receives[row].number, None
        for column, plain in reversed(columns):
            send = pairs.sends[column]
            accepted = None if plain or later is None else self.accepted(pairs, row, column)
            if accepted is not None:
                self._earlier_send(send, later, accepted, then=self.receive_time[receive])
            later = self._or(later, self.matches.get((receive, send.number)))

    def _earlier_send(self, send: SendEvent, *premises: Any, then: Any) -> None:
        """A send, if it is issued, is matched before a time."""
        guard = self.terms.truth(send.guard)
        self._say("NS matched", guard, *premises, then=self.matched_send[send.number])
        self._say("NS clocks", guard, *premises, then=self.send_time[send.number] < then)

    def _receives_in_order(self, pairs: EndpointPairs) -> None:
        """NR: what was posted before a receive, and accepts its send, is matched, and earlier."""
        plain = [each.source is None and each.tag is None for each in pairs.receives]
        for row, later in _ordered([each.guard for each in pairs.receives], plain):
            other = pairs.receives[later].number
            self._earlier_receive(pairs.receives[row], self.matched_receive[other], then=self.receive_time[other])
        for column in range(len(pairs.sends)) if not all(plain) else ():
            self._receives_overtaken(pairs, column, plain)

    def _receives_overtaken(self, pairs: EndpointPairs, column: int, plain: Sequence[bool]) -> None:
        """NR for one send, from the last receive on."""
        send, after = pairs.sends[column].number, None
        for row in reversed(range(len(plain))):
            accepted = None if plain[row] or after is None else self.accepted(pairs, row, column)
            if accepted is not None:
                self._earlier_receive(pairs.receives[row], after, accepted, then=self.send_time[send])
            after = self._or(after, self.matches.get((pairs.receives[row].number, send)))

    def _earlier_receive(self, receive: ReceiveEvent, *premises: Any, then: Any) -> None:
        """A receive, if it is posted, is matched before a time."""
        guard = self.terms.truth(receive.guard)
        self._say("NR matched", guard, *premises, then=self.matched_receive[receive.number])
        self._say("NR clocks", guard, *premises, then=self.receive_time[receive.number] < then)

    def _or(self, some: Any | None, match: Any | None) -> Any | None:
        """Return a Boolean that is true if one of two is: the next of a chain. It is a premise only."""
        if some is None or match is None:
            return match if some is None else some
        found = self.solver.truth("some")
        self.solver.add(self.z3.Implies(some, found), self.z3.Implies(match, found))
        return found

    def _taken_here(self, pairs: EndpointPairs, column: int) -> Any:
        """Return whether a send is matched at this endpoint, which may be one of several that it can go to."""
        send = pairs.sends[column]
        if send.to.constant:
            return self.matched_send[send.number]
        taken = [self.matches.get((receive.number, send.number)) for receive in pairs.receives]
        return self.z3.Or([each for each in taken if each is not None])

    def _both_sides(self, pairs: EndpointPairs) -> None:
        """Lemmas, by U and MP: as many receives are matched as sends, and all of them get in all what as many sends have."""
        if not all(each.to.constant for each in pairs.sends):
            return
        z3 = self.z3
        for rows, columns in connected_parts(pairs.possible):
            if len(rows) == 1 or len(columns) == 1:
                continue
            receives, sends = [pairs.receives[row] for row in rows], [pairs.sends[column] for column in columns]
            received = [self.matched_receive[each.number] for each in receives]
            unsent = [z3.Not(self.matched_send[each.number]) for each in sends]
            self._say("lemma counts", then=z3.PbEq([(each, 1) for each in (*received, *unsent)], len(sends)))
            if len(rows) == len(columns):
                self._sums(z3.And(received), receives, sends)

    def _sums(self, full: Any, receives: Sequence[ReceiveEvent], sends: Sequence[SendEvent]) -> None:
        if "lemma sums" not in self.parts or not all(isinstance(each.value, Symbol) for each in sends):
            return
        symbols, z3 = self.unrolled.symbols, self.z3
        received = [self.terms.number(symbols.leaf("value", each.number)) for each in receives]
        sent = [self.terms.number(each.value) for each in sends if isinstance(each.value, Symbol)]
        self._say("lemma sums", full, then=z3.Sum(received) == z3.Sum(sent))


def _ordered(guards: Sequence[Symbol], plain: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield for operations that are `plain`, accepted by or accepting all, the later ones that they come before: up to one
    that is plain and surely happens, which in turn comes before what is behind it."""
    for at, first in enumerate(plain):
        for later in range(at + 1, len(plain)) if first else ():
            yield at, later
            if plain[later] and guards[later].constant:
                break
