"""An order table as a record: what a network keeps of the order of a queue pair.

Source: docs/order-files.md, "The format"; docs/model.md, "Preserved order".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

Cells = Mapping[tuple[str, str], str]
"""What is kept of program order, by the names of the types of the earlier and the later event: `all`, `qp` (of one queue
pair), `i` (issued in order, observed in any), `-`, or `(-)`, which is `qp` with ordered reads and else `-`."""

TYPES: Final = ("nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW")
"""The types of events of which a table says something: its rows and columns. nA has the row and the column of naR."""

WRITES: Final = ("nrW", "nlW", "naW")
"""Those that are issued first, and observed later: only their rows can tell the two apart."""

MESSAGE: Final = "nmW"
"""The write of a send, of which a table may say something else than of nrW."""

SOURCE: Final = "nmR"
"""The read of what a send carries. Tables say nothing of it but what they say of nlR, and what follows from nmW."""

UPDATES: Final[Mapping[str, str]] = {"nuR": "naR", "nuW": "naW"}
"""The read and the write of an atomic that fetches nothing, of which a table may say something else than of naR and naW."""

ATOMIC_ROWS: Final = frozenset({"naR", "naW", *UPDATES})

VARIANT_OF: Final[Mapping[str, str]] = {MESSAGE: "nrW", SOURCE: "nlR", **UPDATES}
"""The types of events of which a table may say something else than of others, and which those are: the events of a send, and
those of a put; those of an atomic without an answer, and those of one with."""

ALL_TYPES: Final = (*TYPES, *VARIANT_OF)

NAMED_TYPES: Final = (*TYPES, MESSAGE, *UPDATES)
"""The types that a file can name."""

ALL_WRITES: Final = (*WRITES, MESSAGE, "nuW")

READ_BEFORE: Final[Mapping[str, tuple[str, ...]]] = {
    "nrW": ("nlR",),
    "nlW": ("nrR", "naR", "nuR"),
    MESSAGE: (SOURCE,),
}
"""The read that comes first in the operation of a write; nuR, which no answer follows, is as naR where nothing is said of
it."""

Receives = Literal["earlier", "own"]
Tells = Literal["source", "placed"]
Matching = Literal["in order", "any"]

PUSHABLE: Final = (("nlR", "nlW"), ("nrR", "nrW"), ("nrR", "naW"), ("naR", "nrW"), ("naR", "naW"))
"""The reads of which a table can say that they push writes of their side out of their buffers (nfo), with these."""

_FENCED: Final = ("nrW", MESSAGE, "naR", "naW", *UPDATES)

FIXED: Final[Cells] = {
    **{("CPU", later): "all" for later in ("CPU", *ALL_TYPES, "nO", "FL")},
    **{(earlier, "CPU"): "-" for earlier in (*ALL_TYPES, "nO")},
    **{(earlier, "FL"): "qp" for earlier in (*ALL_TYPES, "nO")},
    **{(earlier, "nO"): "qp" if earlier in (*_FENCED, "nF") else "-" for earlier in (*ALL_TYPES, "nO")},
    **{("nO", later): "qp" if later in _FENCED else "-" for later in ALL_TYPES},
    ("nO", "nO"): "qp",
}
"""The cells that are the same in all tables: a CPU waits for no card unless it polls, and what `order` and `flush` mean."""


@dataclass(frozen=True)
class OrderTable:
    """A table that says what is kept of the order of a queue pair.

    Attributes:
        name: what it is called.
        cells: what is kept of program order, by the types of the earlier and the later event, those of sends among them.
        pushes: the types of a read and a write that nfo orders: the read pushes the write out of its buffer.
        receives: what a receive completion tells of beside its message: all `earlier` remote writes and atomics of the
            sender's queue pair, or those of the message's `own` request.
        behind_polls: the order whose table holds for what is posted behind a poll and the operations that the poll tells of,
            if it is another one: an acknowledged write has left the network, and the card of the other side writes in the
            order of arrival.
        by_word: whether atomics of one origin on one word keep their order where the cells do not.
        says: why two requests of one queue pair are not kept in order, if that is the same for all.
        title, source, based_on: what it is, who says so, and the table that it changes.
        why: a sentence or an address for a cell or a rule.
        written: the cells as they are written, without what follows from them. A cell may be `?`, not known: then `cells`
            has the weaker reading.
        variants: what is written of the writes of sends, nmW, where it is not what is written of nrW, and of the events of
            atomics without an answer, nuR and nuW, where it is not that of naR and naW.
        tells: what a polled completion of a remote write says: that its `source` was read, or that it was `placed`.
        matching: which posted receive a message takes: the next one, `in order`, or `any`.
    """

    name: str
    cells: Cells
    pushes: frozenset[tuple[str, str]] = frozenset()
    receives: Receives = "earlier"
    behind_polls: str = ""
    by_word: bool = False
    says: str = ""
    title: str = ""
    source: str = ""
    based_on: str = ""
    why: Mapping[str, str] = field(default_factory=dict)
    written: Cells = field(default_factory=dict)
    variants: Cells = field(default_factory=dict)
    tells: Tells = "source"
    matching: Matching = "in order"

    @property
    def unknown(self) -> tuple[tuple[str, str], ...]:
        """The cells of which nobody says whether they are kept."""
        return tuple(cell for cell, kept in {**self.written, **self.variants}.items() if kept == UNKNOWN)


UNKNOWN: Final = "?"


def plain_cell(cell: tuple[str, str]) -> tuple[str, str]:
    """Return the cell that says of puts what a cell says of sends, and of atomics with an answer what it says of others."""
    earlier, later = (VARIANT_OF.get(each, each) for each in cell)
    return earlier, later


def with_written(
    table: OrderTable, written: Cells, pushes: frozenset[tuple[str, str]], variants: Cells | None = None
) -> OrderTable:
    """Return a table with other cells and other reads that push writes, and what follows from these cells; also with other
    cells of `variants`."""
    said = _of_their_own(written, table.variants if variants is None else variants)
    known = {cell: "-" if kept == UNKNOWN else kept for cell, kept in of_all_types(written, said).items()}
    cells = closed(known, said)
    kept = {**FIXED, **(ordered_by_word(cells) if table.by_word else cells)}
    return replace(table, cells=kept, written=written, pushes=pushes, variants=said)


def _of_their_own(written: Cells, variants: Cells) -> Cells:
    """Return the cells of variants without those that say what is so anyway."""
    found: dict[tuple[str, str], str] = {}
    for cell in sorted(variants, key=lambda cell: (len({*cell} & {*VARIANT_OF}), cell)):
        if variants[cell] != {**written, **found}[said_in(cell, found)]:
            found[cell] = variants[cell]
    return found


def _candidates(cell: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    one, two = ("nlR" if each == SOURCE else each for each in cell)
    as_fetch = UPDATES.get(one, one), UPDATES.get(two, two)
    as_of_puts = one.replace(MESSAGE, "nrW"), two.replace(MESSAGE, "nrW")
    return tuple(dict.fromkeys(((one, two), as_fetch, as_of_puts, plain_cell(cell))))


_SAID_IN: Final = {(a, b): _candidates((a, b)) for a in ALL_TYPES for b in ALL_TYPES}
_OF_VARIANTS: Final = tuple(cell for cell, places in _SAID_IN.items() if len(places) > 1)


def said_in(cell: tuple[str, str], variants: Cells) -> tuple[str, str]:
    """Return the cell from which a cell of any types is read: its own if there is one, that of atomics that fetch, that of
    puts, or that of both."""
    *own, plain = _SAID_IN[cell]
    return next((each for each in own if each in variants), plain)


def of_all_types(written: Cells, variants: Cells) -> dict[tuple[str, str], str]:
    """Return cells with those of variants, which are as `variants` says, else as those of what they are variants of."""
    found = {cell: written[places[-1]] for cell, places in _SAID_IN.items()}
    for cell in _OF_VARIANTS if variants else ():
        where = said_in(cell, variants)
        found[cell] = variants.get(where, found[cell])
    return found


def ordered_by_word(cells: Cells) -> dict[tuple[str, str], str]:
    """Return the cells with what is not kept of atomics kept where they are on one word."""
    pairs = [(a, b) for a in ATOMIC_ROWS for b in ATOMIC_ROWS if cells[a, b] == "-"]
    return {**cells, **dict.fromkeys(pairs, "word")}


def closed(cells: Cells, said: Cells) -> dict[tuple[str, str], str]:
    """Return the cells with what follows from the parts of one operation: what a write is issued before, the read that is
    before it in its operation is observed before. Of the cells `said` of atomics without an answer nothing follows."""
    found = dict(cells)
    for write, reads in READ_BEFORE.items():
        for later in ALL_TYPES:
            if cells[write, later] in ("qp", "i"):
                weak = (read for read in reads if cells[read, later] in ("-", "(-)"))
                found.update({(read, later): "qp" for read in weak if said_in((read, later), said)[0] not in UPDATES})
    return found
