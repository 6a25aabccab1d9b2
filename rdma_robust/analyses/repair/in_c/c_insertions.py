"""Insertions into a C program by which it waits or keeps an order, and the text with them.

A place is a statement of the C, however often the program comes by it: what is put there is there in every copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from rdma_robust.analyses.repair.edits import SourceEdit, apply_edits
from rdma_robust.analyses.repair.repairs import Barrier, Costs
from rdma_robust.c.front.statement_places import CallText, CStatement, StatementFinder
from rdma_robust.c.libraries.mpi import TARGETS
from rdma_robust.c.libraries.openshmem import FUNCTIONS
from rdma_robust.digraph import by_key
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import CpuOp, MFence, Op, Program, Put, Read, Send, Silent, Step, peer_of, steps

InsertionKind = Literal["signaled", "fenced", "inline", "poll", "mfence", "flush", "order"]
FLAGS: Final = ("signaled", "fenced", "inline")
"""The kinds that are flags of a request, which is posted behind them."""
_COSTS: Final = {"poll": Barrier.POLL, "flush": Barrier.FLUSH, "order": Barrier.ORDER, "mfence": Barrier.MFENCE}
"""What costs as much; the flags of a request cost as much as a remote fence."""
_RDMACM: Final = ("rdma_post_write", "rdma_post_read", "rdma_post_send")
_FLAGS_AT: Final = 5
"""The place of the flags among their arguments."""
_NAME: Final = re.compile(r"\w+(?:(?:->|\.)\w+|\[\w+\])*")
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_FENCES: Final = "stdatomic.h"


@dataclass(frozen=True, slots=True)
class CInsertion:
    """A `text` before `statement` that sets a flag of its request, or behind it one that waits or keeps an order.

    `places` are the steps with which the program comes by there, by thread and place in the C; `node` is the other end.
    """

    kind: InsertionKind
    statement: CStatement
    text: str
    node: str
    places: frozenset[tuple[int, Span]]
    depth: int
    header: str = ""

    def cost(self, costs: Costs) -> int:
        """Return what it costs, once for the statement in the C."""
        return costs.of(_COSTS.get(self.kind, Barrier.RFENCE), self.depth)

    @property
    def order(self) -> tuple[int, int, str, int, str]:
        """The key by which of those that cost the same the one comes first that fewer steps come by."""
        return len(self.places), self.depth, self.statement.file, self.statement.start, self.kind


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement by which a step comes, with the call that makes it, which stands there if it is `own`."""

    statement: CStatement
    call: CallText | None
    depth: int
    own: bool


@dataclass
class CInsertions:
    """All insertions into a program, where its C has statements that `finder` sees; `file` is its own name."""

    program: Program
    finder: StatementFinder
    file: str
    buffers: bool

    @cached_property
    def all(self) -> tuple[CInsertion, ...]:
        """Every insertion, those of one text at one statement as one."""
        found: dict[tuple[str, CStatement, str], CInsertion] = {}
        for number, thread in enumerate(self.program.threads):
            for _, _, step in steps(thread):
                for place in self._places(step.span):
                    for made in self._of_step(step, place, (number, step.span)):
                        key = (made.kind, made.statement, made.text)
                        known = found.get(key)
                        found[key] = made if known is None else _joined(known, made)
        return tuple(sorted(found.values(), key=lambda each: each.order))

    def _places(self, span: Span) -> Iterator[_Place]:
        """Yield the statements of a step, from the innermost outwards, each with the call of the innermost place."""
        chain: list[Span] = []
        here: Span | None = span
        while here is not None:
            chain.append(here)
            here = here.origin
        found = [self.finder.statement(*self._raw(each)) for each in chain]
        call = self.finder.call(*self._raw(chain[0]))
        for level, each in enumerate(found):
            if each is not None:
                around = sum(outer.loops for outer in found[level:] if outer is not None)
                yield _Place(each, call, around, level == 0)

    def _raw(self, span: Span) -> tuple[str, int, int]:
        """Return a place as libclang counts it."""
        if span.file:
            return span.file, span.line, span.column
        line = self.program.source.split("\n")[span.line - 1]
        return self.file, span.line, len(line[: span.column - 1].encode("utf-8", "surrogateescape")) + 1

    def _of_step(self, step: Step, place: _Place, at: tuple[int, Span]) -> Iterator[CInsertion]:
        for kind, text in self._texts(step.op, place):
            if place.own if kind in FLAGS else not place.statement.leaves:
                node, header = peer_of(step.op) or "", _FENCES if kind == "mfence" else ""
                yield CInsertion(kind, place.statement, text, node, frozenset({at}), place.depth, header)

    def _texts(self, op: Op, place: _Place) -> Iterator[tuple[InsertionKind, str]]:
        """Yield what can be put beside a step; what it names means the same further out, or is not understood there."""
        call = place.call
        if isinstance(op, CpuOp):
            if self.buffers and not isinstance(op, Read | Silent | MFence):
                yield "mfence", "atomic_thread_fence(memory_order_seq_cst);"
        elif call is None:
            return
        elif call.name in FUNCTIONS:
            context = call.arguments[0] if FUNCTIONS[call.name].has_context and call.arguments else ""
            yield "order", f"shmem_ctx_fence({context});" if context else "shmem_fence();"
            yield "flush", f"shmem_ctx_quiet({context});" if context else "shmem_quiet();"
        elif call.name in TARGETS and call.arguments:
            rank, window = (call.arguments[each] for each in TARGETS[call.name])
            yield "flush", f"MPI_Win_flush({rank}, {window});"
        elif call.name == "ibv_post_send" and len(call.arguments) == 3:
            flags = f"{_member(call.arguments[1])}send_flags |= IBV_SEND_"
            yield from _of_request(op, flags, f"{_object(call.arguments[0])}->send_cq")
        elif call.name in _RDMACM and len(call.arguments) > _FLAGS_AT:
            yield from _of_request(op, "", f"{_object(call.arguments[0])}->send_cq")


def _of_request(op: Op, flags: str, queue: str) -> Iterator[tuple[InsertionKind, str]]:
    """Yield what helps a request of verbs; `flags` begins the statement that sets one, where one can be set."""
    yield "poll", f"while (ibv_poll_cq({queue}, 1, &(struct ibv_wc){{ 0 }}) == 0) ;"
    if flags:
        yield "fenced", f"{flags}FENCE;"
        if not getattr(op, "signaled", True):
            yield "signaled", f"{flags}SIGNALED;"
        if isinstance(op, Put | Send):
            yield "inline", f"{flags}INLINE;"


def _joined(one: CInsertion, other: CInsertion) -> CInsertion:
    places = one.places | other.places
    nodes = dict.fromkeys(filter(None, (*one.node.split(", "), other.node)))
    depth = max(one.depth, other.depth)
    return CInsertion(one.kind, one.statement, one.text, ", ".join(nodes), places, depth, one.header)


def _member(pointer: str) -> str:
    """Return how a member of what a pointer points to begins."""
    if pointer.startswith("&") and _NAME.fullmatch(pointer[1:].strip()):
        return f"{pointer[1:].strip()}."
    return f"{_object(pointer)}->"


def _object(text: str) -> str:
    return text if _NAME.fullmatch(text) else f"({text})"


# The text with insertions.


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file with insertions: its text, what was done to it, and where each of its insertions begins."""

    text: str
    edits: tuple[SourceEdit, ...]
    starts: tuple[int, ...]


def with_insertions(chosen: Sequence[CInsertion], text: str) -> PatchedFile:
    """Return the text of a file with those of its insertions: what is put at one statement is one edit before it and one
    behind it. `starts` are in the order of `chosen`."""
    at = by_key((each.statement, each) for each in sorted(chosen, key=lambda one: one.kind))
    edits = [edit for statement, here in at.items() for edit in _beside(statement, here, text)]
    header = next((each.header for each in chosen if each.header and f"<{each.header}>" not in text), "")
    if header:
        found = _INCLUDE.search(text)
        edits.append(SourceEdit(found.start() if found else 0, f"#include <{header}>\n"))
    edits.sort(key=lambda edit: edit.offset)
    made, _ = apply_edits(text, edits)
    return PatchedFile(made, tuple(edits), tuple(_start(each, edits) for each in chosen))


def _start(each: CInsertion, edits: Sequence[SourceEdit]) -> int:
    """Return where in the new text an insertion begins."""
    said = each.text
    moved = 0
    for edit in edits:
        within = edit.text.find(said)
        if within >= 0 and edit.offset >= each.statement.start:
            return edit.offset + moved + within
        moved += len(edit.text) - edit.removed
    return 0


def _beside(statement: CStatement, here: Sequence[CInsertion], text: str) -> Iterator[SourceEdit]:
    """Yield what is put before a statement and behind it."""
    before = [each.text for each in here if each.kind in FLAGS]
    behind = [each.text for each in here if each.kind not in FLAGS]
    line = text[text.rfind("\n", 0, statement.start) + 1 : statement.start]
    own_line = not line.strip() and not statement.alone
    gap = f"\n{line}" if own_line else " "
    opening, closing = ("{ ", " }") if statement.alone else ("", "")
    if before or opening:
        yield SourceEdit(statement.start, opening + "".join(f"{each}{gap}" for each in before))
    end = text.find("\n", statement.end)
    rest = text[statement.end : end if end >= 0 else len(text)]
    at = statement.end
    if own_line and re.fullmatch(r"\s*(?://.*|/\*(?:[^*]|\*(?!/))*\*/\s*)?", rest):
        at += len(rest)
    if behind or closing:
        yield SourceEdit(at, "".join(f"{gap}{each}" for each in behind) + closing)


def by_file(chosen: Sequence[CInsertion], texts: Mapping[str, str]) -> dict[str, PatchedFile]:
    """Return each file that has insertions with them."""
    files = dict.fromkeys(each.statement.file for each in chosen)
    return {file: with_insertions([each for each in chosen if each.statement.file == file], texts[file]) for file in files}
