"""The oracle's search: every choice of rf, mo, nfo and rao of one candidate, one decision at a time; and every way in which
messages that may take any posted receive can do so (docs/deployed.md, "Any posted receive")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import perm, prod
from time import monotonic
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.connections import connection_ends, has_long_messages
from rdma_robust.semantics.oracle.candidate import INITIAL, CandidateExecution, PathOrder
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.waits import messages_wait


class Budget:
    """Counts decisions; `spend` raises SizeLimitError when their number or the time is used up."""

    def __init__(self, decisions: int, timeout: float | None) -> None:
        self.decisions = decisions
        self.timeout = timeout
        self.spent = 0
        self.end = None if timeout is None else monotonic() + timeout

    def spend(self) -> None:
        self.spent += 1
        if self.spent > self.decisions:
            raise SizeLimitError(f"the oracle needs more than {self.decisions} decisions for this program")
        if self.spent % 1024 == 0 and self.end is not None and monotonic() > self.end:
            raise SizeLimitError(f"the oracle needs more than {self.timeout:g} s for this program")


class ChoiceSearch:
    """Enumerates the RDMA-consistent choices of rf and mo of one candidate.

    nfo and rao matter for consistency alone, so they are chosen last and one choice is enough.
    """

    def __init__(self, base: CandidateExecution, budget: Budget, leaf: Callable[[Partial], bool]) -> None:
        self.base = base
        self.budget = budget
        self.leaf = leaf
        self.pairs = [(a, b) for ws in base.writes.values() for i, a in enumerate(ws) for b in ws[i + 1 :]]
        self.reads = sorted(base.reads, key=lambda r: len(base.sources[r]))
        self.choices = base.choices()

    def run(self) -> bool:
        """Call `leaf` for every choice of rf and mo with acyclic ob so far; stop and return True when it says so."""
        if self.base.impossible:
            return False
        partial = Partial(self.base)
        return partial.connect() and self.order_writes(0, partial)

    def order_writes(self, k: int, partial: Partial) -> bool:
        self.budget.spend()
        while k < len(self.pairs):
            a, b = self.pairs[k]
            k += 1
            if partial.ob_after[b] >> a & 1:
                a, b = b, a
            elif not partial.ob_after[a] >> b & 1:
                other = partial.copy()
                if other.modify_before(a, b) and self.order_writes(k, other):
                    return True
                a, b = b, a
            if not partial.modify_before(a, b):
                return False
        return self.choose_sources(0, partial)

    def choose_sources(self, k: int, partial: Partial) -> bool:
        self.budget.spend()
        while k < len(self.reads):
            read = self.reads[k]
            k += 1
            options = self.options(read, partial)
            if not options:
                return False
            for write in options[:-1]:
                other = partial.copy()
                if other.read_from(read, write) and self.choose_sources(k, other):
                    return True
            if not partial.read_from(read, options[-1]):
                return False
        return self.leaf(partial)

    def options(self, read: int, partial: Partial) -> list[int]:
        """The writes that the read may still read from: none that is ob-later, unless it comes out of the own store buffer,
        and none that an ob-earlier write overtook."""
        base = self.base
        before = partial.ob_before[read]
        after = partial.ob_after[read]
        allowed = base.allowed[read]
        found = []
        for write in base.sources[read]:
            if write == INITIAL:
                possible = not before & base.rivals[read]
            elif (after >> write & 1 and not base.forwards(write, read)) or before & partial.mo_after[write]:
                possible = False
            else:
                possible = not partial.known_writes >> write & 1 or partial.written[write] in allowed
            if possible:
                found.append(write)
        return found

    def flush(self, partial: Partial, k: int = 0) -> Partial | None:
        """Return an extension of the leaf by a consistent choice of nfo and rao, or None if there is none."""
        self.budget.spend()
        partial = partial.copy()
        while k < len(self.choices):
            open_ = [way for way in self.choices[k] if way is not None and not partial.ob_after[way[0][1]] >> way[0][0] & 1]
            k += 1
            if not open_:
                return None
            for way in open_[:-1]:
                other = partial.copy()
                if other.add_all(way):
                    finished = self.flush(other, k)
                    if finished is not None:
                        return finished
            if not partial.add_all(open_[-1]):
                return None
        return partial


MOST_WAYS: Final = 5_040
"""Ways to take receives that are looked at for one path of each thread."""


def in_any_order(program: Program, blocks: Sequence[PathOrder]) -> Iterator[list[PathOrder]]:
    """Yield the paths with every choice of a receive for each message but the one in which each takes that of its turn.

    Every message needs one: there is nothing where a connection has fewer receives. Raises SizeLimitError beyond
    `MOST_WAYS`, and for what is not argued: messages of several words, and those that wait (`rnr wait`).
    """
    ends = connection_ends(program, [block.path.events for block in blocks])
    sent = [(messages, len(ends.receives.get(each, ()))) for each, messages in ends.messages.items()]
    if all(receives < 2 for _, receives in sent):
        return
    if has_long_messages(program):
        raise SizeLimitError("a message of several words may take any posted receive")
    if messages_wait(program):
        raise SizeLimitError("a message that waits (rnr wait) may take any posted receive")
    if prod(perm(receives, len(messages)) for messages, receives in sent) > MOST_WAYS:
        raise SizeLimitError(f"the messages can take receives in more than {MOST_WAYS} ways, too many for the oracle")
    ways = [permutations(range(receives), len(messages)) for messages, receives in sent]
    for way in product(*ways):
        if any(taken != tuple(range(len(taken))) for taken in way):
            places = [place for messages, _ in sent for place in messages]
            yield _taking(blocks, dict(zip(places, (number for taken in way for number in taken), strict=True)))


def _taking(blocks: Sequence[PathOrder], takes: dict[tuple[int, int], int]) -> list[PathOrder]:
    found = []
    for thread, block in enumerate(blocks):
        events = [replace(e, takes=takes.get((thread, place))) for place, e in enumerate(block.path.events)]
        found.append(replace(block, path=replace(block.path, events=tuple(events))))
    return found
