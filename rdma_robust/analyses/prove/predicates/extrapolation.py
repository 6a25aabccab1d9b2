"""Predicates and cubes of the proof under sc carried over to what buffers and cards hold, without a solver.

Rules (1) to (7) of section 5 of Dan, Meshman, Vechev, Yahav (SAS 2013), and predicate extrapolation of section 4.2 of
Baumann et al. (VMCAI 2018), rebuilt from prose and examples where formulas were lost. Lengths of buffers and what is active
are in control states, so that of rule (1) only the count is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from rdma_robust.analyses.prove.predicates.linear_atoms import literal, renamed_literal
from rdma_robust.digraph import reachable
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, conj, names, negate, substitute
from rdma_robust.language.flow.cfg import Cas, Get, MFence, Program, Put, RemoteOp, Rmw, Thread, Write, steps


@dataclass(frozen=True)
class Slots:
    """Where values of a word may be besides memory. `of` gives the slots of each word; of a thread that never writes the
    word there are none (rule 5). With `one`, no two words are in slots at a time (rule 7)."""

    of: Mapping[str, tuple[str, ...]]
    one: bool = False


def buffer_slots(program: Program, per_word: bool, wide: Iterable[str]) -> Slots:
    """Return the slots of store buffers (pso: per word) that are among the `wide` variables."""
    found: dict[str, tuple[str, ...]] = {}
    every = tuple(wide)
    for thread in program.threads:
        for word in _stored(thread):
            begin = f"{thread.name}#{word}#" if per_word else f"{thread.name}#"
            own = tuple(each for each in every if each.startswith(begin) and each.removeprefix(begin).isdigit())
            found[word] = (*found.get(word, ()), *own)
    return Slots(found, all(map(_fences_between_stores, program.threads)))


def pipe_slots(program: Program, wide: Iterable[str]) -> Slots:
    """Return the slots of pipes for what puts and gets are to write, of each word that they write."""
    found: dict[str, tuple[str, ...]] = {}
    every = tuple(wide)
    for thread in program.threads:
        for _, _, step in steps(thread):
            if isinstance(step.op, Put | Get):
                kind, peer = ("put", step.op.target.node) if isinstance(step.op, Put) else ("get", step.op.source.node)
                own = (each for each in every if each.startswith(f"{thread.name}@{peer}.{kind}#"))
                word = str(step.op.target)
                found[word] = tuple(dict.fromkeys((*found.get(word, ()), *own)))
    return Slots(found)


def _stored(thread: Thread) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(step.op.cell) for _, _, step in steps(thread) if isinstance(step.op, Write)))


def _fences_between_stores(thread: Thread) -> bool:
    """Whether every path from a store to another one waits for the empty buffer in between."""
    open_: dict[int, list[int]] = {}
    for source, target, step in thread.edges:
        if not isinstance(step.op, MFence | Cas | Rmw):
            open_.setdefault(source, []).append(target)
    after = reachable([target for _, target, step in thread.edges if isinstance(step.op, Write)], open_)
    return not any(source in after for source, _, step in thread.edges if isinstance(step.op, Write))


def set_sources(program: Program, wide: Iterable[str]) -> dict[str, str]:
    """Return for each wide slot of a pending operation what it takes its values from: the word that the operation reads,
    or the register of an operand."""
    every, found = set(wide), dict[str, str]()
    for thread in program.threads:
        for number, (_, _, step) in enumerate(steps(thread)):
            if isinstance(step.op, RemoteOp):
                slot = f"{thread.name}@{number}"
                found |= {slot: str(step.op.source)} if slot in every else {}
                operands = (each for each in every if each.startswith(f"{slot}.") and not each.endswith("'"))
                found |= {each: f"{thread.name}.{each.removeprefix(f'{slot}.')}" for each in sorted(operands)}
    return found


def extrapolated(predicates: Iterable[Expr], slots: Slots) -> tuple[Expr, ...]:
    """Return the predicates (rule 2), then each with its words in slots (rule 3), all occurrences of a word in the same
    (rule 6), each once and in its one form."""
    given = tuple(predicates)
    found = dict.fromkeys(given)
    for predicate in given:
        for by in _moves(predicate, slots):
            moved = renamed_literal(predicate, by).predicate
            if moved not in (TRUE, FALSE):
                found[moved] = None
    return tuple(found)


def extrapolated_cubes(cubes: Iterable[tuple[Expr, ...]], slots: Slots) -> tuple[tuple[Expr, ...], ...]:
    """Return cubes, given as literals, and each with its words in slots: cube extrapolation (section 4.3 of SAS 2013)."""
    found: dict[tuple[Expr, ...], None] = {}
    for cube in cubes:
        found[cube] = None
        for by in _moves(conj(*cube), slots):
            found[tuple(_moved_literal(each, by) for each in cube)] = None
    return tuple(each for each in found if TRUE not in each and FALSE not in each)


def _moved_literal(condition: Expr, by: Mapping[str, Expr]) -> Expr:
    moved = literal(substitute(condition, by))
    if moved.predicate == TRUE:
        return Const(int(moved.positive))
    return moved.predicate if moved.positive else negate(moved.predicate)


def _moves(condition: Expr, slots: Slots) -> Iterator[dict[str, Expr]]:
    """Yield every way to have one or more of the words of a condition in slots."""
    words = [name for name in dict.fromkeys(names(condition)) if slots.of.get(name)]
    for chosen in product(*((word, *slots.of[word]) for word in words)):
        moved = {word: Name(to) for word, to in zip(words, chosen, strict=True) if to != word}
        if moved and (len(moved) == 1 or not slots.one):
            yield dict(moved)


def buffer_length_names(program: Program, per_word: bool) -> tuple[str, ...]:
    """Return a name for the number of stores in each store buffer that is ever used."""
    found = [(thread.name, word) for thread in program.threads for word in _stored(thread)]
    return tuple(dict.fromkeys(f"{name}#{word}#n" if per_word else f"{name}#n" for name, word in found))


def active_flags(program: Program) -> tuple[Expr, ...]:
    """Return a predicate for each remote statement: one of it is under way."""
    return tuple(
        Binary("==", Name(f"{thread.name}@{number}.active"), Const(1))
        for thread in program.threads
        for number, (_, _, step) in enumerate(steps(thread))
        if isinstance(step.op, RemoteOp)
    )


def buffer_predicates(buffers: Iterable[str], bound: int) -> tuple[Expr, ...]:
    """Return the predicates of rule (1): what number of stores each buffer holds, and that none overflowed."""
    lengths = (Binary("==", Name(each), Const(number)) for each in buffers for number in range(bound + 1))
    return (*lengths, Binary("==", Name("overflow"), Const(0)))


def set_predicates(predicates: Iterable[Expr], sources: Mapping[str, str]) -> tuple[Expr, ...]:
    """Return the predicates, then each with a word replaced by a slot that takes its values from it; two words of a
    predicate one at a time, never both (section 4.2 of VMCAI 2018)."""
    by_source: dict[str, tuple[str, ...]] = {}
    for slot, source in sources.items():
        by_source[source] = (*by_source.get(source, ()), slot)
    return extrapolated(predicates, Slots(by_source, one=True))
