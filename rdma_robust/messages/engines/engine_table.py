"""The engines that decide message programs, how `auto` takes them in turn, and what every answer goes through.

With `auto` a few states are looked at first, since they decide most programs in milliseconds, with the shortest runs. Then
comes what decides special programs without a search (:mod:`one_run`, :mod:`gathers`), then `sat` without the assertions that
are proved by a relaxation (:mod:`relaxed`). Where its first seconds leave the verdict open, `smt`, where it is installed, is
asked for a moment: it decides some arithmetic on what is received for which `sat` has to try all matchings. Then `sat`,
all states, and `smt` share the time. Pairs and matchings come after the verdict, within a time of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from rdma_robust.errors import InternalError, LimitReached, UsageError
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.engine_names import MessageEngineName
from rdma_robust.messages.engines.one_run import by_one_run
from rdma_robust.messages.engines.pieces import by_pieces
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.interchangeable import interchangeable_processes
from rdma_robust.messages.machine.shortening import lean
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Matchings,
    MessageEngine,
    MessageQuestions,
    Tri,
)
from rdma_robust.messages.replay.replaying import confirm_answer
from rdma_robust.solver_library import has_sat_solver, has_solver, require_solver

if TYPE_CHECKING:
    from rdma_robust.messages.encoding.match_candidates import Candidates
    from rdma_robust.messages.encoding.unrolled import UnrolledProgram

T = TypeVar("T")

Solving = Callable[[MessageQuestions, Limits], BufferAnswer]
"""An engine with its program and buffers."""

FEW: Final = 200
"""States that are looked at before anything else is tried."""

_IF_ALIKE: Final = 25
"""So many times as many where processes are interchangeable: a state stands for many then, which `sat` goes through."""

_SOON: Final = 1.0
"""Seconds that they may take."""

_SOLVING: Final = 0.6
"""Of the time that is left, the part of an engine that others come after."""

_FIRST_S: Final = 3.0
"""Seconds of the first turn of `sat`, and of `smt` after it: most programs that one of them decides take it less."""

_BEYOND_SMT: Final = ("not encoded", "the bound of loops")
"""What `smt` cannot do either, in the words of `sat`."""


def by_auto(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program by the engine that is likely to be the fastest, and by others if it fails.

    Runs that the few states have shown stay. Of what is left open every search says why. In a browser there are only states.
    """
    if program.looks or not has_sat_solver():
        return _by_all_states(program, buffer, questions, limits)
    from rdma_robust.messages.engines.gathers import by_gathering  # noqa: PLC0415 -- slow, and few states are often enough
    from rdma_robust.messages.engines.sat import by_sat  # noqa: PLC0415

    few = FEW if interchangeable_processes(program) is None else FEW * _IF_ALIKE
    answer = by_states(program, buffer, questions, _few(limits, few))
    if not answer.reason:
        return answer
    found = by_one_run(program, buffer, questions, limits)
    unrolled = None if found else _unrolled(program, questions, limits)
    if unrolled is not None:
        found = by_gathering(program, buffer, questions, limits, unrolled)
    if found is not None:
        return found
    left = None if unrolled is None else _candidates(unrolled, buffer, limits)
    easier = program if left is None else _easier(left, limits)
    sat = partial(by_sat, easier, buffer, left=left if easier is program else None)
    first = sat(questions, limits.share(_SOLVING).within(_FIRST_S))
    solved = combined_answer(answer, first)
    counted = solved.matchings is None or solved.matchings.exact
    if not solved.reason and counted:
        return solved
    known = "unknown" not in _verdicts(first)
    if not known:
        installed = has_solver() and not any(each in first.reason for each in _BEYOND_SMT)
        smt = partial(_by_smt, program, buffer) if installed else None
        states = partial(by_states, program, buffer)
        verdict = _in_turns((sat, states, smt), questions.of_the_verdict, limits)
        known, solved = not verdict.reason, _verdict_joined(solved, verdict)
    return _beside(program, buffer, questions, limits, solved) if known else solved


def _by_all_states(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
    """Answer by all states, where one run or pieces do not; and by `smt` if they are too many, and processes look."""
    if program.gathers:
        answer = by_states(program, buffer, questions, _few(limits, FEW))
        if (found := by_one_run(program, buffer, questions, limits) if answer.reason else answer) is not None:
            return found
        if (found := by_pieces(program, buffer, questions, limits.share(_SOLVING), by_auto)) is not None:
            return found
    solves = program.looks and not program.gathers and has_solver()
    answer = by_states(program, buffer, questions, limits.share(_SOLVING) if solves else limits)
    return combined_answer(answer, _by_smt(program, buffer, questions, limits)) if solves and answer.reason else answer


def _in_turns(engines: tuple[Solving, Solving, Solving | None], asked: MessageQuestions, limits: Limits) -> BufferAnswer:
    """Return a verdict by `sat`, all states, and `smt`, which is asked for a moment first; then each has its share."""
    sat, states, smt = engines
    if smt is not None:
        found = smt(asked, limits.share(_SOLVING).within(_FIRST_S))
        if "unknown" not in _verdicts(found):
            return found
    answer = sat(asked, limits.share(_SOLVING))
    if answer.reason:
        answer = combined_answer(answer, states(asked, limits.share(_SOLVING) if smt is not None else limits))
    return combined_answer(answer, smt(asked, limits)) if smt is not None and answer.reason else answer


def _verdicts(answer: BufferAnswer) -> tuple[Tri, Tri, Tri]:
    return answer.violated, answer.deadlocked, answer.leaking


def _verdict_joined(first: BufferAnswer, verdict: BufferAnswer) -> BufferAnswer:
    """Return an answer with what another says, who was asked for neither pairs nor matchings."""
    asked = replace(first, pairs=None, pairs_exact=True, matchings=None)
    found = combined_answer(asked, verdict)
    reason = found.reason or first.reason
    return replace(found, pairs=first.pairs, pairs_exact=first.pairs_exact, matchings=first.matchings, reason=reason)


def _beside(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits, answer: BufferAnswer
) -> BufferAnswer:
    """Return an answer whose verdict is known, every place of it, with pairs and matchings, as far as their time goes.

    Where nothing faults, no assertion changes what is matched, as processes go on behind it: the program is asked without.
    """
    from rdma_robust.messages.engines.gathers import by_gathering  # noqa: PLC0415
    from rdma_robust.messages.engines.relaxed import without_assertions  # noqa: PLC0415
    from rdma_robust.messages.engines.sat import by_sat  # noqa: PLC0415

    counted = answer.matchings is None or answer.matchings.exact
    if (answer.pairs_exact and counted) or not (questions.pairs or questions.count):
        return answer
    faults = any(each.kind != "assert" for each in answer.violations)
    bare = program if faults else without_assertions(program, None)
    part = limits if questions.beside_s is None else limits.within(questions.beside_s)
    found = by_gathering(bare, buffer, questions, part)
    if found is None and not answer.reason:
        return answer
    found = found or by_sat(bare, buffer, questions, part)
    both = combined_answer(
        replace(answer, reason=answer.reason or "open"), replace(found, violations=(), violated=answer.violated)
    )
    done = found.pairs_exact and (
        found.matchings is None or found.matchings.exact or found.matchings.count >= questions.limit
    )
    why = "" if done and answer.reason == "" else found.reason or answer.reason
    left_out = f"pairs and matchings: {why}" if why and not done else ""
    return replace(both, engine=answer.engine, work=answer.work | found.work, reason=left_out)


def _by_smt(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
    from rdma_robust.messages.engines.smt import by_smt  # noqa: PLC0415 -- slow, and the last resort

    return by_smt(program, buffer, questions, limits)


def _few(limits: Limits, few: int) -> Limits:
    return limits.within(_SOON).at_most(few)


def _unrolled(program: MessageProgram, questions: MessageQuestions, limits: Limits) -> UnrolledProgram | None:
    """Return a program unrolled, None if it is not encoded or there is no time."""
    from rdma_robust.messages.encoding.unrolled import NotEncodedError  # noqa: PLC0415
    from rdma_robust.messages.encoding.unrolling import unroll  # noqa: PLC0415

    try:
        return unroll(program, questions.loop_bound, limits)
    except (NotEncodedError, LimitReached):
        return None


def _candidates(unrolled: UnrolledProgram, buffer: Buffer, limits: Limits) -> Candidates | None:
    """Return the candidate pairs, None if there is no time."""
    from rdma_robust.messages.encoding.match_candidates import candidate_pairs  # noqa: PLC0415

    try:
        return candidate_pairs(unrolled, buffer, limits)
    except LimitReached:
        return None


def _easier(left: Candidates, limits: Limits) -> MessageProgram:
    """Return a program, given its candidate pairs, without the assertions that surely hold, to the same places and steps."""
    from rdma_robust.messages.engines.relaxed import proven_assertions, without_assertions  # noqa: PLC0415

    program = left.unrolled.program
    try:
        places = proven_assertions(left.unrolled, left.endpoints, limits)
    except LimitReached:
        return program
    return without_assertions(program, places) if places else program


def _sat() -> MessageEngine:
    from rdma_robust.messages.engines.sat import by_sat  # noqa: PLC0415 -- only those who ask it load it

    return by_sat


def _smt() -> MessageEngine:
    require_solver("smt")
    from rdma_robust.messages.engines.smt import by_smt  # noqa: PLC0415 -- slow, and seldom asked

    return by_smt


_ENGINES: Final[Mapping[MessageEngineName, Callable[[], MessageEngine]]] = {
    "auto": lambda: by_auto,
    "states": lambda: by_states,
    "sat": _sat,
    "smt": _smt,
}
"""The engines by name, each by what loads it."""

CHECKING_S: Final = 5.0
"""Seconds of each engine that only checks what another one has answered, under one buffer semantics."""


def engine_named(name: MessageEngineName) -> MessageEngine:
    """Return the engine of a name. Raises UsageError if there is none here, or if it needs what is not installed."""
    found = _ENGINES.get(name)
    if found is None:
        raise UsageError(f"there is no engine {name}, only {', '.join(_ENGINES)}")
    return found()


def answered(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits, engine: MessageEngineName = "auto"
) -> BufferAnswer:
    """Return what an engine answers, after every schedule in it was replayed; under `any` with as few buffers as they need.

    Raises InternalError if a replay does not come to what the engine has said.
    """
    answer = engine_named(engine)(program, buffer, questions, limits)
    if buffer == "any" and engine != "states":
        answer = lean(program, answer)
    confirm_answer(program, answer)
    return answer


def other_engines(engine: MessageEngineName) -> tuple[MessageEngineName, ...]:
    """Return the engines that can check the answers of one: all others that are installed and do not choose among them."""
    return tuple(name for name in _ENGINES if name not in ("auto", engine) and (name != "smt" or has_solver()))


@dataclass(frozen=True, slots=True)
class CrossCheckedAnswer:
    """An answer, and those of the other engines, which do not contradict it; they may leave something open."""

    answer: BufferAnswer
    others: tuple[BufferAnswer, ...]


def self_checked(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits, engine: MessageEngineName = "auto"
) -> CrossCheckedAnswer:
    """Return what an engine answers, after all others were asked the same; each has an equal part of the time.

    The others have no more than CHECKING_S: on programs that are decided without a search they may all search forever.
    Raises InternalError if two answers contradict each other, and as :func:`answered` does.
    """
    others = other_engines(engine)
    answer = answered(program, buffer, questions, limits.share(1 / (len(others) + 1)), engine)
    checks = []
    for number, other in enumerate(others):
        short = limits.share(1 / (len(others) - number)).within(CHECKING_S)
        found = answered(program, buffer, questions, short, other)
        wrong = contradictions(answer, found)
        if wrong:
            raise InternalError(f"two engines disagree under {buffer}: {'; '.join(wrong)}")
        checks.append(found)
    return CrossCheckedAnswer(answer, tuple(checks))


def comparison(checked: Sequence[CrossCheckedAnswer]) -> str:
    """Return which engines were compared under all buffer semantics, and what they have left open."""
    opened: dict[tuple[str, str], list[str]] = {}
    for each in checked:
        for other in each.others:
            if other.reason:
                opened.setdefault((other.engine, other.reason), []).append(other.buffer)
    names = dict.fromkeys(other.engine for each in checked for other in each.others)
    alike = f"the engines {', '.join(names)} answer alike"
    parts = [f"{engine} leaves something open under {', '.join(under)} ({why})" for (engine, why), under in opened.items()]
    return "; ".join([f"{alike} where they answer", *parts]) if parts else alike


def contradictions(a: BufferAnswer, b: BufferAnswer) -> list[str]:
    """Return in which points two answers cannot both be true, in words. What one leaves open contradicts nothing."""
    found = []
    for name, ours, theirs in (
        ("violated", a.violated, b.violated),
        ("deadlocked", a.deadlocked, b.deadlocked),
        ("leaking", a.leaking, b.leaking),
    ):
        if "unknown" not in (ours, theirs) and ours != theirs:
            found.append(f"{name} is {ours} ({a.engine}) or {theirs} ({b.engine})")
    if not a.reason and not b.reason:
        places = [{(each.span, each.kind) for each in answer.violations} for answer in (a, b)]
        if places[0] != places[1]:
            lines = sorted({span.line for span, _ in places[0] ^ places[1]})
            found.append(f"only one of {a.engine} and {b.engine} finds what is wrong at line {lines[0]}")
    for known, other in ((a, b), (b, a)):
        found += _pairs_too_many(known, other)
    return found + _counts(a, b)


def _pairs_too_many(known: BufferAnswer, other: BufferAnswer) -> list[str]:
    """Return what `other` has that an answer with all pairs has not."""
    if known.pairs is None or not known.pairs_exact or other.pairs is None:
        return []
    more = other.pairs - known.pairs
    return [f"{len(more)} pairs of {other.engine} are none of {known.engine}, as {min(more)}"] if more else []


def _counts(a: BufferAnswer, b: BufferAnswer) -> list[str]:
    if a.matchings is None or b.matchings is None:
        return []
    least, most = sorted((a.matchings, b.matchings), key=lambda each: each.count)
    if not least.exact or (least.count == most.count):
        return []
    return [f"{least.count} matchings are all, and there are {most.count}"]


def combined_answer(first: BufferAnswer, second: BufferAnswer) -> BufferAnswer:
    """Return what two answers to the same questions say together; what one leaves open is as the other has it.

    The engine and the work are those of the second where it says something that the first does not. The reason has those of
    both if something is left open by both.
    """
    violations = _joined(first.violations, second.violations, lambda each: (each.span, each.kind))
    matchings = _better(first.matchings, second.matchings)
    pairs, exact = first.pairs, first.pairs_exact
    if not exact and second.pairs is not None:
        pairs = second.pairs if second.pairs_exact else second.pairs | (first.pairs or frozenset())
        exact = second.pairs_exact
    answer = replace(
        first,
        engine=first.engine if not first.reason else second.engine,
        violated=_known(first.violated, second.violated),
        deadlocked=_known(first.deadlocked, second.deadlocked),
        leaking=_known(first.leaking, second.leaking),
        violations=violations,
        deadlock=first.deadlock or second.deadlock,
        leak=first.leak or second.leak,
        pairs=pairs,
        pairs_exact=exact,
        matchings=matchings,
        mismatches=_joined(first.mismatches, second.mismatches, lambda each: each.processes),
        work=first.work | second.work,
        reason="",
    )
    if not first.reason or not second.reason:
        return answer
    both = f"{first.engine}: {first.reason}; {second.engine}: {second.reason}"
    return replace(answer, reason="" if _closed(answer) else both)


def _known(first: Tri, second: Tri) -> Tri:
    return second if first == "unknown" else first


def _closed(answer: BufferAnswer) -> bool:
    """Return whether nothing is left open: where something is violated, there may be other places."""
    verdicts = (answer.violated, answer.deadlocked, answer.leaking)
    counted = answer.matchings is None or answer.matchings.exact
    return "unknown" not in verdicts and answer.violated == "no" and answer.pairs_exact and counted


def _joined(first: tuple[T, ...], second: tuple[T, ...], key: Callable[[T], object]) -> tuple[T, ...]:
    known = {key(each) for each in first}
    return (*first, *[each for each in second if key(each) not in known])


def _better(first: Matchings | None, second: Matchings | None) -> Matchings | None:
    if first is None or second is None:
        return first or second
    return max(first, second, key=lambda each: (each.exact, each.count))
