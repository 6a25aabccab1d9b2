"""docs/proof-tables.md: what the proofs need of a table of preserved order, and which one-cell changes leave that whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sitegen.text import GENERATED, table
from sitegen.theorems import printed

FACTS: Final = {
    "cpu_row": ("the row of a CPU event is `all`", "Lemma 1, Lemma 3 (e) and (f), Corollary 4"),
    "operation": ("nlR before nrW and nrR before nlW are kept: the two events of an operation", "Lemma 2, Lemma 3 (f)"),
    "inst_row": ("only the rows of nrW and nlW have a cell `i`", "Lemma 3 (b)"),
    "queue_pairs": ("between events of the NIC no cell is `all`", "Lemma 3 (d)"),
    "chain": ("what is issued before a NIC write is issued before the NIC writes that follow that one", "Lemma 3 (d)"),
    "flush_chain": (
        "the same where nfo stands before the NIC write: the next one is of its type and kept, or the read is issued "
        "before it, and what nfo has put last is observed before the read",
        "Lemma 3 (d)",
    ),
    "issue_only": (
        "where a NIC write's cell is `i`, all that is before the NIC write by ippo or nfo is observed before the later "
        "event; nlR, nlW, nF is left to R3",
        "Lemma 3 (e)",
    ),
    "forcing_only": ("of the NIC's events that are no NIC writes only nlR and nF are issued before nrW", "Lemma 3 (f)"),
    "flush_poll": ("with nfo, nrW before nrR is kept", "Lemma 3 (f)"),
    "forcing_cells": ("nlR and nF are issued before nrW", "Lemma 3, only if; Theorem 5 (R2)"),
    "fence": ("with nfo, nlW before nF is in ippo, and nF before nlR is kept", "Lemma 3, only if; Theorem 7 (F3)"),
    "card_row": ("with store buffers, no event of the NIC is before one of a CPU", "Lemma 3, with store buffers"),
}
"""What each fact says, and which proof uses it first; the names are those of proofs/core/Hardware.v."""

ATOMIC_FACTS: Final = {
    "cpu_row": ("the row of a CPU event is `all`", "Lemma 3 (e) and (f)"),
    "operation": (
        "nlR before nrW, and nrR, naR and nA before nlW, are kept; or what the write is issued before, the read is",
        "Lemma 3 (d) and (e)",
    ),
    "inst_row": ("only the rows of nrW, nlW and naW have a cell `i`", "Lemma 3 (b)"),
    "queue_pairs": ("the rows of the NIC's events have no cell `all`", "Lemma 3 (d)"),
    "chain": ("what is issued before a NIC write is issued before the NIC writes that follow that one", "Lemma 3 (d)"),
    "flush_chain": (
        "the same where nfo stands before the NIC write: nfo orders the read and the next one too and that one is kept, or "
        "the read is issued before it, and what nfo has put last is observed before the read",
        "Lemma 3 (d)",
    ),
    "issue_only": (
        "where a NIC write's cell to an event that is none is `i`, all that is before the NIC write by ippo or nfo is "
        "observed before the later event; nlR, nlW, nF is left to the rule of fences",
        "Lemma 3 (e)",
    ),
    "flush_poll": (
        "with nfo, nrW before nrR, naR, nA, naW before naR, and naR, nA before nrW are kept",
        "Lemma 3 (f); nothing between naR and naW of the pivot",
    ),
    "fence": ("with nfo, nlW before nF is in ippo, and nF before nlR is kept", "Lemma 3, only if"),
    "rmw_row": ("what naW is issued before, naR is", "Lemma 3 (d) and (e), Lemma 2 (2)"),
    "rmw_column": ("what is observed before naW is observed before naR", "Lemma 2 (2)"),
}
"""The same for tables with remote atomics; the names are those of proofs/deployed/RemoteAtomicsHardware.v."""

KINDS: Final = {"LR": "CPU", "NLR": "nlR", "NRW": "nrW", "NRR": "nrR", "NLW": "nlW", "NF": "nF"}
ATOMIC_KINDS: Final = KINDS | {"NAR": "naR, nA", "NAW": "naW"}
CELLS: Final = {"All": "all", "Qp": "qp", "Issue": "i", "Never": "-"}
HARDWARE: Final = {
    "default": ("The paper's model", "With reads in any order; with ordered reads the facts are the same"),
    "weaker": ("Multipath and relaxed", "Here nfo is empty; the two differ in cells of remote atomics only"),
}
ATOMIC_HARDWARE: Final = {
    "atomics default": (
        "Remote atomics, order default",
        "With reads in any order; with ordered reads the facts are the same",
    ),
    "atomics multipath": ("Remote atomics, order multipath", "Here nfo is empty"),
    "atomics relaxed": (
        "Remote atomics, order relaxed",
        "Here nfo is empty; naR and naW of one atomic are ordered all the same",
    ),
}

_GENERATED: Final = GENERATED.replace("from the code: edit the code", "from what Coq prints: edit proofs/core/Hardware.v")

_HEAD: Final = """\
# Which tables the proofs cover

{generated}

The table of preserved order is a parameter of [the proofs](proof.md): [Hardware.v](../proofs/core/Hardware.v) lists
what Lemma 1 to Theorem 7 ask of its cells, and Coq decides by computation whether a table has it. The tool's hardware
has: two gets in order or not, `order default`, `multipath` and `relaxed`
([`Hardware.flags_ok`](proof.md#hardwareflags_ok)), each with CPUs that are sequentially consistent and with [store
buffers](theory-deployed.md#store-buffers) ([`Hardware.tso_ok`](proof.md#hardwaretso_ok)). So for hardware with another table
there is one thing to do: ask Coq for the facts. Where one does not hold, the statement that uses it needs another
argument, or is false there: that a fact fails is no proof that the theorem does. The search (Theorem 8) asks two
facts more, `search_ok` in [Search.v](../proofs/search/Search.v): nothing of the NIC is observed before an event of a
CPU, and an nrW is not observed before an nF. All hardware of the tool has them; of the changes below, those of a cell
from the NIC to the CPU, and that of nrW before nF to `qp`, have not.

## The facts

{facts}

## The facts with remote atomics

[RemoteAtomicsHardware.v](../proofs/deployed/RemoteAtomicsHardware.v): what the proofs [with remote
atomics](theory-atomics.md#remote-atomics) ask of a table with rows and columns for naR, naW and nA; the same orders have
them. Two lemmas have another argument than without: *Lemma 3 (f)*, where naR and nA may stand before an nrW by nfo, and
*Lemma 2 (2)*, which is proven for slots, also of naW that do not happen. What the orders of atomics (rao) add to Lemma 3
does not look at the table.

{atomic_facts}
"""

_CHANGES: Final = """\
## {title}

{text}. Each of the {cells} cells (all CPU events have one row
and one column) with each other value it could have:
{kept} of {all} changes keep every fact, and so {so} ([`{theorem}`](proof.md#{anchor})).
{dropped} of the {weaker} changes that keep less order are among them.

{table}
"""

_LEMMAS: Final = "Lemma 1 to Theorem 7 with sequentially consistent CPUs"
_FORM: Final = "the normal form with remote atomics"
"""What is proven of tables that have every fact."""

_STRENGTH: Final = ("Never", "Issue", "Qp", "All")


def proof_tables() -> str:
    """Return the text of docs/proof-tables.md."""
    head = _HEAD.format(generated=_GENERATED, facts=_facts(FACTS), atomic_facts=_facts(ATOMIC_FACTS))
    return "\n".join((head, *_sections(HARDWARE, KINDS, "Changes.changes_ok", _LEMMAS), *_atomic_sections()))


def _atomic_sections() -> Iterator[str]:
    return _sections(ATOMIC_HARDWARE, ATOMIC_KINDS, "RemoteAtomicsChanges.changes_atomics_ok", _FORM)


def _facts(facts: Mapping[str, tuple[str, str]]) -> str:
    return table(("fact", "says", "first used in"), ((f"`{name}`", says, used) for name, (says, used) in facts.items()))


def listed(name: str) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return for each cell (earlier, later) the other values, and the facts that do not hold with them."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for line in printed().changes[name].splitlines():
        earlier, later, new, *facts = line.split()
        found.setdefault((earlier, later), {})[new] = facts
    return found


def current(values: dict[str, list[str]]) -> str:
    """Return the value that the cell has: the one that no change of it leads to."""
    (value,) = CELLS.keys() - values
    return value


def _sections(hardware: Mapping[str, tuple[str, str]], kinds: Mapping[str, str], theorem: str, so: str) -> Iterator[str]:
    for name, (title, text) in hardware.items():
        cells = listed(name)
        every = [(current(values), new, facts) for values in cells.values() for new, facts in values.items()]
        weaker = [facts for now, new, facts in every if _STRENGTH.index(new) < _STRENGTH.index(now)]
        rows = (
            (kinds[earlier], kinds[later], CELLS[current(values)], _proven(values), _not_proven(values))
            for (earlier, later), values in cells.items()
        )
        yield _CHANGES.format(
            title=title,
            text=text,
            cells=len(cells),
            so=so,
            theorem=theorem,
            anchor=theorem.lower().replace(".", ""),
            kept=sum(not facts for _, _, facts in every),
            all=len(every),
            dropped=sum(not facts for facts in weaker),
            weaker=len(weaker),
            table=table(("earlier", "later", "cell", "proven too with", "not with"), rows),
        )


def _proven(values: dict[str, list[str]]) -> str:
    return ", ".join(f"`{CELLS[new]}`" for new, facts in values.items() if not facts)


def _not_proven(values: dict[str, list[str]]) -> str:
    broken = (f"`{CELLS[new]}`: {', '.join(facts)}" for new, facts in values.items() if facts)
    return "; ".join(broken)
