"""The constraints on matches as clauses: variables for candidate pairs and for how far each process gets; no clocks.

The families are those of docs/theory-messages.md. What order asks for beyond two operations of one channel or endpoint is
learnt from circles of solutions (encoding/order_graph.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths, connected_parts
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.order_graph import FAMILIES, Overtaking, SendRange
from rdma_robust.messages.encoding.possible_values import TermValues
from rdma_robust.messages.encoding.unrolled import Event, ReceiveEvent, SendEvent, WaitEvent
from rdma_robust.messages.engines.channel_counts import ChannelCounts, is_counted
from rdma_robust.messages.engines.solver_clauses import Clauses
from rdma_robust.messages.engines.term_literals import TermLiterals

_MOST_VALUES: Final = 512


class _Columns:
    """The pairs of one endpoint: variables from `first` on, row by row."""

    def __init__(self, pairs: EndpointPairs, clauses: Clauses) -> None:
        self.pairs, self.first = pairs, clauses.new(int(pairs.possible.sum()))
        self.rows, self.columns = np.nonzero(pairs.possible)
        self.starts = np.searchsorted(self.rows, np.arange(len(pairs.receives) + 1))
        self._by_column = np.argsort(self.columns, kind="stable")
        self._column_starts = np.searchsorted(self.columns[self._by_column], np.arange(len(pairs.sends) + 1))

    def row(self, row: int) -> list[tuple[int, int]]:
        """Return the columns of a row with their literals."""
        low, high = int(self.starts[row]), int(self.starts[row + 1])
        return list(zip(self.columns[low:high].tolist(), range(self.first + low, self.first + high), strict=True))

    def column(self, column: int) -> list[tuple[int, int]]:
        """Return the rows of a column with their literals, in posting order."""
        places = self._by_column[self._column_starts[column] : self._column_starts[column + 1]]
        return list(zip(self.rows[places].tolist(), (self.first + places).tolist(), strict=True))

    def literal(self, row: int, column: int) -> int:
        low, high = self.starts[row], self.starts[row + 1]
        return int(self.first + low + np.searchsorted(self.columns[low:high], column))

    def channels(self, row: int) -> list[tuple[int, int]]:
        """Return for each candidate of a row the process that sends it, with its literal."""
        return [(self.pairs.sends[column].process, literal) for column, literal in self.row(row)]

    def matched(self, values: Truths) -> Iterator[tuple[int, int]]:
        """Yield the rows and columns that are matched in a model."""
        for at in np.flatnonzero(values[self.first : self.first + len(self.rows)]).tolist():
            yield int(self.rows[at]), int(self.columns[at])


class _CountedBlock:
    """The pairs of one endpoint where receives take everything: literals by what is taken so far, made when asked for."""

    def __init__(self, pairs: EndpointPairs, clauses: Clauses) -> None:
        self.pairs, self._clauses = pairs, clauses
        self.counts = ChannelCounts(pairs, clauses)

    def row(self, row: int) -> list[tuple[int, int]]:
        return [(column, self.literal(row, column)) for column in np.flatnonzero(self.pairs.possible[row]).tolist()]

    def column(self, column: int) -> list[tuple[int, int]]:
        return [(row, self.literal(row, column)) for row in self.counts.taken[column][0]]

    def literal(self, row: int, column: int) -> int:
        return self._clauses.both(self.counts.before(column, row + 1), -self.counts.before(column, row))

    def channels(self, row: int) -> list[tuple[int, int]]:
        return self.counts.chosen[row]

    def matched(self, values: Truths) -> Iterator[tuple[int, int]]:
        for column, (rows, so_far) in enumerate(self.counts.taken):
            if so_far and values[so_far[-1]]:
                yield rows[int(values[so_far[0] : so_far[-1] + 1].argmax())], column


Block = _Columns | _CountedBlock


class MatchClauses:
    """All clauses of PO to A for one buffer semantics, and the literals to ask about.

    `matched_receive[n]` and `matched_send[n]` say that an operation is matched, `reached` how far a process got: before an
    event stands the literal that the last wait before it was passed. `families` are those that are kept, for tests.
    """

    def __init__(self, candidates: Candidates, clauses: Clauses, families: frozenset[str] = FAMILIES) -> None:
        self.candidates, self.clauses, self.families = candidates, clauses, families
        self.unrolled, self.buffer = candidates.unrolled, candidates.buffer
        self.overtaking = Overtaking(candidates)
        counted = families >= FAMILIES
        self.blocks: list[Block] = []
        for pairs in candidates.endpoints:
            kind = _CountedBlock if counted and is_counted(pairs, self.overtaking.guards) else _Columns
            self.blocks.append(kind(pairs, clauses))
        self.block_of = {each.number: (block, row) for block in self.blocks for row, each in enumerate(block.pairs.receives)}
        sets = TermValues(self.unrolled, candidates.senders, _MOST_VALUES)
        self.terms = TermLiterals(clauses, self.unrolled, self.senders, self.channels, sets)
        for choice in self.unrolled.choices:
            self.terms.numbers(self.unrolled.symbols.leaf("choice", choice.number))
        self.prefixes: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
        self.matched_receive: dict[int, int] = {}
        self.matched_send: dict[int, int] = {}
        self.reached: list[list[int]] = []
        self.passed: dict[tuple[int, int], int] = {}
        self.ends_reached: list[int] = []
        self._unique()
        self._program_order()
        self._match_pairs()
        for block in self.blocks:
            self._messages_in_order(block)
            self._receives_in_order(block)
            self._both_sides(block)

    def senders(self, receive: int) -> Sequence[tuple[SendEvent, int]]:
        """Return the candidates of a receive with the literals of their matches."""
        if receive not in self.block_of:
            return ()
        block, row = self.block_of[receive]
        return [(block.pairs.sends[column], literal) for column, literal in block.row(row)]

    def channels(self, receive: int) -> Sequence[tuple[int, int]]:
        """Return the processes that a receive can get something from, with literals: it does if one of these is true."""
        if receive not in self.block_of:
            return ()
        block, row = self.block_of[receive]
        return block.channels(row)

    def literal(self, receive: int, send: int) -> int:
        """Return the literal of a candidate pair."""
        block, row = self.block_of[receive]
        return block.literal(row, self.overtaking.column(block.pairs, send))

    def not_taken(self, taken: SendRange) -> list[int]:
        """Return literals of which one is true if and only if a send is not taken as `taken` says."""
        if taken.first == taken.last:
            return [-self.literal(taken.first, taken.send)]
        block, first = self.block_of[taken.first]
        _, last = self.block_of[taken.last]
        column = self.overtaking.column(block.pairs, taken.send)
        if (id(block), column) not in self.prefixes:
            self._prefix(block, column, block.column(column))
        earlier = self.before(block, column, first)
        return [-self.before(block, column, last + 1), *([earlier] if earlier != -self.clauses.true else [])]

    def done(self, event: Event) -> int:
        """Return the literal that says that an event happens; for a wait, that the process gets to it."""
        return self.clauses.both(self.reached[event.process][event.position], self.terms.truth(event.guard))

    def _unique(self) -> None:
        """U, and what matched(R) and matched(S) are."""
        clauses = self.clauses
        one_of = clauses.one_at_most if "U" in self.families else clauses.any_of
        of_send: dict[int, list[int]] = {each.number: [] for each in self.unrolled.sends}
        ordered_sends: set[int] = set()
        for block in self.blocks:
            if isinstance(block, _CountedBlock):
                self._counted(block)
                continue
            for row, receive in enumerate(block.pairs.receives):
                literals = [literal for _, literal in block.row(row)]
                self.matched_receive[receive.number] = one_of(literals)
            for channel in block.pairs.channels():
                for column in range(channel.start, channel.stop):
                    send = block.pairs.sends[column]
                    pairs = block.column(column)
                    of_send[send.number] += [literal for _, literal in pairs]
                    if column + 1 < channel.stop:
                        self._prefix(block, column, pairs)
                        ordered_sends.add(send.number)
        for send in self.unrolled.sends:
            if send.number in self.matched_send:
                continue
            free = send.number not in ordered_sends or not send.to.constant
            self.matched_send[send.number] = (one_of if free else clauses.any_of)(of_send[send.number])

    def _counted(self, block: _CountedBlock) -> None:
        counts = block.counts
        for receive, literal in zip(block.pairs.receives, counts.matched_receives, strict=True):
            self.matched_receive[receive.number] = literal
        for column, send in enumerate(block.pairs.sends):
            self.matched_send[send.number] = counts.matched_sends[column]
            self.prefixes[id(block), column] = counts.taken[column]

    def _prefix(self, block: Block, column: int, pairs: list[tuple[int, int]]) -> None:
        """Make the variables that say that a send is matched by one of the first receives, and at most one."""
        clauses, unique = self.clauses, "U" in self.families
        so_far: list[int] = []
        for _, literal in pairs:
            if not so_far:
                so_far.append(literal)
                continue
            last, here = so_far[-1], clauses.new()
            clauses.add([-literal, here])
            clauses.add([-last, here])
            clauses.add([-here, last, literal])
            if unique:
                clauses.add([-literal, -last])
            so_far.append(here)
        self.prefixes[id(block), column] = [row for row, _ in pairs], so_far

    def before(self, block: Block, column: int, row: int) -> int:
        """Return the literal that says that a send is matched by a receive before this row."""
        rows, so_far = self.prefixes[id(block), column]
        count = bisect_left(rows, row)
        return so_far[count - 1] if count else -self.clauses.true

    def _program_order(self) -> None:
        """PO, W and Z: how far a process gets. Only waits hold it up, of sends only under zero and any."""
        clauses = self.clauses
        for events in self.unrolled.events:
            here, reached = clauses.true, []
            for event in events:
                reached.append(here)
                opened = self.unrolled.opened(event, self.buffer) if isinstance(event, WaitEvent) else "infinite"
                if not isinstance(event, WaitEvent) or opened == "infinite":
                    continue
                passed = clauses.new()
                if "PO" in self.families:
                    clauses.clause(-passed, here)
                guard = self.terms.truth(event.guard)
                if event.kind == "receive" and "W" in self.families:
                    clauses.clause(-passed, -guard, self.matched_receive[event.operation])
                if event.kind == "send" and opened == "zero" and "Z" in self.families:
                    clauses.clause(-passed, -guard, self.matched_send[event.operation])
                self.passed[event.process, event.position] = here = passed
            self.reached.append(reached)
            self.ends_reached.append(here)

    def _match_pairs(self) -> None:
        """MP: both operations are issued and the receive accepts; values follow from terms."""
        if "MP" not in self.families:
            return
        for operations, matched in (
            (self.unrolled.receives, self.matched_receive),
            (self.unrolled.sends, self.matched_send),
        ):
            for operation in operations:
                self._issued_if(matched[operation.number], operation)
        for block in self.blocks:
            loose = block.pairs.possible & ~block.pairs.sure
            for row in np.flatnonzero(loose.any(axis=1)).tolist():
                for column, literal in block.row(row):
                    if loose[row, column]:
                        fits = self.overtaking.fits(block.pairs, row, column)
                        self.clauses.clause(-literal, self.terms.truth(fits))

    def _issued_if(self, matched: int, operation: SendEvent | ReceiveEvent) -> None:
        self.clauses.clause(-matched, self.reached[operation.process][operation.position])
        self.clauses.clause(-matched, self.terms.truth(operation.guard))

    def _messages_in_order(self, block: Block) -> None:
        """NS: what comes before a send in its channel, and the receive accepts, is matched by an earlier receive."""
        if "NS" not in self.families or isinstance(block, _CountedBlock):
            return
        pairs, true = block.pairs, self.clauses.true
        all_accept = np.asarray(pairs.sure.all(axis=0))
        for channel in pairs.channels():
            for column in range(channel.start + 1, channel.stop):
                rows = block.column(column)
                chain = (channel.stop > column + 1 and self.prefixes[id(block), column][1]) or [each for _, each in rows]
                for at, (row, literal) in enumerate(rows):
                    for earlier, accepted in self.overtaking.messages_before(pairs, row, column):
                        guard = self._unless_implied(pairs.sends[column], pairs.sends[earlier])
                        known = guard == true and bool(all_accept[earlier])
                        self.clauses.clause(
                            -(chain[at] if known else literal),
                            -guard,
                            -self.terms.truth(accepted),
                            self.before(block, earlier, row),
                        )

    def _receives_in_order(self, block: Block) -> None:
        """NR: what was posted before a receive, and accepts its send, is matched too; in which order, circles tell."""
        if "NR" not in self.families:
            return
        pairs = block.pairs
        for row, receive in enumerate(pairs.receives):
            for earlier in self.overtaking.earlier_rows(pairs, row):
                guard = self._unless_implied(receive, pairs.receives[earlier])
                matched = self.matched_receive[pairs.receives[earlier].number]
                if pairs.sure[earlier, pairs.possible[row]].all():
                    self.clauses.clause(-self.matched_receive[receive.number], -guard, matched)
                    continue
                for column, literal in block.row(row):
                    accepted = self.terms.truth(self.overtaking.fits(pairs, earlier, column))
                    self.clauses.clause(-literal, -guard, -accepted, matched)

    def _unless_implied(self, later: SendEvent | ReceiveEvent, earlier: SendEvent | ReceiveEvent) -> int:
        """Return the guard of an operation, true where the one that comes later implies it."""
        implied = self.overtaking.guards.implies(later.guard, earlier.guard)
        return self.clauses.true if implied else self.terms.truth(earlier.guard)

    def _both_sides(self, block: Block) -> None:
        """Say outright that n matched receives leave none of n sends unmatched: solvers find that hard to see.

        For each connected part of the candidates that has the same number of both; if it has fewer sends, some receive is
        unmatched. This follows from U.
        """
        if "U" not in self.families or not all(each.to.constant for each in block.pairs.sends):
            return
        for rows, columns in connected_parts(block.pairs.possible):
            receives = [self.matched_receive[block.pairs.receives[row].number] for row in rows]
            sends = [self.matched_send[block.pairs.sends[column].number] for column in columns]
            if len(rows) == 1 or len(columns) == 1:
                continue
            if len(sends) < len(receives):
                self.clauses.add([-each for each in receives])
            elif len(sends) > len(receives):
                self.clauses.add([-each for each in sends])
            else:
                full = self.clauses.new()
                self.clauses.add([full, *[-each for each in receives]])
                self.clauses.add([full, *[-each for each in sends]])
                for each in (*receives, *sends):
                    self.clauses.clause(-full, each)
