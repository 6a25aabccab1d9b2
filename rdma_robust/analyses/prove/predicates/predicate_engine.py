"""E2: predicate abstraction without any given predicate, by the road of both papers where there is a proof under sc.

The proof under sc is carried over to the other model; what is left is handed over to spacer.

Predicates and cubes of the proof under sc carried over to what buffers and cards hold, without a solver.

Rules (1) to (7) of section 5 of Dan, Meshman, Vechev, Yahav (SAS 2013), and predicate extrapolation of section 4.2 of
Baumann et al. (VMCAI 2018), rebuilt from prose and examples where formulas were lost. Lengths of buffers and what is active
are in control states, so that of rule (1) only the count is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final

from rdma_robust.analyses.prove.predicates.cube_oracle import EMPTY, Cube, Vocabulary
from rdma_robust.analyses.prove.predicates.extrapolated_program import ExtrapolatedProgram
from rdma_robust.analyses.prove.predicates.linear_atoms import literal, renamed_literal
from rdma_robust.analyses.prove.predicates.paths import PathFeasibility
from rdma_robust.analyses.prove.predicates.refinement import Refinement, RefinementResult
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine
from rdma_robust.analyses.prove.predicates.transformers import Transformers, known_literals
from rdma_robust.analyses.prove.transition_system import EngineResult, TransitionSystem
from rdma_robust.digraph import reachable
from rdma_robust.errors import LimitReached
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, Unary, conj, names, negate, substitute
from rdma_robust.language.flow.cfg import Cas, Get, MFence, Program, Put, RemoteOp, Rmw, Thread, Write, steps
from rdma_robust.limits import Limits, Progress
from rdma_robust.solver_library import solver_library


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


SHARE: Final = 0.5
"""Of the time, for the proof under sc."""

Literals = tuple[Expr, ...]


@dataclass
class Extrapolation:
    """A proof of `plain`, the program under sc, carried over to `system`, the same under another model.

    `loop` has what is told of the work at the end; `counts` what was carried over: `predicates` of the proof under sc,
    `predicates_extrapolated` from them, besides `predicates_of_control`, which the papers have for what control states say
    here (how full buffers are, what is active), `cubes_input`, and what the solver was asked for the proof under sc.
    """

    system: TransitionSystem
    plain: TransitionSystem
    formulas: Formulas
    limits: Limits
    progress: Progress
    counts: dict[str, int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        single = self.system.model == "rma"
        self.loop = Refinement(self.plain, self.formulas, self.limits.share(SHARE), self.progress, single=single)

    def run(self) -> RefinementResult:
        """Return how it ended: where the proof carried over does not do, its predicates are refined for `system` itself.

        Raises LimitReached while transformers are built.
        """
        under_sc = self.loop
        try:
            refined = under_sc.run()
        except LimitReached:  # of the share of the time that this has
            return self._refined(())
        given = tuple(under_sc.vocabulary.predicates)
        self.counts["sc_solver_calls"] = under_sc.counts.called
        self.counts["predicates"] = len(given)
        if refined.stuck or refined.checked.path is not None or refined.checked.cut or refined.overflowed:
            return self._refined(given)
        if self.system.model == "rma":
            return self._through_sets(given, under_sc.transformers)
        return self._through_buffers(given, under_sc.transformers)

    def _refined(self, given: Iterable[Expr], cubes: Iterable[Literals] = ()) -> RefinementResult:
        self.loop = Refinement(self.system, self.formulas, self.limits, self.progress, given, counts=self.loop.counts)
        self.loop.transformers.given = tuple(
            made for each in cubes if (made := as_cube(self.loop.vocabulary, each)) is not None
        )
        return self.loop.run()

    def _through_buffers(self, given: Literals, program: Transformers) -> RefinementResult:
        """Predicate and cube extrapolation: with the cubes it is enough, at first, to search for single literals."""
        wide = [name for name, _ in self.system.wide]
        if self.system.model == "rdma":
            slots = pipe_slots(self.system.program, wide)
        else:
            per_word = self.system.model == "pso"
            slots = buffer_slots(self.system.program, per_word, wide)
            bound = max((int(slot.rpartition("#")[2]) for held in slots.of.values() for slot in held), default=1)
            lengths = buffer_predicates(buffer_length_names(self.system.program, per_word), bound)
            self.counts["predicates_of_control"] = len(lengths)
        predicates = extrapolated(given, slots)
        used = sorted(program.cubes_used())
        cubes = extrapolated_cubes((known_literals(program.vocabulary, each) for each in used), slots)
        self.counts |= {"predicates_extrapolated": len(predicates), "cubes_input": len(cubes)}
        return self._refined(predicates, cubes)

    def _through_sets(self, given: Literals, program: Transformers) -> RefinementResult:
        """Predicate and boolean program extrapolation."""
        sources = set_sources(self.system.program, (name for name, _ in self.system.wide))
        predicates = set_predicates(given, sources)
        self.counts["predicates_extrapolated"] = len(predicates)
        self.counts["predicates_of_control"] = len(active_flags(self.system.program))
        called = program.counts.called
        self.loop = Refinement(self.system, self.formulas, self.limits, self.progress, counts=program.counts)
        carried = ExtrapolatedProgram(program, predicates, sources)
        checked = self.loop.checked(carried)
        self.counts["extrapolation_solver_calls"] = program.counts.called - called
        if checked.path is None or (not checked.overflow and self.loop.is_real(checked.path) is not PathFeasibility.NO):
            return RefinementResult(checked, False, False)
        return self._refined(predicates)


def as_cube(vocabulary: Vocabulary, literals: Literals) -> Cube | None:
    """Return literals as a cube; None if one of them is not of the vocabulary, or they contradict each other."""
    found = EMPTY
    for each in literals:
        match each:
            case Unary("!", predicate) if predicate in vocabulary.numbers:
                found = found.joined(Cube(0, 1 << vocabulary.numbers[predicate]))
            case _ if each in vocabulary.numbers:
                found = found.joined(Cube(1 << vocabulary.numbers[each], 0))
            case _:
                return None
    return None if found.contradicts_itself else found


def predicates_engine(
    system: TransitionSystem, limits: Limits, progress: Progress, *, plain: TransitionSystem | None = None
) -> EngineResult:
    """Search with predicates, then with spacer. Raises UsageError if z3 is missing.

    With `plain`, the same program under sc, that is proven first, and its proof carried over to `system`.
    """
    started = time.monotonic()
    formulas = Formulas(solver_library("predicates"))
    work: Refinement | Extrapolation
    if plain is None:
        work = Refinement(system, formulas, limits, progress)
    else:
        work = Extrapolation(system, plain, formulas, limits, progress)
    try:
        refined = work.run()
    except LimitReached as reached:
        return _searched(work, None, reached.limit, started)
    if not refined.stuck:
        return _searched(work, refined, "", started)
    last = spacer_engine(system, limits, progress)
    counts = {**_counted(work, started), "spacer_seconds": last.counts["seconds"]}
    if last.invariant is None and last.path is None and not last.overflowed:
        return replace(last, engine="predicates", path=refined.checked.path, counts=counts)
    return replace(last, counts=counts)


def _counted(work: Refinement | Extrapolation, started: float) -> dict[str, int | float]:
    """Return what the tables of the papers tell."""
    loop = work if isinstance(work, Refinement) else work.loop
    cubes = loop.transformers.cubes_used()
    counts = {
        "predicates": len(loop.vocabulary),
        "cubes_used": len(cubes),
        "cube_size": max((each.size for each in cubes), default=min(1, len(loop.vocabulary))),
        "candidates": loop.counts.asked,
        "solver_calls": loop.counts.called,
        "rounds": loop.rounds,
        "build_seconds": round(time.monotonic() - started - loop.check_seconds + loop.transformers.seconds, 3),
        "check_seconds": round(loop.check_seconds - loop.transformers.seconds, 3),
    }
    return counts if isinstance(work, Refinement) else counts | work.counts


def _searched(work: Refinement | Extrapolation, refined: RefinementResult | None, cut: str, started: float) -> EngineResult:
    """Return the end of the work as an engine's answer."""
    loop = work if isinstance(work, Refinement) else work.loop
    counts = _counted(work, started)
    if refined is None:
        return EngineResult("predicates", None, None, bool(loop.overflows), cut, loop.states, loop.taken, counts)
    checked = refined.checked
    return EngineResult(
        "predicates",
        checked.path,
        None if refined.overflowed else checked.regions,
        refined.overflowed,
        checked.cut,
        checked.states,
        checked.taken,
        counts,
    )
