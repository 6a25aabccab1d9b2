"""The checker's own unfolding of a message program: one list of events for each process, each with a guard.

All ways through a process go through one list: where a statement is executed under a condition, what it stores is stored
under that condition, and what it issues or waits for has the condition as guard. A loop whose rounds nothing limits goes on
for some rounds; then comes a cut, and a proof has to show that no run gets there.

More than 400 lines: one class with a rule for each statement, and what they share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from rdma_robust.certify.messages.unfolded_terms import (
    MOST_ELEMENTS,
    PARTS,
    Evaluator,
    Symbolic,
    TermNode,
    TermTable,
    TooMuch,
)
from rdma_robust.expr import Const
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_terms import Term

MOST_EVENTS: Final = 20_000
MOST_ROUNDS: Final = 2_000
_MOST_AT_ONCE: Final = 6
LOOKS: Final = "what probes and `send ready` see is in no certificate that something never happens"

OpKind = Literal["send", "receive"]


@dataclass(frozen=True, slots=True, eq=False)
class Issue:
    """An issued send or receive. `number` counts those of its kind over all processes, `place` events of its process.

    Of a send `peer` is the destination, of a receive the source; source and tag of a receive are None for any. `of_type` and
    `length`, size or room, are None if nothing is said.
    """

    kind: OpKind
    number: int
    process: int
    place: int
    guard: TermNode
    port: int
    peer: TermNode | None
    tag: TermNode | None
    value: TermNode
    mode: mp.SendMode = "standard"
    of_type: TermNode | None = None
    length: TermNode | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WaitingProcess:
    """A wait for one operation. Who has chosen it among several, which are `others` with their conditions, is held up only
    as long as none of them is complete, and who only `tests` never."""

    kind: OpKind
    number: int
    process: int
    place: int
    guard: TermNode
    others: tuple[tuple[Issue, TermNode], ...] = ()
    tests: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ClaimMark:
    """Something that a claim is about, directly before the event `place`, if its guard holds there."""

    kind: Literal["assert", "fault", "assume", "cut"]
    process: int
    place: int
    guard: TermNode


@dataclass(slots=True)
class UnfoldedProgram:
    """All events, by process, and what claims are about."""

    terms: TermTable
    program: mp.MessageProgram
    events: list[list[Issue | WaitingProcess]] = field(default_factory=list)
    sends: list[Issue] = field(default_factory=list)
    receives: list[Issue] = field(default_factory=list)
    marks: list[ClaimMark] = field(default_factory=list)


def unfold(program: mp.MessageProgram, loop_bound: int, look: Callable[[], None] = lambda: None) -> UnfoldedProgram:
    """Return the events of a program. Raises TooMuch where it has what formulas do not have.

    `look` is called now and then, and may raise what it likes.
    """
    found = UnfoldedProgram(TermTable(), program)
    for me in range(len(program.processes)):
        _Unfolding(found, me, loop_bound, look).run()
    return found


Stores = tuple[tuple[str, tuple[TermNode, ...]] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Active:
    """An operation that a request may be active with, and where what it gets is stored."""

    issue: Issue
    stores: Stores = ()


Slot = dict[_Active, TermNode]
"""The operations that a request may be active with, each with its condition; no two at once."""


class _Unfolding:
    """One process. `live` is the condition under which the statement in hand is executed."""

    def __init__(self, found: UnfoldedProgram, me: int, loop_bound: int, look: Callable[[], None]) -> None:
        self.found, self.me, self.loop_bound, self.look = found, me, loop_bound, look
        self.terms = found.terms
        process = found.program.processes[me]
        self.registers: dict[str, Symbolic] = dict.fromkeys(process.registers, self.terms.false)
        self.slots: dict[str, Slot | list[Slot]] = {name: {} for name in process.requests}
        self.live = self.terms.true
        self.events: list[Issue | WaitingProcess] = []
        self.returned: list[list[TermNode]] = []
        self.choices = 0
        self.evaluator = Evaluator(self.terms, self.registers, self._fault)
        found.events.append(self.events)

    def run(self) -> None:
        self._block(self.found.program.processes[self.me].body)

    def _mark(self, kind: Literal["assert", "fault", "assume", "cut"], guard: TermNode) -> None:
        if guard is not self.terms.false:
            self.found.marks.append(ClaimMark(kind, self.me, len(self.events), guard))

    def _fault(self, guard: TermNode) -> None:
        """Note a fault, after which the process goes on nowhere."""
        self._mark("fault", guard)
        self.live = self.terms.both(self.live, self.terms.negation(guard))

    def _value(self, term: Term) -> Symbolic:
        return self.evaluator.value(term, self.live)

    def _number(self, term: Term) -> TermNode:
        return self.evaluator.number(term, self.live)

    def _truth(self, term: Term) -> TermNode:
        return self.terms.truth(self._number(term))

    def _block(self, block: mp.Block) -> None:
        for statement in block:
            if self.live is self.terms.false:
                return
            self.look()
            if len(self.events) > MOST_EVENTS or len(self.found.marks) > MOST_EVENTS:
                raise TooMuch(f"more than {MOST_EVENTS} events")
            self._statement(statement)

    def _statement(self, statement: mp.Statement) -> None:
        match statement:
            case mp.Assign(target, value):
                indices = tuple(self._number(each) for each in target.indices)
                new = self._value(value)
                self._store(target.name, indices, new, self.live)
            case mp.Requests(name, size):
                self._requests(name, size)
            case mp.IssueSend(mode="ready"):
                raise TooMuch(LOOKS)
            case mp.IssueSend():
                self._send(statement)
            case mp.Probe() | mp.IssueReceive(of=mp.Place()):
                raise TooMuch(LOOKS)
            case mp.IssueReceive():
                self._receive(statement)
            case mp.Wait(requests):
                for place in requests:
                    for slot, guard in self._places(place):
                        self._wait(slot, guard)
            case mp.Abort(error):
                self._value(error)
                self._fault(self.live)
            case mp.Completion():
                self._completion(statement)
            case mp.Assume(condition):
                holds = self._truth(condition)
                self._mark("assume", self.terms.both(self.live, self.terms.negation(holds)))
                self.live = self.terms.both(self.live, holds)
            case mp.Assert(condition):
                holds = self._truth(condition)
                self._mark("assert", self.terms.both(self.live, self.terms.negation(holds)))
            case mp.CollectiveCall():
                pass
            case _:
                self._control(statement)

    def _control(self, statement: mp.Statement) -> None:
        match statement:
            case mp.Halt():
                self.live = self.terms.false
            case mp.Return():
                if self.returned:
                    self.returned[-1].append(self.live)
                self.live = self.terms.false
            case mp.If(condition, then, other):
                holds = self._truth(condition)
                self._branches((then, other), (holds, self.terms.negation(holds)))
            case mp.Choose(branches):
                choice = self._choice(len(branches))
                self._branches(branches, [self._is(choice, each) for each in range(len(branches))])
            case mp.InlinedCall(_, body):
                self.returned.append([])
                self._block(body)
                self.live = self.terms.either([self.live, *self.returned.pop()])
            case mp.While(condition, body):
                self._rounds(lambda _: self._truth(condition), body, counted=not isinstance(condition, Const))
            case mp.Loop(body):
                self._rounds(lambda _: self._is(self._choice(2), 1), body)
            case mp.For(counter, low, high, body):
                self._counted(counter, self._number(low), self._number(high), body)

    def _choice(self, of: int) -> TermNode:
        self.choices += 1
        return self.terms.choice(self.me * 1_000_000 + self.choices, of)

    def _is(self, node: TermNode, number: int) -> TermNode:
        return self.terms.operation("==", node, self.terms.const(number))

    def _branches(self, branches: Sequence[mp.Block], conditions: Sequence[TermNode]) -> None:
        before, after = self.live, []
        for branch, condition in zip(branches, conditions, strict=True):
            self.live = self.terms.both(before, condition)
            self._block(branch)
            after.append(self.live)
        kept = all(each is self.terms.both(before, condition) for each, condition in zip(after, conditions, strict=True))
        self.live = before if kept else self.terms.either(after)

    def _rounds(
        self,
        test: Callable[[int], TermNode],
        body: mp.Block,
        enter: Callable[[int], None] = lambda _: None,
        *,
        counted: bool = True,
    ) -> None:
        """Go through a loop up to its bound. Rounds that surely come do not count, if the test depends on something."""
        terms, out, unknown, at = self.terms, [], 0, 0
        while self.live is not terms.false:
            holds = test(at)
            out.append(terms.both(self.live, terms.negation(holds)))
            self.live = terms.both(self.live, holds)
            unknown += not (holds.known and counted)
            if unknown > self.loop_bound or at == MOST_ROUNDS:
                self._mark("cut", self.live)
                break
            self.look()
            enter(at)
            self._block(body)
            at += 1
        self.live = terms.either(out)

    def _counted(self, counter: str, low: TermNode, high: TermNode, body: mp.Block) -> None:
        terms = self.terms
        self.registers.setdefault(counter, terms.false)

        def following(at: int) -> TermNode:
            return terms.operation("+", low, terms.const(at)) if at else low

        def enter(at: int) -> None:
            self._store(counter, (), following(at), self.live)

        self._rounds(lambda at: terms.operation("<=", following(at), high), body, enter)

    def _store(self, name: str, indices: tuple[TermNode, ...], new: Symbolic, guard: TermNode) -> None:
        if guard is not self.terms.false:
            self.registers[name] = self._replaced(self.registers[name], indices, new, guard)

    def _replaced(self, old: Symbolic, indices: tuple[TermNode, ...], new: Symbolic, guard: TermNode) -> Symbolic:
        if not indices:
            return self.terms.merged(guard, new, old)
        if isinstance(old, TermNode):
            self._fault(guard)
            return old
        at, inner = indices[0], indices[1:]
        self._fault(self.terms.both(guard, self.evaluator.outside(at, len(old))))
        chosen = range(len(old)) if not at.known else [at.number] if 0 <= at.number < len(old) else []
        items = list(old)
        for each in chosen:
            items[each] = self._replaced(old[each], inner, new, self.terms.both(guard, self._is(at, each)))
        return tuple(items)

    def _requests(self, name: str, size: Term | None) -> None:
        length = None if size is None else self._number(size)
        if length is not None:
            if not length.known or length.number > MOST_ELEMENTS:
                raise TooMuch("an array of requests is long, or its length is not known")
            if length.number < 0:
                self._fault(self.live)
                return
        old = self.slots[name]
        same = isinstance(old, dict) if length is None else isinstance(old, list) and len(old) == length.number
        if self.live is self.terms.true:
            self.slots[name] = {} if length is None else [{} for _ in range(length.number)]
        elif same:
            for slot in [old] if isinstance(old, dict) else old:
                self._clear(slot, self.live)
        else:
            raise TooMuch("a request is an array on some ways only")

    def _clear(self, slot: Slot, guard: TermNode) -> None:
        for active, condition in list(slot.items()):
            slot[active] = self.terms.both(condition, self.terms.negation(guard))
            if slot[active] is self.terms.false:
                del slot[active]

    def _places(self, place: mp.Place) -> list[tuple[Slot, Callable[[], TermNode]]]:
        """Return the requests that a wait is for, in order, with what tells the condition when it is their turn."""
        found = self.slots[place.name]
        if isinstance(found, list) and not place.indices:
            return [(slot, lambda: self.live) for slot in found]
        if isinstance(found, dict):
            if place.indices:
                self._number(place.indices[0])
                self._fault(self.live)
            return [(found, lambda: self.live)]
        return self._elements(found, place.indices[0])

    def _elements(self, slots: list[Slot], index: Term) -> list[tuple[Slot, Callable[[], TermNode]]]:
        at = self._number(index)
        self._fault(self.terms.both(self.live, self.evaluator.outside(at, len(slots))))
        return [(slot, partial(self._live_at, at, each)) for each, slot in enumerate(slots)]

    def _live_at(self, at: TermNode, each: int) -> TermNode:
        return self.terms.both(self.live, self._is(at, each))

    def _activate(self, request: mp.Place, make: Callable[[], _Active]) -> None:
        """Issue an operation, after all that can be a fault, and make its request active."""
        found = self.slots[request.name]
        if isinstance(found, list) and not request.indices:
            self._fault(self.live)
            return
        places = self._places(request)
        if self.live is self.terms.false:
            return
        active = make()
        for slot, condition in places:
            guard = condition()
            if guard is not self.terms.false:
                self._clear(slot, guard)
                slot[active] = guard

    def _send(self, send: mp.IssueSend) -> None:
        value = self._value(send.value)
        to, tag = self._address(send.to, send.tag)
        if not isinstance(value, TermNode):
            raise TooMuch("arrays are sent")
        said = self._said(send.of_type, send.size)
        self._activate(send.request, lambda: _Active(self._issued(send, (to, tag), value, said)))

    def _address(self, peer: Term | None, tag: Term | None) -> tuple[TermNode | None, TermNode | None]:
        """Return process and tag, and note the faults: a process that is none, a tag that is negative."""
        process, number = (None if each is None else self._number(each) for each in (peer, tag))
        if process is not None:
            self._fault(self.terms.both(self.live, self.evaluator.outside(process, len(self.found.program.processes))))
        if number is not None:
            self._fault(self.terms.both(self.live, self.terms.operation("<", number, self.terms.false)))
        return process, number

    def _receive(self, receive: mp.IssueReceive) -> None:
        source, tag = self._address(receive.source, receive.tag)
        said = self._said(receive.of_type, receive.room)
        places = (receive.target, receive.sender, receive.which)
        stores: Stores = tuple(
            None if each is None else (each.name, tuple(self._number(index) for index in each.indices)) for each in places
        )
        self._activate(
            receive.request,
            lambda: _Active(self._issued(receive, (source, tag), self.terms.false, said), stores),
        )

    def _said(self, *terms: Term | None) -> tuple[TermNode | None, TermNode | None]:
        one, other = (None if each is None else self._number(each) for each in terms)
        return one, other

    def _issued(
        self,
        of: mp.IssueSend | mp.IssueReceive,
        where: tuple[TermNode | None, TermNode | None],
        value: TermNode,
        said: tuple[TermNode | None, TermNode | None],
    ) -> Issue:
        kind: OpKind = "send" if isinstance(of, mp.IssueSend) else "receive"
        mode = of.mode if isinstance(of, mp.IssueSend) else "standard"
        of_kind = self.found.sends if kind == "send" else self.found.receives
        place = len(of_kind), self.me, len(self.events)
        issue = Issue(kind, *place, self.live, of.port, *where, value, mode, *said)
        of_kind.append(issue)
        self.events.append(issue)
        return issue

    def _completion(self, wanted: mp.Completion) -> None:
        """Choose which requests complete, wait for these, store which they are. What cannot be chosen goes on nowhere."""
        terms = self.terms
        listed = [each for place in wanted.requests for each in self._listed(place)]
        if self.live is terms.false:
            return
        if wanted.how == "some" and len(listed) > _MOST_AT_ONCE:
            raise TooMuch(f"some of more than {_MOST_AT_ONCE} requests complete")
        others = tuple(
            [(active.issue, terms.both(at, on)) for slots in listed for slot, at in slots for active, on in slot.items()]
        )
        choice = self._choice({"any": len(listed) + 1, "some": 1 << len(listed), "all": 2}[wanted.how])
        active, nothing = terms.either([on for _, on in others]), self._is(choice, 0)
        idle = nothing if wanted.tests else terms.both(nothing, terms.negation(active))
        self.live = terms.both(self.live, terms.either([idle, terms.both(terms.negation(nothing), active)]))
        chosen = [self._takes(wanted.how, choice, number) for number in range(len(listed))]
        for slots, taken in zip(listed, chosen, strict=True):
            there = terms.either([terms.both(at, on) for slot, at in slots for on in slot.values()])
            if wanted.how != "all":
                self.live = terms.both(self.live, terms.either([terms.negation(taken), there]))
            for slot, at in slots:
                self._wait(slot, partial(self._live_where, taken, at), others, tests=wanted.tests)
        done = terms.either([terms.negation(nothing), terms.negation(active)])
        self._say(wanted, (choice, done, active), chosen)

    def _live_where(self, *truths: TermNode) -> TermNode:
        return self.terms.both(self.live, *truths)

    def _listed(self, place: mp.Place) -> list[list[tuple[Slot, TermNode]]]:
        """Return requests one by one, each as the slots that it may be, with their conditions."""
        found, always = self.slots[place.name], self.terms.true
        if isinstance(found, list) and not place.indices:
            return [[(slot, always)] for slot in found]
        at = self._number(place.indices[0]) if place.indices else None
        if isinstance(found, dict):
            if at is not None:
                self._fault(self.live)
            return [[(found, always)]]
        assert at is not None
        self._fault(self.terms.both(self.live, self.evaluator.outside(at, len(found))))
        return [[(slot, self._is(at, each)) for each, slot in enumerate(found)]]

    def _takes(self, how: mp.CompletionKind, choice: TermNode, number: int) -> TermNode:
        terms = self.terms
        if how != "some":
            return terms.negation(self._is(choice, 0)) if how == "all" else self._is(choice, number + 1)
        shifted = terms.operation("/", choice, terms.const(1 << number))
        return terms.truth(terms.operation("%", shifted, terms.const(2)))

    def _say(self, wanted: mp.Completion, known: tuple[TermNode, TermNode, TermNode], chosen: Sequence[TermNode]) -> None:
        """Store what has completed; `known` are the choice, whether something has, and whether some request was active."""
        terms, (choice, done, active) = self.terms, known
        counts = [terms.false]
        for each in chosen:
            counts.append(terms.operation("+", counts[-1], each))
        number = terms.operation("-", choice, terms.true)
        if wanted.how == "some":
            number = terms.ite(active, counts[-1], terms.const(-1))
        for place, value in ((wanted.flag, done), (wanted.which, number)):
            if place is not None:
                self._store(place.name, tuple(self._number(each) for each in place.indices), value, self.live)
        if wanted.places is not None:
            indices = tuple(self._number(each) for each in wanted.places.indices)
            for at, (taken, count) in enumerate(zip(chosen, counts, strict=False)):
                self._store(wanted.places.name, (*indices, count), terms.const(at), terms.both(self.live, taken))

    def _wait(
        self,
        slot: Slot,
        when: Callable[[], TermNode],
        others: tuple[tuple[Issue, TermNode], ...] = (),
        *,
        tests: bool = False,
    ) -> None:
        for active, condition in list(slot.items()):
            guard = self.terms.both(when(), condition)
            if guard is self.terms.false:
                continue
            issue, at = active.issue, len(self.events)
            self.events.append(WaitingProcess(issue.kind, issue.number, self.me, at, guard, others, tests))
            for place, part in zip(active.stores, PARTS, strict=False):
                if place is not None:
                    self._store(*place, self.terms.got(issue.number, part), guard)
        self._clear(slot, when())
