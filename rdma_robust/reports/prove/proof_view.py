"""From the answers of `prove` to the records of its reports, and to the lines beneath their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.analyses.prove.facts import FACTS_S, PlaceKnown, known_facts, unreduced_proof
from rdma_robust.analyses.prove.lazy_system import WaitTrial
from rdma_robust.analyses.prove.reorderings import NEVER, MemoryAccess, Reordering, model_differences
from rdma_robust.analyses.prove.safety_outcome import AllowedClaim, Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import Cause, SafetyClaim
from rdma_robust.frame.answer import diagnostics
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, ExpectedAnswer
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.reports.prove.proof_lines import difference_lines, model_lines, reason_words
from rdma_robust.reports.prove.proof_record import (
    DifferenceView,
    Expected,
    ModelRecord,
    NeedView,
    PlaceFacts,
    PossibleView,
    ProofClaim,
    ProofMove,
    ProofRecord,
    ProofRun,
    SafetyWord,
    worst_word,
)
from rdma_robust.reports.share.run_lines import deed_of, is_quiet, lane_of
from rdma_robust.reports.share.searchers_text import shared_text
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.text import filled, one_line

VERDICTS: Final[Mapping[Safety, SafetyWord]] = {Safety.SAFE: "safe", Safety.UNSAFE: "unsafe", Safety.UNKNOWN: "unknown"}


WHOLE_S: Final = 5.0
"""For a proof whose facts hold of every state: the answer is there already, and must not be late for that."""
_FOR_FACTS: Final = 0.25
"""Of the time that is left, for each of that proof and the facts."""


@dataclass(frozen=True, slots=True)
class HowShown:
    """The contents of the text: runs and facts with `explain`, all of them with `full`, in lines of this `width`, as far
    as the `limits` of the program leave time for them."""

    explain: bool = True
    full: bool = False
    width: int | None = None
    limits: Limits = NO_LIMITS

    def seconds(self, most: float) -> float:
        """Return how long something that is told besides may take."""
        left = self.limits.seconds_left()
        return most if left is None else min(most, _FOR_FACTS * left)


def proof_record(
    program: Program,
    outcomes: Sequence[SafetyOutcome],
    how: HowShown,
    needs: Mapping[AnyModelName, Sequence[WaitTrial]],
    refused: Mapping[AnyModelName, str],
) -> ProofRecord:
    """Return the record of a program: its answers in the order of the models, then those of models that refuse it."""
    records: list[ModelRecord] = []
    for outcome in outcomes:
        records.append(model_record(outcome, how, needs.get(outcome.model, ()), records))
    found = differences(outcomes)
    return ProofRecord(
        program.file,
        worst_word(records),
        program=program.name,
        models=(*records, *(refused_record(model, reason) for model, reason in refused.items())),
        differences=tuple(found),
        warnings=diagnostics(program.warnings),
        lines=tuple(_of_all(found, how)) if how.explain else (),
    )


def _of_all(found: Sequence[DifferenceView], how: HowShown) -> Iterable[str]:
    """Yield where the models differ, and who has searched."""
    room = (how.width or PAPER) - 2
    yield from difference_lines(found, room)
    if how.full:
        yield from filled(shared_text(how.limits.searchers or ()), room)


def refused_record(model: AnyModelName, reason: str) -> ModelRecord:
    """Return what stands for the answer of a model that does not have what the program does."""
    return ModelRecord(model, "refused", one_line(reason, 200))


def model_record(
    outcome: SafetyOutcome, how: HowShown, needs: Sequence[WaitTrial] = (), earlier: Sequence[ModelRecord] = ()
) -> ModelRecord:
    """Return the record of an answer; `needs` are the flushes and fences that were tried, `earlier` the records before it,
    so that no run is shown twice."""
    program, model = outcome.program, outcome.model
    said = next((e for e in program.expectations if e.kind == "safe" and e.model == model), None)
    word = VERDICTS[outcome.safety]
    proof, known = _proof_told(outcome, how) if outcome.safety is Safety.SAFE and how.explain else (None, ())
    record = ModelRecord(
        model,
        word,
        outcome.reason,
        expected=_expected(said),
        expected_line=None if said is None else said.span.line,
        as_expected=None if said is None or word == "unknown" else (word == "safe") is not said.negated,
        engine=outcome.engine,
        reduction=None if outcome.engine is None else outcome.reduction.kind,
        bound=None if outcome.engine is None else outcome.reduction.bound,
        claims=len(outcome.claims),
        states=outcome.states,
        transitions=outcome.taken,
        counts=dict(outcome.counts),
        time_s=round(outcome.time_s, 6),
        claim=None if outcome.claim is None else claim_view(outcome.claim),
        run=None if outcome.run is None else proof_run(program, outcome.run),
        suspect=() if outcome.suspect is None else _suspect(program, outcome),
        possible=tuple(_possible(program, each) for each in outcome.allowed),
        unreachable=tuple(map(claim_view, outcome.about_nothing)),
        facts=tuple(_facts(each) for each in known),
        facts_of=None if not known else "kept" if proof is None else "reachable",
        needs=tuple(_need(program, each) for each in needs),
    )
    record = replace(record, reason=reason_words(record))
    if not how.explain:
        return record
    like = next((each.model for each in earlier if each.run is not None and each.run == record.run), "")
    lines = model_lines(program, outcome, record, how.width, full=how.full, like=like)
    return replace(record, lines=tuple(lines))


def _proof_told(outcome: SafetyOutcome, how: HowShown) -> tuple[SafetyOutcome | None, tuple[PlaceKnown, ...]]:
    """Return a proof about every state that can be reached, if there is one in time, and the facts of it or of `outcome`.

    The compiled search gives no invariant, and its states are too many to look for one, unless `full` asks for it.
    """
    if outcome.system is not None and outcome.invariant is None and not how.full:
        return None, ()
    proof = unreduced_proof(outcome, Limits.of(how.seconds(WHOLE_S)))
    return proof, known_facts(proof or outcome, full=how.full, seconds=how.seconds(FACTS_S))


def _expected(said: ExpectedAnswer | None) -> Expected | None:
    return None if said is None else "unsafe" if said.negated else "safe"


def claim_view(claim: SafetyClaim) -> ProofClaim:
    """Return a claim as the reports have it."""
    text = claim.text
    if claim.kind in ("invariant", "outcome"):
        text = text.removeprefix(claim.kind).strip()
    if claim.kind == "outcome" and " : " in text:
        text = text.rpartition(" : ")[0]
    return ProofClaim(claim.kind, one_line(text, 120), claim.span.line, claim.span.column)


def proof_run(program: Program, run: SafetyRun) -> ProofRun:
    """Return a run as the reports have it."""
    moves = (
        ProofMove(
            program.threads[move.action.thread].name,
            None if move.action.step is None else move.action.step.span.line,
            None if move.action.step is None else move.action.step.span.column,
            None if move.action.step is None else one_line(move.action.step.text),
            move.action.verb.value,
            move.action.read,
            move.action.written,
            lane_of(program, move.action),
            deed_of(program, move.action, run.model),
            tuple(fault.kind for fault in move.faults),
        )
        for move in run.moves
        if move.action.verb is not Verb.START
    )
    return ProofRun(tuple(moves), run.end)


def _possible(program: Program, each: AllowedClaim) -> PossibleView:
    run = None if each.run is None else proof_run(program, each.run)
    return PossibleView(claim_view(each.claim), each.possible, each.reason, run)


def _suspect(program: Program, outcome: SafetyOutcome) -> tuple[str, ...]:
    path = outcome.suspect
    assert path is not None
    causes: Iterable[Cause] = [cause for each in path.transitions for cause in each.causes]
    causes = [*causes, *(path.bad.causes if path.bad is not None else ())]
    return tuple(_of_cause(program, cause) for cause in causes)


def _of_cause(program: Program, cause: Cause) -> str:
    """Return a move of a path of which no values are known."""
    action = Action(cause.thread, cause.verb, cause.step, cell=cause.cell)
    where = lane_of(program, action)
    if cause.step is None:
        return f"{where}: a store to {cause.cell} reaches memory"
    line, text = cause.step.span.line, one_line(cause.step.text)
    does = "" if " CPU on " in where and cause.verb is not Verb.ISSUE else f"{_DOES.get(cause.verb, cause.verb.value)} "
    return f"{where}, line {line}: {does}{text}"


_DOES: Final[Mapping[Verb, str]] = {Verb.ISSUE: "posts", Verb.NIC_READ: "reads for", Verb.NIC_WRITE: "writes for"}


def _facts(each: PlaceKnown) -> PlaceFacts:
    return PlaceFacts(each.place, each.facts, each.states)


def _need(program: Program, each: WaitTrial) -> NeedView:
    outcome = each.without
    claim = None if outcome.claim is None else claim_view(outcome.claim).text
    moves = [m for m in outcome.run.moves if m.action.verb is not Verb.START and not is_quiet(m)] if outcome.run else []
    shown = tuple(f"{lane_of(program, m.action)}: {deed_of(program, m.action, outcome.model)}" for m in moves[-6:])
    word = VERDICTS[outcome.safety]
    return NeedView(one_line(each.text), each.span.line, each.span.column, word, outcome.reason, claim, shown)


def differences(outcomes: Sequence[SafetyOutcome]) -> list[DifferenceView]:
    """Return where a model is unsafe and the nearest stronger one that was asked is safe, with what makes the difference."""
    views = []
    for outcome, stronger, pair in model_differences(outcomes):
        if pair is None:
            views.append(DifferenceView(stronger, outcome.model, "it looks at what is still in flight", ()))
        else:
            lines = (pair.earlier.step.span.line, pair.later.step.span.line)
            views.append(DifferenceView(stronger, outcome.model, _reordered(outcome.program, pair), lines))
    return views


def _reordered(program: Program, pair: Reordering) -> str:
    """Return what a reordering is, as a clause."""
    earlier, later = pair.earlier, pair.later
    name = program.threads[earlier.thread].name
    by = "store" if earlier.kind == "store" else "NIC" if earlier.kind.startswith("NIC") or earlier.part == 0 else ""
    if earlier.moment < NEVER:
        return f"{name}'s {by} {_did(earlier)} only after {_then(later)}"
    return f"{name}'s {by} {_did(earlier, yet=False)} at the end, but {_then(later)}"


def _statement(access: MemoryAccess) -> str:
    return f"`{one_line(access.step.text)}` (line {access.step.span.line})"


def _did(access: MemoryAccess, *, yet: bool = True) -> str:
    """Return what an access does, or has not done yet."""
    statement = _statement(access)
    match access.kind:
        case "store":
            return f"{statement} {'reaches' if yet else 'has not reached'} memory"
        case "NIC write":
            return f"{'writes' if yet else 'has not written'} {access.cell} for {statement}"
    return f"{'reads' if yet else 'has not read'} {access.cell} for {statement}"


def _then(access: MemoryAccess) -> str:
    """Return that a later access has been made."""
    statement = f"the later {_statement(access)}"
    match access.kind:
        case "store":
            return f"{statement} has"
        case "NIC read":
            return f"it has read {access.cell} for {statement}"
        case "NIC write":
            return f"it has written {access.cell} for {statement}"
        case "load":
            return f"{statement} has read"
    return f"{statement} is done"
