"""Repairs of families: an insertion goes into the text of the family, and so into every one of its threads.

The search knows threads one by one. So it is given the program with each thread of a family written out, and choices that
are one statement of the family are tied: all of them or none. A set of ties is a set of insertions of the written-out
program, so everything that the search proves about those holds; a statement that some thread of the family could not have
there is left out. What is found is put into the family and decided again from that text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from itertools import product

from rdma_robust.analyses.repair.edits import Gap, SourceEdit, SourceText, apply_edits, gaps
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice, Repair
from rdma_robust.analyses.repair.sites import Sites, fresh_word
from rdma_robust.diagnose import Reporter
from rdma_robust.digraph import by_key
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.check.names import world_of
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.flow.cfg import Program, Thread
from rdma_robust.language.load import is_trencher, load_decidable, parse_program
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import places_named, statements_in


@dataclass(frozen=True)
class EachCopy:
    """A program with families, and the same with each of their threads written out.

    `threads` are, for every thread of `source`, those of it in the program, by their numbers there and in `written`.
    """

    source: SourceText
    program: Program
    written: str
    threads: tuple[tuple[int, ...], ...]
    await_loops: bool

    @staticmethod
    def of(text: str, file: str, *, await_loops: bool) -> EachCopy | None:
        """Return None for a program without families. Raises ProgramError, and SizeLimitError where none is written out."""
        if is_trencher(text, file):
            return None
        source, program = SourceText.of(text, file), load_decidable(text, file)
        if not any(thread.family for thread in source.threads):
            return None
        families = {thread.name.text for thread in source.threads if thread.family}
        named = (place for thread in source.threads for s in statements_in(thread.body) for place in places_named(s))
        if any(place.text in families for place in named):
            raise SizeLimitError("statements name single threads of a family, which is not repaired")
        edits: list[SourceEdit] = []
        owners: list[tuple[int, ...]] = []
        taken, number = source.identifiers(), 0
        for item in source.tree.items:
            match item:
                case ast.OutcomeDeclaration() | ast.Expect() | ast.NeedsDeclaration() | ast.InvariantDeclaration():
                    edits.append(SourceEdit(item.span.start, "", item.span.end - item.span.start))
                case ast.NodeDeclaration(family=ast.FamilyRange(counter=None) as family):
                    star = source.text.index("*", family.span.start)
                    edits.append(SourceEdit(star, fresh_word("copy", taken), 1))
                case ast.ThreadDeclaration(family=None):
                    owners.append((number,))
                    number += 1
                case ast.ThreadDeclaration(family=ast.FamilyRange() as family):
                    members = [t for t in program.threads if t.family is not None and t.family[0] == item.name.text]
                    owners.append(tuple(range(number, number + len(members))))
                    number += len(members)
                    copies = []
                    for member in members:
                        name = fresh_word(f"{item.name.text}_{_number(member)}", taken)
                        taken |= {name}
                        copies.append(f"thread {name} on {member.node} {_body(source, item, family, _number(member))}")
                    edits.append(SourceEdit(item.span.start, "\n".join(copies), item.span.end - item.span.start))
                case _:
                    pass
        return EachCopy(source, program, apply_edits(text, edits)[0], tuple(owners), await_loops)

    @cached_property
    def places(self) -> tuple[Gap, ...]:
        """The places of the program as it is written."""
        return tuple(gaps(self.source, await_loops=self.await_loops))

    @cached_property
    def terms(self) -> tuple[dict[str, tuple[str, ...]], ...]:
        """For every thread of the source, how it names other nodes, each with the nodes that these are for its threads."""
        world, silent = world_of(self.program), Reporter("", "")
        made = SourceText.of(self.written, self.program.file).threads
        found: list[dict[str, tuple[str, ...]]] = []
        for thread, numbers in zip(self.source.threads, self.threads, strict=True):
            named = [printer.place_text(name) for name in _named(thread.body)]
            nodes = []
            for number in numbers:
                values = (_value(name, ConstantResolver(world, silent)) for name in _named(made[number].body))
                nodes.append(list(values))
            each = zip(named, zip(*nodes, strict=True), strict=True) if nodes else ()
            here = {term: tuple(map(str, node)) for term, node in each if None not in node}
            lanes = [lane for lane, _ in self.program.threads[numbers[0]].lanes] if numbers else []
            everywhere = (*(node for node in self.program.nodes if "[" not in node), *lanes)
            found.append({name: (name,) * len(numbers) for name in everywhere} | here)
        return tuple(found)

    def _named_as(self, thread: int, name: str, member: int) -> list[tuple[str, tuple[str, ...]]]:
        """Return how a thread of the source names what is `name` for a member, and what that is for all members."""
        if not name:
            return [("", ("",) * len(self.threads[thread]))]
        return [(term, nodes) for term, nodes in self.terms[thread].items() if nodes[member] == name]

    def ties(self, sites: Sites, universe: tuple[InsertionChoice, ...]) -> Ties:
        """Return which choices of the written-out program belong together; `sites` are the places of that."""
        mine = by_key((place.thread, number) for number, place in enumerate(sites.places))
        there = frozenset(universe)
        groups: dict[InsertionChoice, tuple[InsertionChoice, ...]] = {}
        used: set[InsertionChoice] = set()
        exact = True
        for thread, members in enumerate(self.threads):
            here = [number for number, place in enumerate(self.places) if place.thread == thread]
            if members and any(len(mine.get(member, ())) != len(here) for member in members):
                raise SizeLimitError("the threads of a family have different places, which is not repaired")
            wanted = {c for m in members for p in mine.get(m, ()) for c in universe if c.place == p}
            for choice in sorted(wanted, key=lambda c: c.order):
                owner = next(m for m in members if choice.place in mine[m])
                at = mine[owner].index(choice.place)
                member = members.index(owner)
                named = (self._named_as(thread, name, member) for name in (choice.node, choice.memory))
                for (term, nodes), (memory, memories) in product(*named):
                    group = tuple(
                        replace(choice, place=mine[m][at], node=node, memory=behind)
                        for m, node, behind in zip(members, nodes, memories, strict=True)
                    )
                    known = [c for c in group if c in there]
                    key = replace(choice, place=here[at], node=term, memory=memory)
                    if key in groups:
                        continue
                    if (len(known) < len(group) and choice.kind in (Barrier.GET, Barrier.POLL)) or used.intersection(known):
                        exact = exact and bool(used.intersection(known) == set(known))
                        continue
                    groups[key] = tuple(known)
                    used.update(known)
        left = tuple(c for c in universe if c not in used)
        return Ties(groups, left, exact and not left)


@dataclass(frozen=True, slots=True)
class Ties:
    """Statements of the program as it is written, each with the choices that it is; `left` are those that are none.

    `exact` if every statement that could help is among them.
    """

    groups: dict[InsertionChoice, tuple[InsertionChoice, ...]]
    left: tuple[InsertionChoice, ...]
    exact: bool

    def of(self, chosen: Choices) -> Choices:
        """Return the statements that a set of choices, all of each tie or none, is."""
        return frozenset(key for key, group in self.groups.items() if group[0] in chosen)


def has_families(text: str, file: str) -> bool:
    """Whether nodes or threads of the program in `text` are declared for several numbers. Raises ProgramError."""
    if is_trencher(text, file):
        return False
    items = SourceText.of(text, file).tree.items
    return any(isinstance(item, ast.NodeDeclaration | ast.ThreadDeclaration) and item.family is not None for item in items)


def as_written(copies: EachCopy, sites: Sites) -> Sites:
    """Return the places of the program as it is written, each thread of a family standing for all of it.

    Only for what writes patches: it has no graphs.
    """
    threads = []
    for item, members in zip(copies.source.threads, copies.threads, strict=True):
        first = sites.program.threads[members[0]] if members else sites.program.threads[0]
        written = {lane.name.text: printer.place_text(lane.node) for lane in _lanes(item)}
        lanes = tuple((lane, written.get(lane.partition("[")[0], node)) for lane, node in first.lanes)
        threads.append(replace(first, name=as_declared(item), lanes=lanes))
    program = replace(copies.program, threads=tuple(threads))
    return Sites(copies.source, program, copies.places, sites.marked, sites.mark, sites.more)


def as_declared(thread: ast.ThreadDeclaration) -> str:
    """Return the name of a thread as it is declared: `P[i]`, `C[*]` and without a family `T`."""
    if thread.family is None:
        return thread.name.text
    return f"{thread.name.text}[{'*' if thread.family.counter is None else thread.family.counter.text}]"


def _number(thread: Thread) -> int:
    assert thread.family is not None
    return thread.family[1]


def _body(source: SourceText, item: ast.ThreadDeclaration, family: ast.FamilyRange, number: int) -> str:
    """Return the text of the block of one thread. Raises SizeLimitError where its number has another meaning as well."""
    start, end = item.body.span.start, item.body.span.end
    text = source.text[start:end]
    if any(
        isinstance(part, ast.Ident) and part.index is not None and _is_thread(source, part) for part in _parts(item.body)
    ):
        raise SizeLimitError("threads of a family that others send to are not repaired")
    if family.counter is None:
        return text
    name = family.counter.text
    tokens = [t for t in source.tokens if str(t) == name and start <= (t.start_pos or 0) < end]
    if any(text[: (t.start_pos or 0) - start].rstrip().endswith(".") for t in tokens):
        raise SizeLimitError(f"`{name}` is the number of a thread and a location of a node, which is not repaired")
    return apply_edits(text, [SourceEdit((t.start_pos or 0) - start, f"{number}", len(name)) for t in tokens])[0]


def _is_thread(source: SourceText, name: ast.Ident) -> bool:
    nodes = {item.name.text for item in source.tree.items if isinstance(item, ast.NodeDeclaration)}
    return name.text not in nodes | {lane.name.text for thread in source.threads for lane in _lanes(thread)}


def _lanes(thread: ast.ThreadDeclaration) -> list[ast.LaneDeclaration]:
    return [lane for part in thread.body.statements if isinstance(part, ast.Lanes) for lane in part.lanes]


def _named(block: ast.Block) -> Iterator[ast.Ident]:
    """Yield the places of a block at which a member of a family is named, in one order."""
    return (part for part in _parts(block) if isinstance(part, ast.Ident) and part.index is not None)


def _parts(part: object) -> Iterator[object]:
    yield part
    if is_dataclass(part) and not isinstance(part, type):
        for each in fields(part):
            if each.name != "span":
                yield from _parts(getattr(part, each.name))
    elif isinstance(part, tuple):
        for inside in part:
            yield from _parts(inside)


def _value(name: ast.Ident, constants: ConstantResolver) -> str | None:
    value = None if name.index is None else constants.value(name.index)
    return None if value is None else f"{name.text}[{value}]"


# A statement in the block of a `for` or in a macro stands at many program points, for which one insertion may be right
# and wrong at once: a poll in a macro that two threads call may wait forever in one of them. So only places outside
# are tried, and nothing is claimed about others.


OUTSIDE = (
    "nothing is put inside of a `for` or a macro, since that stands at many places; `rdma-robust fmt --expand` writes them "
    "out, and what it prints can be repaired everywhere"
)


def has_copies(text: str, file: str) -> bool:
    """Whether a thread of the program has a `for` or a call of a macro. Raises ProgramError."""
    threads = (item for item in parse_program(text, file).items if isinstance(item, ast.ThreadDeclaration))
    return any(isinstance(s, ast.For | ast.MacroCall) for thread in threads for s in statements_in(thread.body))


def outside_of_copies(repair: Repair, text: str, file: str) -> Repair:
    """Return the answer for the program in `text` as one about insertions outside of `for` and macros, if it has any."""
    if repair.status not in ("repaired", "impossible") or is_trencher(text, file) or not has_copies(text, file):
        return repair
    if repair.status == "repaired":
        reason = f"the cheapest found outside of what is written once for many places: {OUTSIDE}"
        return replace(repair, reason=reason, optimal=False, complete=False)
    reason = f"nothing will do outside of what is written once for many places: {OUTSIDE}"
    return replace(repair, status="unknown", reason=reason, optimal=False, complete=False)
