"""Repair by trying everything: independently and slowly what `rdma_robust.analyses.repair` answers for loop-free programs.

Insertions are made in the syntax tree, what is outstanding is counted along every path of the tree, and every set of
insertions up to a size is decided. Nothing of the repair room is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.language.syntax.tree_limits import blocks_of
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text

COSTS = {"poll": 2, "rfence": 1, "flush": 5, "refill": 10}
ANY, SCRAP = "any_word", "scrap_word"


@dataclass(frozen=True)
class Insert:
    """Before statement `index` of the block that begins at offset `block` in thread `thread`."""

    thread: str
    block: int
    index: int
    kind: str
    node: str

    @property
    def cost(self) -> int:
        return COSTS[self.kind]


@dataclass(frozen=True)
class Marker:
    """An insertion where a path comes past it."""

    insert: Insert


Step = ast.Statement | Marker


def all_inserts(text: str) -> list[Insert]:
    """Every insertion of one poll, fence or flush towards every node that the thread names."""
    tree = parse_program(text, "naive.rdma")
    found = []
    for thread in threads(tree):
        nodes = sorted({n for s in nested(thread.body) if (n := target(s)) is not None})
        for block in blocks(thread.body):
            for index in range(len(block.statements) + 1):
                found += [Insert(thread.name.text, block.span.start, index, k, n) for k in COSTS for n in nodes]
    return found


def threads(tree: ast.Program) -> list[ast.Thread]:
    return [item for item in tree.items if isinstance(item, ast.Thread)]


def nested(block: ast.Block) -> Iterator[ast.Statement]:
    for b in blocks(block):
        yield from b.statements


def blocks(block: ast.Block) -> Iterator[ast.Block]:
    yield block
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from blocks(inner)


def target(statement: ast.Statement) -> str | None:
    match statement:
        case ast.Put(ast.Ref(owner)) | ast.Get(_, ast.Ref(owner)):
            return owner.text if owner is not None else None
        case _:
            return None


def paths(block: ast.Block, inserts: tuple[Insert, ...], rest: list[Step]) -> Iterator[list[Step]]:
    """Yield every path through a block with `rest` behind it; a path that halts ends there."""

    def at(index: int) -> list[Step]:
        order = {"poll": 0, "flush": 1, "refill": 1, "rfence": 2}
        here = [i for i in inserts if (i.block, i.index) == (block.span.start, index)]
        return [Marker(i) for i in sorted(here, key=lambda i: order[i.kind])]

    def go(index: int, before: list[Step]) -> Iterator[list[Step]]:
        before = [*before, *at(index)]
        if index == len(block.statements):
            yield [*before, *rest]
            return
        statement = block.statements[index]
        inner = list(blocks_of(statement))
        if isinstance(statement, ast.Halt):
            yield before
        elif not inner:
            yield from go(index + 1, [*before, statement])
        else:
            for each in inner:
                for path in paths(each, inserts, []):
                    halted = not _ends(each, path)
                    yield from ([[*before, *path]] if halted else go(index + 1, [*before, *path]))
            if isinstance(statement, ast.If) and statement.otherwise is None:
                yield from go(index + 1, before)

    yield from go(0, [])


def _ends(block: ast.Block, _path: list[Step]) -> bool:
    """Whether a path through a block comes to its end; the programs tested here halt at the top level only."""
    return not any(isinstance(s, ast.Halt) for s in nested(block))


def sizes(thread: ast.Thread, inserts: tuple[Insert, ...]) -> dict[Insert, tuple[int, int]] | None:
    """Return (gets, polls) of each flush of a thread; None if a poll is in vain, or a flush has no fixed number of polls.

    In vain is an inserted poll that finds nothing, and a poll of the program that found something before.
    """
    seen: dict[Insert, set[int]] = {}
    for path in paths(thread.body, inserts, []):
        have: dict[str, int] = {}
        plain: dict[str, int] = {}
        for step in path:
            if isinstance(step, Marker):
                node = step.insert.node
                if step.insert.kind == "poll":
                    if not have.get(node):
                        return None
                    have[node] -= 1
                elif step.insert.kind != "rfence":
                    seen.setdefault(step.insert, set()).add(have.get(node, 0))
                    have[node] = 0 if step.insert.kind == "flush" else have.get(node, 0)
            elif isinstance(step, ast.Poll):
                node = step.node.text
                if not plain.get(node):
                    break
                if not have.get(node):
                    return None
                have[node] -= 1
                plain[node] -= 1
            elif (name := target(step)) is not None:
                have[name] = have.get(name, 0) + 1
                plain[name] = plain.get(name, 0) + 1
    found = {}
    for insert in (i for i in inserts if i.kind in ("flush", "refill")):
        counts = seen.get(insert, {0})
        if insert.kind == "flush" and len(counts) > 1:
            return None
        found[insert] = (1 if insert.kind == "flush" else max(counts) + 1, max(counts) + 1)
    return found


def patched(text: str, inserts: tuple[Insert, ...]) -> str | None:
    """Return the program with these insertions, with words of their own for the flushes; None if they cannot stand."""
    tree = parse_program(text, "naive.rdma")
    numbers: dict[Insert, tuple[int, int]] = {}
    for thread in threads(tree):
        found = sizes(thread, tuple(i for i in inserts if i.thread == thread.name.text))
        if found is None:
            return None
        numbers |= found

    def rebuilt(block: ast.Block, thread: str) -> ast.Block:
        statements: list[ast.Statement] = []
        for index in range(len(block.statements) + 1):
            for kind in ("poll", "flush", "refill", "rfence"):
                for i in inserts:
                    if (i.thread, i.block, i.index, i.kind) == (thread, block.span.start, index, kind):
                        statements += made(i)
            if index < len(block.statements):
                statements.append(inside(block.statements[index], lambda b: rebuilt(b, thread)))
        return replace(block, statements=tuple(statements))

    def made(i: Insert) -> list[ast.Statement]:
        poll = ast.Poll(ast.Ident(i.node))
        if i.kind == "poll":
            return [poll]
        if i.kind == "rfence":
            return [ast.RFence(ast.Ident(i.node))]
        gets, polls = numbers[i]
        here = ast.Ref(None, ast.Ident(f"{SCRAP}_{i.thread}_{i.node}"), None)
        get = ast.Get(here, ast.Ref(ast.Ident(i.node), ast.Ident(ANY), None))
        return [get] * gets + [poll] * polls

    items: list[ast.Item] = []
    for item in tree.items:
        if isinstance(item, ast.Node):
            words = [ANY, *(f"{SCRAP}_{i.thread}_{i.node}" for i in inserts if home(tree, i.thread) == item.name.text)]
            cells = (*item.cells, *(ast.Cell(ast.Ident(w), None, None) for w in dict.fromkeys(words)))
            items.append(replace(item, cells=cells))
        elif isinstance(item, ast.Thread):
            items.append(replace(item, body=rebuilt(item.body, item.name.text)))
        else:
            items.append(item)
    return format_tree(replace(tree, items=tuple(items)))


def home(tree: ast.Program, thread: str) -> str:
    return next(t.node.text for t in threads(tree) if t.name.text == thread)


def inside(statement: ast.Statement, change: Callable[[ast.Block], ast.Block]) -> ast.Statement:
    """Return a statement with its blocks changed."""
    match statement:
        case ast.If(arms, otherwise):
            new = tuple(replace(arm, block=change(arm.block)) for arm in arms)
            return replace(statement, arms=new, otherwise=None if otherwise is None else change(otherwise))
        case ast.Choose(branches):
            return replace(statement, branches=tuple(change(b) for b in branches))
        case _:
            return statement


def robust(text: str) -> bool:
    verdict = check_text(text, "naive.rdma", CheckOptions()).verdict
    assert verdict is not Verdict.UNKNOWN
    return verdict is Verdict.ROBUST


def cheaper(text: str, most: int, size: int) -> Iterator[tuple[Insert, ...]]:
    """Yield every set of up to `size` insertions that costs less than `most` and repairs the program."""
    inserts = all_inserts(text)
    for n in range(size + 1):
        for some in combinations(inserts, n):
            if sum(i.cost for i in some) < most:
                new = patched(text, some)
                if new is not None and robust(new):
                    yield some
