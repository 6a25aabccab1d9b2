"""Repair by trying everything: independently and slowly what `rdma_robust.analyses.repair` answers for small programs.

Statements are inserted in the syntax tree: any number of gets, polls and fences of every queue pair before every statement,
and flushes and `order`s where they have a price.
Whether a set may stand is found by following the tree, and every set that may, up to a cost, is decided. Nothing
of the repair room is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.language.syntax.tree_limits import blocks_of
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text

PROBE, SCRAP = "probe_word", "scrap_word"
KINDS: Final = ("mfence", "get", "poll", "flush", "order", "rfence")
"""What is inserted, in the order in which it stands at one place."""

MOST = 9
"""What is outstanding at most on the paths that are followed."""


@dataclass(frozen=True)
class Insert:
    """`kind` on the queue pair `node`, a node or a lane, before statement `index` of the block that begins at offset `block`
    in thread `thread`."""

    thread: str
    block: int
    index: int
    kind: str
    node: str
    cost: int


@dataclass(frozen=True)
class Prices:
    """Of a poll, a fence, a get, an `mfence`, a flush, an `order` (None: there are none to insert), and how often a loop
    counts."""

    poll: int = 2
    rfence: int = 1
    get: int = 5
    loop: int = 10
    mfence: int | None = None
    flush: int | None = None
    order: int | None = None


Inserts = tuple[Insert, ...]
At = dict[tuple[int, int], Inserts]
"""What is inserted, by block and index."""

Frame = tuple[ast.Block, int, bool]
"""A block from a statement on, and whether what is inserted before that statement is done."""

Rest = tuple[Frame, ...]
"""What is left to do, innermost last."""

Done = tuple[Insert, ...] | ast.Statement
"""A step: all that is inserted at one place, or a statement."""


def all_inserts(text: str, prices: Prices) -> list[Insert]:
    """Every insertion of one statement on every queue pair that the thread posts requests to."""
    tree = parse_program(text, "naive.rdma")
    found = []
    for thread in threads(tree):
        here = [s for b, _ in blocks(thread.body, 0) for s in b.statements]
        nodes = sorted({n for s in here if (n := queue_pair(tree, s)) is not None})
        for block, depth in blocks(thread.body, 0):
            first = max((k + 1 for k, s in enumerate(block.statements) if isinstance(s, ast.Lanes)), default=0)
            for index in range(first, len(block.statements) + 1):
                for kind in KINDS:
                    if (price := getattr(prices, kind)) is not None:
                        cost, ends = price * prices.loop**depth, nodes if kind != "mfence" else [""]
                        found += [Insert(thread.name.text, block.span.start, index, kind, n, cost) for n in ends]
    return found


def queue_pair(tree: ast.ProgramTree, statement: ast.Statement) -> str | None:
    """The queue pair of a request, by the name of its lane or of the node whose card is at the other end."""
    node = posted_to(tree, statement)
    if node is None:
        return None
    lane = next((flag.lane for flag in getattr(statement, "flags", ()) if flag.lane is not None), None)
    cards = {item.name.text: item.via.text for item in tree.items if isinstance(item, ast.NodeDeclaration) and item.via}
    return cards.get(node, node) if lane is None else lane.text


def posted_to(tree: ast.ProgramTree, statement: ast.Statement) -> str | None:
    """The node that a request goes to, whichever it is, signaled or not."""
    match statement:
        case ast.SendStatement(to=ast.Ident(other)):
            return home(tree, other)
        case ast.GetStatement(_, ast.CasCall(ast.Ref(ast.Ident(owner)))) | ast.GetStatement(
            _, ast.RmwCall(_, ast.Ref(ast.Ident(owner)))
        ):
            return owner
        case ast.Call(ast.CasCall(ast.Ref(ast.Ident(owner))) | ast.RmwCall(_, ast.Ref(ast.Ident(owner)))):
            return owner
        case ast.GetStatement(_, ast.FetchCall(ast.Ref(ast.Ident(owner)))):
            return owner
        case _:
            return target(statement)


def threads(tree: ast.ProgramTree) -> list[ast.ThreadDeclaration]:
    return [item for item in tree.items if isinstance(item, ast.ThreadDeclaration)]


def blocks(block: ast.Block, depth: int) -> Iterator[tuple[ast.Block, int]]:
    yield block, depth
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from blocks(inner, depth + isinstance(statement, ast.While | ast.Loop))


def target(statement: ast.Statement) -> str | None:
    match statement:
        case ast.PutStatement(ast.Ref(owner)) | ast.GetStatement(_, ast.Ref(owner)):
            return owner.text if owner is not None else None
        case _:
            return None


def sets(inserts: list[Insert], below: int) -> Iterator[Inserts]:
    """Yield every set of insertions that costs less than `below`; equal ones can stand at one place more than once."""

    def go(first: int, left: int, chosen: Inserts) -> Iterator[Inserts]:
        yield chosen
        for k in range(first, len(inserts)):
            insert = inserts[k]
            if insert.cost < left:
                yield from go(k + (insert.kind not in ("get", "poll")), left - insert.cost, (*chosen, insert))

    return go(0, below, ())


class Threads:
    """Follows the threads of a program with insertions."""

    def __init__(self, text: str) -> None:
        self.tree = parse_program(text, "naive.rdma")

    def stand(self, inserts: Inserts) -> bool:
        """Whether no poll waits forever because of insertions, and none that waited forever finds something, on any
        path."""
        for thread in threads(self.tree):
            here = tuple(i for i in inserts if i.thread == thread.name.text)
            if here and not all(self._stands(thread, here, node) for node in {i.node for i in here}):
                return False
        return True

    def _stands(self, thread: ast.ThreadDeclaration, inserts: Inserts, node: str) -> bool:
        at: At = {}
        for insert in sorted(inserts, key=lambda i: KINDS.index(i.kind)):
            at[insert.block, insert.index] = (*at.get((insert.block, insert.index), ()), insert)
        start: Rest = ((thread.body, 0, False),)
        first = (start, start, 0, 0)
        seen, todo = {first}, [first]
        while todo:
            rest, own, plain, have = todo.pop()
            for step, after in ways(rest, at):
                if isinstance(step, tuple):
                    now = have + sum({"get": 1, "poll": -1}.get(i.kind, 0) for i in step if i.node == node)
                    if now < 0:
                        return False
                    following = (after, own, plain, now)
                elif isinstance(step, ast.PollStatement) and step.node.text == node:
                    if have and not plain:
                        return False
                    if plain and not have and not (_idle(own, after) and _idle(rest, after)):
                        return False
                    if not plain or not have:
                        continue
                    following = (after, after, plain - 1, have - 1)
                else:
                    more = int(target(step) == node)
                    following = (after, after, plain + more, have + more)
                if following not in seen and max(following[2:]) <= MOST:
                    seen.add(following)
                    todo.append(following)
        return True


def _idle(rest: Rest, behind: Rest) -> bool:
    """Whether a thread can do all that it can do behind a poll next without it."""
    return set(_settled(behind, {})) <= set(_settled(rest, {}))


def ways(rest: Rest, at: At) -> Iterator[tuple[Done, Rest]]:
    """Yield the steps that can come next, with what is left after each."""
    for here in _settled(rest, at):
        if not here:
            continue
        outer, (block, index, done) = here[:-1], here[-1]
        inserted = at.get((block.span.start, index), ())
        if inserted and not done:
            yield inserted, (*outer, (block, index, True))
            continue
        statement = block.statements[index]
        behind: Rest = (*outer, (block, index + 1, False))
        match statement:
            case ast.While(_, body):
                yield statement, behind
                yield statement, (*outer, (block, index, True), (body, 0, False))
            case ast.If(arms, otherwise):
                for inner in (*(arm.block for arm in arms), otherwise):
                    yield statement, behind if inner is None else (*behind, (inner, 0, False))
                if otherwise is None:
                    yield statement, behind
            case _:
                yield statement, behind


def _settled(rest: Rest, at: At) -> Iterator[Rest]:
    """Yield where a thread can be before its next step: in front of an insertion, of a statement that is one, or at its
    end."""
    seen: set[Rest] = set()
    todo = [rest]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        if not here:
            yield here
            continue
        outer, (block, index, done) = here[:-1], here[-1]
        if (block.span.start, index) in at and not done:
            yield here
        elif index == len(block.statements):
            todo.append(outer)
        else:
            behind: Rest = (*outer, (block, index + 1, False))
            match block.statements[index]:
                case ast.Registers() | ast.Skip():
                    todo.append(behind)
                case ast.Halt():
                    todo.append(())
                case ast.Loop(body):
                    todo += [behind, (*outer, (block, index, True), (body, 0, False))]
                case ast.Choose(branches):
                    todo += [(*behind, (branch, 0, False)) for branch in branches]
                case _:
                    yield here


def patched(text: str, inserts: Inserts) -> str:
    """Return the program with these insertions, with words of their own for the gets."""
    tree = parse_program(text, "naive.rdma")

    def rebuilt(block: ast.Block, thread: str) -> ast.Block:
        statements: list[ast.Statement] = []
        for index in range(len(block.statements) + 1):
            here = [i for i in inserts if (i.thread, i.block, i.index) == (thread, block.span.start, index)]
            statements += [made(tree, i) for i in sorted(here, key=lambda i: (KINDS.index(i.kind), i.node))]
            if index < len(block.statements):
                statements.append(inside(block.statements[index], lambda b: rebuilt(b, thread)))
        return replace(block, statements=tuple(statements))

    items: list[ast.Item] = []
    for item in tree.items:
        if isinstance(item, ast.NodeDeclaration):
            here = [i for i in inserts if i.node and home(tree, i.thread) == item.name.text]
            words = [PROBE, *(f"{SCRAP}_{i.thread}_{i.node}" for i in here)]
            cells = (*item.cells, *(ast.CellDeclaration(ast.Ident(w), None, None) for w in dict.fromkeys(words)))
            items.append(replace(item, cells=cells))
        elif isinstance(item, ast.ThreadDeclaration):
            items.append(replace(item, body=rebuilt(item.body, item.name.text)))
        else:
            items.append(item)
    return format_tree(replace(tree, items=tuple(items)))


WITHOUT_WORDS: Final[dict[str, type[Any]]] = {
    **{"poll": ast.PollStatement, "rfence": ast.RFenceStatement, "flush": ast.FlushStatement, "order": ast.OrderStatement}
}


def made(tree: ast.ProgramTree, insert: Insert) -> ast.Statement:
    if insert.kind == "mfence":
        return ast.MFenceStatement()
    if (statement := WITHOUT_WORDS.get(insert.kind)) is not None:
        return cast(ast.Statement, statement(ast.Ident(insert.node)))
    here = ast.Ref(None, ast.Ident(f"{SCRAP}_{insert.thread}_{insert.node}"), None)
    lanes = lanes_of(next(t for t in threads(tree) if t.name.text == insert.thread))
    flags = (ast.Flag("on", lane=ast.Ident(insert.node)),) if insert.node in lanes else ()
    there = ast.Ref(ast.Ident(lanes.get(insert.node, insert.node)), ast.Ident(PROBE), None)
    return ast.GetStatement(here, there, flags=flags)


def lanes_of(thread: ast.ThreadDeclaration) -> dict[str, str]:
    """The lanes of a thread, that have no indices, with their nodes."""
    lanes = (lane for s in thread.body.statements if isinstance(s, ast.Lanes) for lane in s.lanes)
    return {lane.name.text: lane.node.text for lane in lanes}


def home(tree: ast.ProgramTree, thread: str) -> str:
    return next(t.node.text for t in threads(tree) if t.name.text == thread)


def inside(statement: ast.Statement, change: Callable[[ast.Block], ast.Block]) -> ast.Statement:
    """Return a statement with its blocks changed."""
    match statement:
        case ast.If(arms, otherwise):
            new = tuple(replace(arm, block=change(arm.block)) for arm in arms)
            return replace(statement, arms=new, otherwise=None if otherwise is None else change(otherwise))
        case ast.Choose(branches):
            return replace(statement, branches=tuple(change(b) for b in branches))
        case ast.While() | ast.Loop():
            return replace(statement, body=change(statement.body))
        case _:
            return statement


def verdict(text: str, limits: CheckOptions | None = None) -> Verdict:
    return check_text(text, "naive.rdma", limits or CheckOptions()).verdict


def robust(text: str) -> bool:
    found = verdict(text)
    assert found is not Verdict.UNKNOWN
    return found is Verdict.ROBUST


def cheaper(text: str, below: int, prices: Prices, limits: CheckOptions | None = None) -> Iterator[Inserts]:
    """Yield every set of insertions that costs less than `below`, may stand, and makes the program robust."""
    follow = Threads(text)
    for some in sets(all_inserts(text, prices), below):
        if follow.stand(some) and verdict(patched(text, some), limits) is Verdict.ROBUST:
            yield some
