"""The facts that an order table has to have so that the checker's normal form is proven for it, and tables that keep less.

Written from docs/proof-tables.md ("The facts with remote atomics") and docs/theory.md ("Tables that lack a fact") alone: the
rest of the tool has a reading of its own, on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from rdma_robust.certify.document import reject, string
from rdma_robust.certify.hardware import CARD_READS, NIC_WRITES, Platform, kept_between
from rdma_robust.certify.own_tables import TABLE_WRITES, TYPES, OwnTable, UnreadableTable, put_cell
from rdma_robust.language.flow.cfg import Program, RemoteRmw, steps

_SOURCES: Final = ("nlR", "nmR")

UNDER: Final = "under"
"""The member of evidence for ROBUST with the order that it is about, where that is a weaker one than the claim's."""

_ATOMICS: Final = ("naR", "naW")
_SENDS: Final = ("nmR", "nmW")


def weaker_platform(
    program: Program, platform: Platform, evidence: Mapping[str, object]
) -> tuple[Platform, Mapping[str, object]]:
    """Return the hardware that evidence for ROBUST is about, which has no fewer executions than the claim's, and the
    evidence without what says so. Raises InvalidCertificate for hardware without a proven normal form."""
    rest = {name: value for name, value in evidence.items() if name != UNDER}
    about = platform
    if UNDER in evidence:
        about = replace(platform, order=string(evidence[UNDER], "`evidence.under`"))
        try:
            weaker = keeps_no_less(platform, about)
        except (UnreadableTable, ValueError) as error:
            reject(f"`evidence.under` is no table of orders: {error}")
        if not weaker:
            reject("`evidence.under` keeps something in order that the order of the claim does not")
    if platform.own is not None and program.has_regions:
        reject("no normal form is proven for relaxed regions under an order table of its own")
    if platform.own is not None and platform.own.any_receive:
        reject("no normal form is proven where a message may take any receive")
    if about.own is not None:
        if program.crowds:
            reject("no normal form is proven for any number of threads under an order table of its own")
        if about.own.placed:
            reject("no normal form is proven where completions tell that writes were placed")
        lacks = next(missing_facts(about.own, atomics=True, messages=about.how.messages), None)
        if lacks is not None and _has_atomics(program):
            reject(f"no normal form is proven for order {about.own.name}, which lacks the fact {lacks}")
    return about, rest


def _has_atomics(program: Program) -> bool:
    return any(isinstance(step.op, RemoteRmw) for thread in program.threads for _, _, step in steps(thread))


def missing_facts(own: OwnTable, *, atomics: bool, messages: bool) -> Iterator[str]:
    """Yield the facts that a table lacks, of those about programs with remote atomics, with messages, or without."""
    without = (*(() if atomics else _ATOMICS), *(() if messages else _SENDS))
    types = tuple(each for each in TYPES if each not in without)
    writes = tuple(each for each in types if each in TABLE_WRITES)
    reads = tuple(each for each in types if each not in TABLE_WRITES)
    pushes = [pair for pair in product(reads, writes) if " ".join(put_cell(pair)) in own.pushes]

    def issued(earlier: str, later: str) -> bool:
        return own.cells[earlier, later] in ("qp", "i")

    def seen(earlier: str, later: str) -> bool:
        return own.cells[earlier, later] == "qp"

    def only_issued(write: str, later: str) -> bool:
        before = [a for a in reads if issued(a, write)]
        pushed = [a for a in reads if (a, write) in pushes]
        by_fence = (write, later) == ("nlW", "nF")
        return all(seen(a, later) for a in before) and all(
            seen(a, later) and (seen(write, a) or (by_fence and a in _SOURCES)) for a in pushed
        )

    def lands(read: str, write: str) -> bool:
        return seen(write, read) and (read != "naR" or write == "naW" or issued(read, write))

    facts: dict[str, Callable[[], bool]] = {
        "chain": lambda: all(issued(a, c) for a, b, c in product(reads, writes, writes) if issued(a, b) and issued(b, c)),
        "flush_chain": lambda: all(
            ((read, c) in pushes and seen(write, c)) or (issued(read, c) and seen(write, read))
            for (read, write), c in product(pushes, writes)
            if issued(write, c)
        ),
        "issue_only": lambda: all(only_issued(a, b) for a, b in product(writes, reads) if issued(a, b) and not seen(a, b)),
        "flush_poll": lambda: all(lands(*pair) for pair in pushes if pair[0] in ("nrR", "naR") and pair != ("nrR", "naW")),
        "fence": lambda: all(issued("nlW", "nF") and seen("nF", read) for read, write in pushes if write == "nlW"),
        "rmw_row": lambda: not atomics or all(issued("naR", c) for c in types if issued("naW", c)),
        "rmw_column": lambda: not atomics or all(seen(a, "naR") for a in types if seen(a, "naW")),
        "receive_chain": lambda: not messages or all(_behind_receive(own, m, writes, types) for m in ("nrW", "nmW")),
    }
    yield from (name for name, has in facts.items() if not has())


def _behind_receive(own: OwnTable, message: str, writes: Sequence[str], types: Sequence[str]) -> bool:
    """Whether what is issued behind a message by way of writes is behind the message itself, or observed behind one of these
    or behind the read of an atomic."""
    issued = [cell for cell, kept in own.cells.items() if kept in ("qp", "i")]
    behind = [message]
    for b in behind:
        behind += [c for c in writes if (b, c) in issued and c not in behind]
    by_read = {c for c in types if (message, "naR") in issued and own.cells["naR", c] == "qp"}
    steps = ((b, c) for b, c in product(behind, types) if (b, c) in issued and own.cells[b, c] != "qp")
    return all((message, c) in issued or (b == "naW" and c in by_read) for b, c in steps)


def keeps_no_less(one: Platform, two: Platform) -> bool:
    """Return whether an order keeps everything that the other keeps, all else of the hardware being the same."""
    rules = (
        (one.promised, two.promised),
        (one.own is not None and one.own.placed, two.own is not None and two.own.placed),
    )
    pushes = all(one.flushes(read, write) or not two.flushes(read, write) for read in CARD_READS for write in NIC_WRITES)
    polled = not two.completions_order or _at_least(one.behind_polls if one.completions_order else one, two.behind_polls)
    return _at_least(one, two) and pushes and polled and all(mine or not other for mine, other in rules)


def _at_least(one: Platform, two: Platform) -> bool:
    pairs = ((kept_between(one, *pair), kept_between(two, *pair)) for pair in product(TYPES, TYPES))
    return all(other == "-" or mine in (other, "qp") for mine, other in pairs)
