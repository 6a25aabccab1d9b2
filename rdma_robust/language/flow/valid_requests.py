"""What is wrong with the data, the messages and the receives of programs that were put together by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from rdma_robust.diagnose import quote
from rdma_robust.errors import UsageError
from rdma_robust.expr import VALUE, Const, Name
from rdma_robust.language.flow.cfg import ImmPut, Payload, Program, Send, Thread
from rdma_robust.model import Model


def wrong_payload(data: Payload) -> Iterator[str]:
    """Yield what is wrong with the data of a request, other than where its word lives and what its value is made of."""
    if data.inline or (data.source is not None and data.value == VALUE):
        return
    yield "the card copies a word as it is: what is calculated is inline"


def wrong_peer(program: Program, thread: Thread, peer: str) -> Iterator[str]:
    """Yield what is wrong with the thread at the other end of a connection."""
    other = next((each for each in program.threads if each.name == peer), None)
    if other is None:
        yield f"unknown thread {quote(peer)}"
    elif other is thread or (other.node == thread.node and not program.allow_loopback):
        yield f"messages go between threads of different nodes, and {quote(peer)} runs on {other.node} too"


def wrong_message(program: Program, thread: Thread, op: Send | ImmPut) -> Iterator[str]:
    """Yield what is wrong with where a message goes and what number it carries."""
    yield from wrong_peer(program, thread, op.to)
    node = op.node if isinstance(op, Send) else op.target.node
    other = next((each for each in program.threads if each.name == op.to), None)
    if other is not None and other.node != node:
        yield f"thread {quote(op.to)} runs on {other.node}, not on {node}"
    if isinstance(op, ImmPut) and not (isinstance(op.imm, Const | Name) and op.imm != VALUE):
        yield "an immediate is a register or a constant"


def wrong_posted(program: Program, thread: Thread) -> Iterator[str]:
    """Yield what is wrong with the receives that are posted before anything runs."""
    for sender, buffer in thread.posted:
        for message in wrong_peer(program, thread, sender):
            yield f"a receive of thread {thread.name} is posted from a wrong thread: {message}"
        if buffer not in program.cells or buffer.hidden or buffer.node != thread.node:
            yield f"thread {thread.name} posts {quote(str(buffer))}, which is no variable of its node"


def wrong_hardware(program: Program) -> Iterator[str]:
    """Yield what is wrong with the hardware that a program names."""
    told = {word: value for word, value in asdict(program.hardware).items() if value is not None}
    if told.get("order", "default") not in ("default", "multipath", "relaxed"):
        yield f"no order is called {told['order']!r}"
    if told.get("cpu", "sc") not in ("sc", "tso"):
        yield f"no cpu is called {told['cpu']!r}"
    try:
        Model(atomics=told.get("atomics", "hca"))
    except UsageError as error:
        yield str(error)
