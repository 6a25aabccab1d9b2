"""Expressions of programs that were not checked as a text: which are well-formed, and what guards prove.

What is checked of requests, messages and crowds in programs that come from no text: data, receives, the threads and nodes
of which there are many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Final, get_args

from rdma_robust.diagnose import quote
from rdma_robust.errors import UsageError
from rdma_robust.expr import COMPARISONS, TRUE, VALUE, Binary, Const, Expr, Ite, Name, Unary, negate
from rdma_robust.language.flow.cfg import NAMELESS, ImmPut, Op, Payload, Program, Recv, RecvPoll, Send, Thread
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, PointAt
from rdma_robust.language.flow.exclusive import exclusive, guard_conjuncts
from rdma_robust.language.flow.send_queues import MAX_DEPTH
from rdma_robust.model import Model, Rnr
from rdma_robust.orders import is_order

MAX_LEVELS: Final = 400
"""Levels of operators in an expression. Later passes recurse over them."""

LEAST_TOO_LARGE: Final = 10**18
"""Numbers have at most 18 digits, in texts too. The compiled kernels compute with 64 bits."""

_ARITHMETIC: Final = frozenset("+-*/%")
_OPERATORS: Final = {"-", "!"}, _ARITHMETIC | COMPARISONS.keys() | {"&&", "||"}


def is_integer(value: object) -> bool:
    """Whether it is a number as the language has them: no truth value, which would be printed as a word."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LEAST_TOO_LARGE


def wrong_in(expr: Expr, known: set[str], *, has_domain: bool) -> Iterator[str]:
    """Yield what is wrong with an expression over `known` names."""
    todo = [(expr, 1)]
    while todo:
        part, level = todo.pop()
        if level > MAX_LEVELS:
            yield f"an expression has more than {MAX_LEVELS} levels of operators"
            return
        match part:
            case Const(value):
                if not is_integer(value):
                    yield f"{value!r} is no integer of at most 18 digits"
            case Name(name):
                if name not in known:
                    nothing = "what is read is used where nothing is read"
                    yield nothing if name == VALUE.name else f"unknown name {quote(name)}"
            case Unary(op, arg):
                todo.append((arg, level + 1))
                if op not in _OPERATORS[0]:
                    yield f"unknown operator {quote(op)}"
                elif op == "-" and not has_domain:
                    yield "arithmetic (`-`) in a program without a domain"
            case Binary(op, left, right):
                todo += [(right, level + 1), (left, level + 1)]
                if op not in _OPERATORS[1]:
                    yield f"unknown operator {quote(op)}"
                elif op in _ARITHMETIC and not has_domain:
                    yield f"arithmetic ({quote(op)}) in a program without a domain"
            case Ite():
                yield "programs have no choice inside of an expression"
            case other:
                yield f"{other!r} is no expression"


def proven(guard: Expr, claim: Expr) -> bool:
    """Whether `claim` is known to hold where `guard` does."""
    held = set(guard_conjuncts(guard))
    if all(part in held for part in _parts(claim)):
        return True
    return exclusive(guard, negate(claim), same_read=True)


def _parts(claim: Expr) -> Iterator[Expr]:
    if isinstance(claim, Binary) and claim.op == "&&":
        yield from _parts(claim.left)
        yield from _parts(claim.right)
    elif claim != TRUE:
        yield claim


def wrong_payload(data: Payload) -> Iterator[str]:
    """Yield what is wrong with the data of a request, other than where its word lives and what its value is made of."""
    if data.inline or (data.source is not None and data.value == VALUE):
        return
    yield "the NIC copies a location as it is: what is calculated is inline"


def wrong_peer(program: Program, thread: Thread, peer: str) -> Iterator[str]:
    """Yield what is wrong with the thread at the other end of a connection."""
    other = next((each for each in program.threads if each.name == peer), None)
    if other is None:
        yield f"unknown thread {quote(peer)}"
    elif other is thread or (_card(program, other) == _card(program, thread) and not program.allow_loopback):
        yield f"messages go between threads of different nodes, and {quote(peer)} runs on {other.node} too"


def _card(program: Program, thread: Thread) -> str:
    return program.card_of(thread.node)


def wrong_cards(program: Program) -> Iterator[str]:
    """Yield what is wrong with the nodes whose memory lies behind the card of another one."""
    behind = dict(program.behind)
    for node, card in program.behind:
        if node not in program.nodes or card not in program.nodes or card in behind:
            yield f"the memory of {quote(node)} lies behind the NIC of {quote(card)}, which has none"
        if node in program.many_nodes or card in program.many_nodes:
            yield f"there are many of {quote(node)}, or of {quote(card)}: memory behind a NIC is that of nodes with names"


def wrong_sender(program: Program, thread: Thread, sender: str, lane: str) -> Iterator[str]:
    """Yield what is wrong with where a receive says that messages come from."""
    yield from wrong_peer(program, thread, sender)
    other = next((each for each in program.threads if each.name == sender), None)
    if other is not None:
        yield from wrong_lane(other, lane, _card(program, thread))


def wrong_lane(thread: Thread, lane: str, node: str) -> Iterator[str]:
    """Yield what is wrong with naming a lane of `thread` for the queue pair to a node."""
    known = dict(thread.lanes)
    if lane != NAMELESS and lane not in known:
        yield f"thread {thread.name} has no lane {quote(lane)}"
    elif lane != NAMELESS and known[lane] != node:
        yield f"lane {quote(lane)} of thread {thread.name} goes to {known[lane]}, not to {node}"


def wrong_lanes(program: Program, thread: Thread) -> Iterator[str]:
    """Yield what is wrong with the lanes of a thread: each has a name of its own, which no node has either."""
    names = [name for name, _ in thread.lanes]
    for name, node in thread.lanes:
        if names.count(name) > 1 or name in program.nodes:
            yield f"lane {quote(name)} of thread {thread.name} has a name that is taken"
        if node not in program.nodes or program.card_of(node) != node:
            yield f"lane {quote(name)} of thread {thread.name} goes to {quote(node)}, which is no node with a NIC"


def wrong_message(program: Program, thread: Thread, op: Send | ImmPut) -> Iterator[str]:
    """Yield what is wrong with where a message goes and what number it carries."""
    yield from wrong_peer(program, thread, op.to)
    node = op.node if isinstance(op, Send) else op.target.card
    other = next((each for each in program.threads if each.name == op.to), None)
    if other is not None and _card(program, other) != node:
        yield f"thread {quote(op.to)} runs on {other.node}, not on {node}"
    if isinstance(op, Send) and op.rest:
        yield "each word of a message is a send of its own"
    if isinstance(op, ImmPut) and not (isinstance(op.imm, Const | Name) and op.imm != VALUE):
        yield "an immediate is a register or a constant"


def wrong_meeting(program: Program, thread: Thread, threads: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with the threads of a barrier."""
    if thread.name not in threads:
        yield "a barrier names its own thread too"
    if threads != tuple(each.name for each in program.threads if each.name in threads):
        yield "a barrier names threads of the program, each once, in their order"
    if any(each.many and each.name in threads for each in program.threads):
        yield "no thread of which there are many stands at a barrier: it is one of threads that have names"


def wrong_posted(program: Program, thread: Thread) -> Iterator[str]:
    """Yield what is wrong with the receives that are posted before anything runs."""
    for sender, buffer, lane in thread.posted:
        for message in wrong_sender(program, thread, sender, lane):
            yield f"a receive of thread {thread.name} is posted from a wrong thread: {message}"
        if buffer not in program.cells or (buffer.hidden and not buffer.void) or buffer.card != _card(program, thread):
            yield f"thread {thread.name} posts {quote(str(buffer))}, which is no variable of its node"


def wrong_hardware(program: Program) -> Iterator[str]:
    """Yield what is wrong with the hardware that a program names."""
    told = {word: value for word, value in asdict(program.hardware).items() if value is not None}
    if not is_order(told.get("order", "default")):
        yield f"no order is called {told['order']!r}"
    if told.get("cpu", "sc") not in ("sc", "tso"):
        yield f"no cpu is called {told['cpu']!r}"
    depth = told.get("send_depth", 1)
    if type(depth) is not int or not 1 <= depth <= MAX_DEPTH:
        yield f"{depth!r} is no depth of a send queue: a number from 1 to {MAX_DEPTH}"
    if told.get("rnr", "wait") not in get_args(Rnr):
        yield f"no rnr is called {told['rnr']!r}"
    try:
        Model(atomics=told.get("atomics", "hca"))
    except UsageError as error:
        yield str(error)


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
