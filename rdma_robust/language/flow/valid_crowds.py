"""What is checked of threads and nodes of which there are many, in programs that come from no text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.diagnose import quote
from rdma_robust.language.flow.cfg import ImmPut, Op, Program, Recv, RecvPoll, Send, Thread
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, PointAt
from rdma_robust.language.flow.valid_expressions import wrong_in


def wrong_crowds(program: Program) -> Iterator[str]:
    """Yield what is wrong if a node of which there are many has not exactly one thread, of which there are many, or if one
    of many has a number."""
    many = set(program.many_nodes)
    for node in sorted(many.difference(program.nodes)):
        yield f"there are many of {quote(node)}, which is no node"
    for name in (*(t.name for t in program.crowds), *program.many_nodes):
        if "[" in name:
            yield f"{quote(name)} has a number, and there are many of it"
    for node in program.many_nodes:
        threads = [t for t in program.threads if t.node == node]
        if len(threads) != 1 or not threads[0].many:
            yield f"on {quote(node)}, of which there are many, runs not exactly one thread, of which there are many"


def crowd_messages(program: Program, thread: Thread, op: Op) -> Iterator[str]:
    """Yield what is wrong with a message to or from a thread of which there are many: a connection is one of two threads."""
    match op:
        case Send(to=peer) | ImmPut(to=peer) | Recv(sender=peer) | RecvPoll(sender=peer):
            if thread.many or any(t.many and t.name == peer for t in program.threads):
                yield "no thread of which there are many sends or receives messages: each connection is one of two threads"
        case _:
            return


def wrong_places(program: Program, atoms: Iterable[tuple[str, PointAt | EndedAtom]]) -> Iterator[str]:
    """Yield what is wrong with what a condition says of places in threads."""
    labels = {thread.name: dict(thread.labels) for thread in program.threads}
    for _, atom in atoms:
        if atom.thread not in labels:
            yield f"an invariant is about thread {quote(atom.thread)}, which there is not"
        elif isinstance(atom, PointAt) and atom.label not in labels[atom.thread]:
            yield f"thread {atom.thread} has no label {quote(atom.label)}"


def wrong_counts(program: Program, counts: Iterable[tuple[str, CopiesWith]], known: set[str]) -> Iterator[str]:
    """Yield what is wrong with the numbers of copies that a line asks for; `known` are the names of words and registers."""
    templates = {thread.name for thread in program.crowds}
    for name, copies in counts:
        if name in known:
            yield f"{quote(name)} has two meanings"
        if copies.thread not in templates:
            yield f"{quote(name)} counts copies of {quote(copies.thread)}, of which there are not many"
        yield from wrong_places(program, copies.atoms)
        yield from wrong_in(copies.condition, known | {atom for atom, _ in copies.atoms}, has_domain=True)
