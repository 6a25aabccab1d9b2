"""The facts that the proofs ask of an order table, decided for any table.

They are those of `proofs/deployed/RemoteAtomicsHardware.v`; what a table says of atomics, or of messages, is not asked of
programs without any. Two of them (:data:`OF_ATOMICS`) the search asks for; of the others they say that what it finds is a
counterexample. Of messages there is one more, which the proofs do not have: `receive_chain` asks
of a receive, which is before its message, what `chain` asks of reads. Two things are read otherwise.
That reads push writes is a set of pairs, and what is asked there is asked pair by pair. And `operation` is no fact here:
what it asks of a table, closing gives, as the read and the writes of one operation are in order whatever a table says
(:func:`~rdma_robust.orders.order_record.closed`).

Source: docs/proof-tables.md, "The facts with remote atomics".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Final

from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import ALL_TYPES, ALL_WRITES, ATOMIC_ROWS, MESSAGE, SOURCE, OrderTable, plain_cell

_SOURCES: Final = ("nlR", "nmR")
_READ_OF: Final = {"naW": "naR", "nuW": "nuR"}


class _Facts:
    """The facts of one table, each a method that says whether it has it; the types are those that a program can have."""

    def __init__(self, table: OrderTable, atomics: frozenset[str], messages: bool) -> None:
        without = {*(ATOMIC_ROWS - atomics), *(() if messages else (MESSAGE, SOURCE))}
        self._cells = table.cells
        self.types = tuple(each for each in ALL_TYPES if each not in without)
        self.writes = tuple(each for each in self.types if each in ALL_WRITES)
        self.atomics = tuple((read, write) for write, read in _READ_OF.items() if write in self.types)
        self.reads = tuple(each for each in self.types if each not in self.writes)
        self.pushes = frozenset(pair for pair in product(self.reads, self.writes) if plain_cell(pair) in table.pushes)
        self.messages = tuple(each for each in ("nrW", MESSAGE) if messages)

    def issued(self, earlier: str, later: str) -> bool:
        """Whether the cell is in ippo."""
        return self._cells[earlier, later] in ("qp", "i")

    def seen(self, earlier: str, later: str) -> bool:
        """Whether the cell is in oppo."""
        return self._cells[earlier, later] == "qp"

    def chain(self) -> bool:
        """What is issued before a NIC write is issued before the NIC writes that follow that one."""
        return all(
            self.issued(a, c)
            for a, b, c in product(self.reads, self.writes, self.writes)
            if self.issued(a, b) and self.issued(b, c)
        )

    def flush_chain(self) -> bool:
        """The same where nfo stands before the NIC write."""
        return all(
            ((read, c) in self.pushes and self.seen(write, c)) or (self.issued(read, c) and self.seen(write, read))
            for (read, write), c in product(self.pushes, self.writes)
            if self.issued(write, c)
        )

    def issue_only(self) -> bool:
        """Where a NIC write's cell to an event that is none is `i`, all that is before the NIC write by ippo or nfo is
        observed before the later event; nlR, nlW, nF is left to the rule of fences."""
        return all(
            self._seen_before(write, later)
            for write, later in product(self.writes, self.reads)
            if self.issued(write, later) and not self.seen(write, later)
        )

    def _seen_before(self, write: str, later: str) -> bool:
        by_ippo = all(self.seen(a, later) for a in self.reads if self.issued(a, write))
        of_fences = (write, later) == ("nlW", "nF")
        return by_ippo and all(
            self.seen(a, later) and (self.seen(write, a) or (of_fences and a in _SOURCES))
            for a in self.reads
            if (a, write) in self.pushes
        )

    def flush_poll(self) -> bool:
        """A read that pushes an nrW out is observed after it if it is later, an naR is issued before it; and an naR after
        the naW before it."""
        return all(
            self.seen(write, read) and (plain_cell((read, write)) != ("naR", "nrW") or self.issued(read, write))
            for read, write in self.pushes
            if plain_cell((read, write)) in (("nrR", "nrW"), ("naR", "nrW"), ("naR", "naW"))
        )

    def fence(self) -> bool:
        """Where an nlR pushes an nlW out, nlW before nF is in ippo, and nF before nlR is kept."""
        return all(self.issued("nlW", "nF") and self.seen("nF", read) for read, _ in self.pushes if read in _SOURCES)

    def rmw_row(self) -> bool:
        """What naW is issued before, naR is."""
        return all(self.issued(read, c) or not self.issued(write, c) for read, write in self.atomics for c in self.types)

    def rmw_column(self) -> bool:
        """What is observed before naW is observed before naR."""
        return all(self.seen(a, read) or not self.seen(a, write) for read, write in self.atomics for a in self.types)

    def receive_chain(self) -> bool:
        """What is issued behind a message by way of writes in between is behind the message itself, or observed behind one
        of these, or behind the read of an atomic: so is what the message's receive is before."""

        def behind_read(message: str, b: str, c: str) -> bool:
            read = _READ_OF.get(b)
            return read is not None and self.issued(message, read) and self.seen(read, c)

        return all(
            self.issued(message, c) or self.seen(b, c) or behind_read(message, b, c)
            for message in self.messages
            for b, c in product(self._issued_behind(message), self.types)
            if self.issued(b, c)
        )

    def _issued_behind(self, message: str) -> tuple[str, ...]:
        """The writes that are issued behind a message, also by way of others."""
        found = [message]
        for b in found:
            found += [c for c in self.writes if self.issued(b, c) and c not in found]
        return tuple(found)


FACTS: Final[tuple[Callable[[_Facts], bool], ...]] = (
    _Facts.chain,
    _Facts.flush_chain,
    _Facts.issue_only,
    _Facts.flush_poll,
    _Facts.fence,
    _Facts.rmw_row,
    _Facts.rmw_column,
    _Facts.receive_chain,
)
"""Every fact; that the rows of a CPU keep all, that only NIC writes distinguish issue and observation, and that nothing of a
card is before a CPU, holds for every table that there can be."""


RMW_ROW: Final = _Facts.rmw_row.__name__
"""The fact without which what waits for an atomic depends on what that reads."""

OF_ATOMICS: Final = (RMW_ROW, _Facts.rmw_column.__name__)
"""The facts without which a program with remote atomics may have a violation to which no run of the search leads."""


def lacked_by(table: OrderTable, *, atomics: frozenset[str] = ATOMIC_ROWS, messages: bool = False) -> tuple[str, ...]:
    """Return the facts that a table lacks, of those about programs with these types of events of remote atomics, and with
    messages or without."""
    asked = _Facts(table, atomics, messages)
    return tuple(fact.__name__ for fact in FACTS if not fact(asked))


@cache
def lacking(order: str, *, atomics: frozenset[str] = ATOMIC_ROWS, messages: bool = False) -> tuple[str, ...]:
    """Return the facts that the table of an order lacks. Raises UsageError for an order that has no table."""
    return lacked_by(order_table(order), atomics=atomics, messages=messages)


def fact_meaning(fact: str) -> str:
    """Return what a fact says, in a sentence."""
    said = next(each.__doc__ or "" for each in FACTS if each.__name__ == fact)
    return " ".join(said.split())
