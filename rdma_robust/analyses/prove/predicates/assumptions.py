"""What is known once a guard is true: what contradicts it blocks, what follows is added, own atoms of the guard split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.analyses.prove.predicates.boolean_program import BooleanProgram, ProgramWay
from rdma_robust.analyses.prove.predicates.cube_search import Cube, bits


def saturated(known: Cube, impossible: Iterable[Cube], free: int) -> Cube | None:
    """Return `known` with every literal that follows because cubes are impossible; None if `known` has one of them.

    Only predicates of `free` are set: of a folded variable with copies, a cube speaks of all copies at once, so that no
    literal follows from it.
    """
    cubes = list(impossible)
    changed = True
    while changed:
        changed = False
        for each in cubes:
            if each.true & known.false or each.false & known.true:
                continue
            true, false = each.true & ~known.true, each.false & ~known.false
            if not true | false:
                return None
            if (true | false).bit_count() == 1 and (true | false) & free:
                known = Cube(known.true | false, known.false | true)
                changed = True
    return known


class Assumptions:
    """Guards over one boolean program. `folded` are variables of whose values some may satisfy an atom and some not."""

    def __init__(self, program: BooleanProgram, folded: set[str]) -> None:
        self._program = program
        self._folded = folded
        self._masks: dict[tuple[ProgramWay, int], tuple[int, int]] = {}

    def supposing(self, known: Cube, way: ProgramWay) -> Iterator[Cube]:
        """Yield what may be known once the guard of `way` is true, in all cases together; nothing if it cannot be."""
        if way.always:
            yield known
            return
        impossible = [*way.blocking(), *self._program.contradictions]
        yield from self._cases(known, way, impossible, *self._free_and_own(way))

    def _cases(self, known: Cube, way: ProgramWay, impossible: list[Cube], free: int, own: int) -> Iterator[Cube]:
        sharp = saturated(known, impossible, free)
        if sharp is None:
            return
        missing = next(filter(None, (_missing(each, sharp, own) for each in impossible)), 0)
        if not missing:
            yield sharp
            return
        bit = 1 << next(bits(missing))
        for value in (Cube(bit, 0), Cube(0, bit)):
            for each in self._cases(sharp.joined(value), way, impossible, free, own):
                if not way.excludes(each):
                    yield each

    def _free_and_own(self, way: ProgramWay) -> tuple[int, int]:
        """The predicates that may be concluded, and those that a case may be made of: atoms of the guard, not folded."""
        builder = self._program
        key = (way, len(builder.vocabulary))
        found = self._masks.get(key)
        if found is None:
            copied = frozenset(way.copies.values())
            numbers = range(len(builder.vocabulary))
            free = sum(1 << each for each in numbers if builder.names_of(each).isdisjoint(copied))
            own = sum(
                1 << builder.vocabulary.numbers[atom]
                for atom in way.guard_atoms
                if atom in builder.vocabulary.numbers
                and self._folded.isdisjoint(builder.names_of(builder.vocabulary.numbers[atom]))
            )
            found = self._masks[key] = (free, own)
        return found


def _missing(impossible: Cube, known: Cube, own: int) -> int:
    """The predicates of an impossible cube that are not known, if all of them are own and no literal is contradicted."""
    if impossible.true & known.false or impossible.false & known.true:
        return 0
    missing = impossible.used & ~known.used
    return 0 if missing & ~own else missing
