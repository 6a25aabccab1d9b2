"""Boolean program extrapolation: transformers for slots of pending operations from those under sc, without a solver.

Section 4.3 of Baumann et al. (VMCAI 2018). A slot that takes its values from X stands for a set of them:

    set := {X}          p[set] := p
    add X to set        p[set] := choose(p[set] && p, !p[set] && !p)
    Y := any of set     p(Y) := choose(t[set/X], f[set/X]), where Y := X has choose(t, f); unknown if p has a set as well

All other statements keep their transformers. Sound because t and f imply what they stand for with each element for X.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rdma_robust.analyses.prove.predicates.cube_oracle import EMPTY, Cube, Vocabulary, bit_numbers
from rdma_robust.analyses.prove.predicates.linear_atoms import renamed_literal
from rdma_robust.analyses.prove.predicates.transformers import (
    UNKNOWN,
    AbstractWay,
    Contradictions,
    PredicateTransformer,
    ProgramWay,
    Transformers,
)
from rdma_robust.analyses.prove.transition_system import Assignment, Drop, Join, Selection, Update
from rdma_robust.expr import TRUE, Expr, Name, names


class ExtrapolatedProgram:
    """The boolean program over `predicates`, of which those of `plain`, the program under sc, come first.

    `sources` says from what each slot takes its values.
    """

    def __init__(self, plain: Transformers, predicates: Iterable[Expr], sources: Mapping[str, str]) -> None:
        self.plain = plain
        self.sources = sources
        self.vocabulary = Vocabulary()
        for each in (*plain.vocabulary.predicates, *predicates):
            self.vocabulary.add(each)
        self.among_plain = len(plain.vocabulary)
        self.contradictions: Sequence[Cube] = Contradictions(self.vocabulary).found()
        self._names = [frozenset(names(each)) for each in self.vocabulary.predicates]
        self._known: dict[Update, tuple[ProgramWay, ...]] = {}

    def names_of(self, number: int) -> frozenset[str]:
        """Return the variables of a predicate."""
        return self._names[number]

    def slots_of(self, number: int) -> frozenset[str]:
        """Return the slots in a predicate."""
        return frozenset(name for name in self._names[number] if name in self.sources)

    def steps(self, updates: tuple[Update, ...]) -> tuple[tuple[ProgramWay, ...], ...]:
        """Return each update as a statement of its own."""
        return tuple(self._ways(each) for each in updates)

    def _ways(self, update: Update) -> tuple[ProgramWay, ...]:
        found = self._known.get(update)
        if found is None:
            found = self._known[update] = tuple(self._made(update))
        return found

    def _made(self, update: Update) -> Iterable[ProgramWay]:
        match update:
            case Drop(name):
                return [_Gathering(self, name, None, keep=False)]
            case Assignment(name, Name(value)) if self.sources.get(name) == value:
                return [_Gathering(self, name, value, keep=False)]
            case Join(name, Name(value)) if self.sources.get(name) == value:
                return [_Gathering(self, name, value, keep=True)]
            case Join(name, _):
                return [_Gathering(self, name, None, keep=False)]
            case Selection(name, folded) if folded in self.sources:
                return self._taking(name, folded)
            case Selection(name, _):
                return [_Gathering(self, name, None, keep=False)]
            case Assignment(name, Name(value)) if value in self.sources and name not in self.sources:
                return self._taking(name, value)
            case _:
                return [_CarriedStatement(self, each, None) for each in self.plain.of((update,))]

    def _taking(self, name: str, slot: str) -> list[ProgramWay]:
        under_sc = self.plain.of((Assignment(name, Name(self.sources[slot])),))
        return [_CarriedStatement(self, each, slot) for each in under_sc]

    def literal_of(self, number: int, by: Mapping[str, Expr]) -> Cube | None:
        """Return a predicate with names replaced as a cube; EMPTY if it is true, None if it is false or not among them."""
        said = renamed_literal(self.vocabulary.predicates[number], by)
        if said.predicate == TRUE:
            return EMPTY if said.positive else None
        found = self.vocabulary.numbers.get(said.predicate)
        if found is None:
            return None
        return Cube(1 << found, 0) if said.positive else Cube(0, 1 << found)

    def with_slot(self, cube: Cube, source: str, slot: str) -> Cube | None:
        """Return a cube with a slot in place of what it takes its values from; None if that cannot be said.

        A literal with both would speak of two elements.
        """
        found = EMPTY
        for positive, mask in ((True, cube.true), (False, cube.false)):
            for number in bit_numbers(mask):
                moved: Cube | None = Cube(1 << number, 0)
                if source in self._names[number]:
                    moved = None if slot in self._names[number] else self.literal_of(number, {source: Name(slot)})
                if moved is None or moved == EMPTY:
                    return None
                found = found.joined(moved if positive else Cube(moved.false, moved.true))
        return None if found.contradicts_itself else found


class _Statement:
    """A statement without a guard and copies, about which no solver is asked."""

    always = True
    copies: Mapping[str, str] = {}
    guard_atoms: frozenset[Expr] = frozenset()

    def __init__(self, program: ExtrapolatedProgram) -> None:
        self._program = program

    def blocking(self) -> Sequence[Cube]:
        """Nothing blocks it."""
        return ()

    def excludes(self, _before: Cube) -> bool:
        """No solver is asked."""
        return False


class _Gathering(_Statement):
    """A slot is set to, or with `keep` also gets, the value of its source; without a source its value is unknown."""

    def __init__(self, program: ExtrapolatedProgram, slot: str, source: str | None, *, keep: bool) -> None:
        super().__init__(program)
        self._slot = slot
        self._source = source
        self._keep = keep

    def writes(self, number: int) -> bool:
        """Whether the predicate has the slot."""
        return self._slot in self._program.names_of(number)

    def choice(self, number: int) -> PredicateTransformer:
        """`p[set] := p`, and with what there is already."""
        if self._source is None:
            return UNKNOWN
        of_source = self._program.literal_of(number, {self._slot: Name(self._source)})
        if of_source is None:
            return UNKNOWN
        before = Cube(1 << number, 0) if self._keep else EMPTY
        if of_source == EMPTY:
            return PredicateTransformer((before,), ())
        true, false = of_source.joined(before), Cube(of_source.false, of_source.true).joined(Cube(before.false, before.true))
        return PredicateTransformer((true,), (false,))


class _CarriedStatement(_Statement):
    """A statement of the program under sc; with a `slot` it takes one of its values where it took that of its source."""

    def __init__(self, program: ExtrapolatedProgram, base: AbstractWay, slot: str | None) -> None:
        super().__init__(program)
        self._base = base
        self._slot = slot
        self.always = base.always
        self.guard_atoms = base.guard_atoms

    def blocking(self) -> Sequence[Cube]:
        """As under sc."""
        return self._base.blocking()

    def writes(self, number: int) -> bool:
        """Whether it writes a variable of the predicate."""
        return not self._base.way.written.isdisjoint(self._program.names_of(number))

    def choice(self, number: int) -> PredicateTransformer:
        """The transformer under sc, with slots for sources."""
        program = self._program
        slots = program.slots_of(number)
        if self._slot is not None:
            if slots or number >= program.among_plain:
                return UNKNOWN
            return self._with_slot(number, program.sources[self._slot], self._slot)
        if number < program.among_plain:
            return self._base.choice(number)
        for slot in slots:
            source = program.sources[slot]
            apart = slot not in self._base.way.written and source not in self._base.way.written | self._base.way.read()
            under_sc = program.literal_of(number, {slot: Name(source)}) if len(slots) == 1 and apart else None
            if under_sc is not None and under_sc.size == 1:
                origin = next(bit_numbers(under_sc.used))
                if origin < program.among_plain and source in program.names_of(origin):
                    found = self._with_slot(origin, source, slot)
                    return found if under_sc.true else PredicateTransformer(found.false, found.true)
        return UNKNOWN

    def _with_slot(self, number: int, source: str, slot: str) -> PredicateTransformer:
        chosen = self._base.choice(number)
        moved = [
            tuple(cube for each in cubes if (cube := self._program.with_slot(each, source, slot)) is not None)
            for cubes in (chosen.true, chosen.false)
        ]
        return PredicateTransformer(moved[0], moved[1])
