"""The executions of an unfolded program as clauses, but for what only the order in time excludes.

Written from Theorem 4 of docs/theory-messages.md alone. Every execution, cut anywhere where all processes wait or are over,
makes all clauses true; what they allow too much does no harm. Variables: x(R, S) for each pair, how far a process gets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Final

from rdma_robust.certify.messages.formula_values import Formula, FormulaLiterals, PossibleValues
from rdma_robust.certify.messages.unfolded_terms import TermNode, TooMuch, implied_truth
from rdma_robust.certify.messages.unfolding import ClaimMark, Issue, UnfoldedProgram, WaitingProcess
from rdma_robust.messages.language.message_program import Buffer

MOST_PAIRS: Final = 60_000


class MatchFormula:
    """The clauses, and the literals by which claims and circles are said.

    `rows[R]` are the receives of R's endpoint in posting order, among which R is at `row[R]`; `senders[R]` the sends that it
    may take. `received[R]` and `sent[S]` say that an operation is matched.
    """

    def __init__(self, unfolded: UnfoldedProgram, buffer: Buffer, values: PossibleValues) -> None:
        self.unfolded, self.buffer, self.values = unfolded, buffer, values
        self.terms = unfolded.terms
        self.formula = Formula()
        self.senders = values.senders
        if sum(len(each) for each in self.senders) > MOST_PAIRS:
            raise TooMuch(f"more than {MOST_PAIRS} pairs of a receive and a send")
        self.x = {(receive, send): self.formula.new() for receive, sends in enumerate(self.senders) for send in sends}
        self.literals = FormulaLiterals(self.formula, values, self._pairs)
        endpoints: dict[tuple[int, int], list[int]] = {}
        for each in unfolded.receives:
            endpoints.setdefault((each.process, each.port), []).append(each.number)
        self.endpoints = endpoints
        self.row = {each: row for rows in endpoints.values() for row, each in enumerate(rows)}
        self.rows = {each: rows for rows in endpoints.values() for each in rows}
        self.takers: list[dict[tuple[int, int], list[int]]] = [{} for _ in unfolded.sends]
        for receive, send in self.x:
            issue = unfolded.receives[receive]
            self.takers[send].setdefault((issue.process, issue.port), []).append(receive)
        self._chains: dict[tuple[int, tuple[int, int]], list[int]] = {}
        self.received: list[int] = []
        self.sent: list[int] = []
        self._unique()
        self.reached: list[list[int]] = []
        self._progress()
        self._issued()
        self._order()
        self._counts()
        self._shares()

    def _pairs(self, receive: int) -> list[tuple[Issue, int]]:
        return [(self.unfolded.sends[send], self.x[receive, send]) for send in self.senders[receive]]

    def _unique(self) -> None:
        """U: no operation is matched twice."""
        formula = self.formula
        for receive, sends in enumerate(self.senders):
            chain = formula.chain([self.x[receive, send] for send in sends], unique=True)
            self.received.append(chain[-1] if chain else -1)
        for send, takers in enumerate(self.takers):
            ends = []
            for endpoint, receives in takers.items():
                chain = formula.chain([self.x[receive, send] for receive in receives], unique=True)
                self._chains[send, endpoint] = chain
                ends.append(chain[-1])
            for at, one in enumerate(ends):
                for other in ends[:at]:
                    formula.add(-one, -other)
            self.sent.append(formula.any_of(ends))

    def before(self, send: int, receive: int) -> int:
        """Return the literal that a receive posted before this one at its endpoint takes the send."""
        return self._chained(send, receive, receive)

    def up_to(self, send: int, receive: int) -> int:
        """Return the same with this receive itself."""
        return self._chained(send, receive, receive + 1)

    def _chained(self, send: int, receive: int, end: int) -> int:
        issue = self.unfolded.receives[receive]
        endpoint = issue.process, issue.port
        count = bisect_left(self.takers[send].get(endpoint, ()), end)
        return self._chains[send, endpoint][count - 1] if count else -1

    def truth(self, node: TermNode) -> int:
        return self.literals.truth(node)

    def done(self, at: Issue | WaitingProcess | ClaimMark) -> int:
        """Return the literal that something happens; of a wait, that the process gets there."""
        return self.formula.all_of((self.reached[at.process][at.place], self.truth(at.guard)))

    def _progress(self) -> None:
        """PO, W, Z: a process passes its waits one after the other, each only if it is open."""
        for events in self.unfolded.events:
            here, reached = 1, [1]
            for event in events:
                if isinstance(event, WaitingProcess) and self.may_hold(event):
                    passed = self.formula.new()
                    self.formula.add(-passed, here)
                    if event.kind == "receive":
                        self.formula.add(-passed, -self.truth(event.guard), self.received[event.number])
                    elif self.needs_match(event):
                        self.formula.add(-passed, -self.truth(event.guard), self.sent[event.number])
                    here = passed
                reached.append(here)
            self.reached.append(reached)

    def passes(self, operation: WaitingProcess | Issue) -> int:
        """Return the literal that an operation is complete, but for buffers that it may get."""
        if not self.may_hold(operation):
            return 1
        return (self.received if operation.kind == "receive" else self.sent)[operation.number]

    def needs_match(self, wait: WaitingProcess | Issue) -> bool:
        """Return whether nothing but a match opens a wait."""
        if wait.kind == "receive":
            return True
        mode = self.unfolded.sends[wait.number].mode
        return mode == "sync" or (mode == "standard" and (self.buffer == "zero" or self._is_large()))

    def may_hold(self, wait: WaitingProcess | Issue) -> bool:
        """Return whether a wait is not open at once in every run."""
        unsure = self.buffer == "any" and wait.kind == "send" and self.unfolded.sends[wait.number].mode == "standard"
        return unsure or self.needs_match(wait)

    def _is_large(self) -> bool:
        """Return whether a number, which is all that these formulas send, is too much for a buffer."""
        return self.buffer == "eager" and (self.unfolded.program.eager or 0) < 1

    def accepts(self, receive: Issue, send: Issue) -> TermNode:
        """Return where a receive accepts a send, both issued."""
        if not self.values.may_match(receive, send):
            return self.terms.false
        fits = [self._same(send.peer, self.terms.const(receive.process))]
        if receive.peer is not None:
            fits.append(self._same(receive.peer, self.terms.const(send.process)))
        if receive.tag is not None:
            fits.append(self._same(receive.tag, send.tag))
        return self.terms.both(*fits)

    def _same(self, a: TermNode | None, b: TermNode | None) -> TermNode:
        assert a is not None
        assert b is not None
        return self.terms.operation("==", a, b)

    def _issued(self) -> None:
        """MP: what is matched is issued, and the receive accepts the send."""
        for issues, matched in ((self.unfolded.receives, self.received), (self.unfolded.sends, self.sent)):
            for issue in issues:
                self.formula.add(-matched[issue.number], self.reached[issue.process][issue.place])
                self.formula.add(-matched[issue.number], self.truth(issue.guard))
        for (receive, send), literal in self.x.items():
            fits = self.accepts(self.unfolded.receives[receive], self.unfolded.sends[send])
            self.formula.add(-literal, self.truth(fits))

    def sends_before(self, send: Issue) -> Iterator[Issue]:
        """Yield the earlier sends of the same process and port, latest first: of one pattern up to a sure one."""
        yield from _nearest(self._channels[send.process, send.port], send)

    def receives_before(self, receive: Issue) -> Iterator[Issue]:
        """Yield the earlier receives of the same endpoint in the same way."""
        numbers = self.endpoints[receive.process, receive.port]
        yield from _nearest([self.unfolded.receives[each] for each in numbers], receive)

    @cached_property
    def _channels(self) -> dict[tuple[int, int], list[Issue]]:
        found: dict[tuple[int, int], list[Issue]] = {}
        for send in self.unfolded.sends:
            found.setdefault((send.process, send.port), []).append(send)
        return found

    def _order(self) -> None:
        """NS and NR, as far as they say that something is matched, and to a receive that was posted before."""
        earlier_sends = [list(self.sends_before(each)) for each in self.unfolded.sends]
        earlier_receives = [list(self.receives_before(each)) for each in self.unfolded.receives]
        for (number, nth), literal in self.x.items():
            receive, send = self.unfolded.receives[number], self.unfolded.sends[nth]
            for earlier in earlier_sends[nth]:
                fits = self.truth(self.accepts(receive, earlier))
                if fits != -1:
                    guard = self.truth(earlier.guard)
                    self.formula.add(-literal, -fits, -guard, self.before(earlier.number, number))
            for other in earlier_receives[number]:
                fits = self.truth(self.accepts(other, send))
                if fits != -1:
                    self.formula.add(-literal, -fits, -self.truth(other.guard), self.received[other.number])

    def _counts(self) -> None:
        """In a part of the pairs with as many receives as sends all of one side are matched if all of the other are."""
        for receives, sends in self._parts():
            ours, theirs = [self.received[each] for each in receives], [self.sent[each] for each in sends]
            if len(ours) < 2 or len(theirs) < 2:
                continue
            if len(ours) > len(theirs):
                self.formula.add(*[-each for each in ours])
            elif len(ours) < len(theirs):
                self.formula.add(*[-each for each in theirs])
            else:
                full = self.formula.new()
                for side in (ours, theirs):
                    self.formula.add(full, *[-each for each in side])
                    for each in side:
                        self.formula.add(-full, each)

    def _shares(self) -> None:
        """Where two channels go to receives that take everything: of the first k receives no more than k sends are taken.

        Before a send is taken all before it in its channel are, so two of them say how many are.
        """
        for numbers in self.endpoints.values():
            receives = [self.unfolded.receives[each] for each in numbers]
            if any(each.peer is not None or each.tag is not None for each in receives):
                continue
            sends = {send for each in numbers for send in self.senders[each]}
            channels: dict[int, list[Issue]] = {}
            for send in sorted(sends):
                channels.setdefault(self.unfolded.sends[send].process, []).append(self.unfolded.sends[send])
            if len(channels) != 2 or len(sends) < 3:
                continue
            counted = [[(each, self._surely_up_to(each, receives[0])) for each in line] for line in channels.values()]
            for (one, ours), (other, theirs) in product(*counted):
                last = numbers[min(ours + theirs - 2, len(numbers) - 1)]
                self.formula.add(-self.up_to(one.number, last), -self.up_to(other.number, last))

    def _surely_up_to(self, send: Issue, receive: Issue) -> int:
        """Return of how many sends of a channel, with itself, it is known that they come no later than a send."""
        line = self._channels[send.process, send.port]
        before = [each for each in line if each.place < send.place and implied_truth(send.guard, each.guard)]
        return 1 + sum(self.accepts(receive, each) is self.terms.true for each in before)

    def _parts(self) -> list[tuple[list[int], list[int]]]:
        """Return the connected parts of the pairs: their receives and their sends."""
        left = {receive for receive, sends in enumerate(self.senders) if sends}
        takers = [[each for receives in ends.values() for each in receives] for ends in self.takers]
        found = []
        while left:
            todo, receives, sends = [min(left)], set[int](), set[int]()
            while todo:
                receive = todo.pop()
                if receive not in receives:
                    receives.add(receive)
                    new = set(self.senders[receive]) - sends
                    sends |= new
                    todo += [each for send in new for each in takers[send] if each not in receives]
            left -= receives
            found.append((sorted(receives), sorted(sends)))
        return found


def _nearest(line: Sequence[Issue], issue: Issue) -> Iterator[Issue]:
    """Yield what stands before an issue in a line, latest first. Of those with the same known pattern nothing is yielded
    behind one that surely happens if `issue` does: it says of them what `issue` would."""
    sure: set[tuple[int | None, int | None]] = set()
    for other in reversed([each for each in line if each.place < issue.place]):
        if any(each is not None and not each.known for each in (other.peer, other.tag)):
            yield other
            continue
        kind = (other.peer.number if other.peer else None, other.tag.number if other.tag else None)
        if kind in sure:
            continue
        if implied_truth(issue.guard, other.guard):
            sure.add(kind)
        yield other
