"""The question of `prove`: is a program safe under memory models?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust.errors import ProgramError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late, late_record, loading
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import no_certificate, warning_texts
from rdma_robust.guard import ENDING, found_within
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.questions.checkpoint_claim import claim_checkpoints
from rdma_robust.reports.prove.proof_record import ProofRecord

if TYPE_CHECKING:
    from rdma_robust.analyses.prove.lazy_system import WaitTrial
    from rdma_robust.analyses.prove.safety_outcome import SafetyOutcome
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.language.flow.claims import AnyModelName

SafetyEngineName = Literal["auto", "explicit", "zones", "predicates", "spacer"]
SafetyReductionName = Literal["slots", "sets"]

_NEEDS: Final = 0.5
"""Of the time that is left, for what a program is without its fences."""


@dataclass(frozen=True, slots=True)
class ProofAsking:
    """The question about every program: whether it is safe under `models`.

    No models: those of its claims; `every` says that all were asked for, so that one that refuses the program is no error.
    The limits are those of one program, None is no limit. `explain` asks for runs and facts in the text, which is `width`
    wide, `full` for all of them, `needs` for what a safe program is without each of its flushes and fences. `define` are
    definitions that reports repeat.
    """

    models: tuple[AnyModelName, ...]
    every: bool
    engine: SafetyEngineName
    reduction: SafetyReductionName
    bound: int
    timeout: float | None
    max_states: int | None
    memory: int | None
    explain: bool = False
    full: bool = False
    needs: bool = False
    width: int | None = None
    expect: bool = False
    define: tuple[str, ...] = ()
    threads: int = 1
    executor: str = ""
    checkpoint: str = ""

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        asked = {"models": list(self.models), "engine": self.engine, "reduction": self.reduction, "bound": self.bound}
        limits = {"timeout": self.timeout, "max_states": self.max_states, "memory": self.memory}
        return asked | limits | {"expect": self.expect, "define": list(self.define)}

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        threads, executor, checkpoint = self.threads, self.executor, self.checkpoint
        given = (self.timeout, self.max_states, self.memory)
        return Limits.of(*given, threads=threads, executor=executor, checkpoint=checkpoint)


def _answer(
    item: Source, asking: ProofAsking, limits: Limits, progress: Progress, _: Callable[[Answer[ProofRecord]], None]
) -> Answer[ProofRecord]:
    from rdma_robust.reports.prove.proof_view import HowShown, proof_record  # noqa: PLC0415 - slow

    started = time.monotonic()
    text = read_source(item)
    claim_checkpoints(text, item, asking, limits)
    told = proved_text(text, item.name, asking, limits, progress)
    how = HowShown(asking.explain, asking.full, asking.width, limits)
    record = found_within(
        ENDING.of(limits),
        partial(proof_record, told.program, told.outcomes, how, told.needs, told.refused),
        lambda _: proof_record(told.program, told.outcomes, replace(how, explain=False), told.needs, told.refused),
    )
    complaints = found_within(limits, partial(_certify, told.outcomes, item, limits), lambda why: [why])
    missing = (no_certificate(item.name, why) for why in complaints)
    messages = (*warning_texts(told.program.warnings, item.name, text), *missing)
    order: dict[str, int] = {model: number for number, model in enumerate(told.models)}
    models = sorted(record.models, key=lambda each: order[each.model])
    record = replace(record, models=tuple(models), source=text, time_s=round(time.monotonic() - started, 6))
    return Answer(record, messages, len(complaints), text)


def _certify(outcomes: Sequence[SafetyOutcome], source: Source, limits: Limits) -> list[str]:
    """Write the certificates that `source` wants, if it wants any; return why some could not be had."""
    if source.certificate is None:
        return []
    from rdma_robust.questions.certificate_files import certify_proofs  # noqa: PLC0415 - only where it is wanted

    return certify_proofs(outcomes, source, limits)


@dataclass(frozen=True, slots=True)
class ProofsOfProgram:
    """The answers for a program, model by model: `refused` are the models that do not have what it does, with the reason,
    `needs` the flushes and fences of the text without which a safe program was tried."""

    program: Program
    models: tuple[AnyModelName, ...]
    outcomes: tuple[SafetyOutcome, ...]
    refused: Mapping[AnyModelName, str]
    needs: Mapping[AnyModelName, tuple[WaitTrial, ...]]


def proved_text(text: str, name: str, asking: ProofAsking, limits: Limits, progress: Progress = ignore) -> ProofsOfProgram:
    """Return the answers for the program in `text`. The time is shared by the models, and by what is tried without a fence.

    Raises ProgramError for an ill-formed program, and for one that a model that was named does not have.
    """
    from rdma_robust.analyses.prove.lazy_system import trials_without_waits  # noqa: PLC0415 - slow
    from rdma_robust.analyses.prove.prove import decide_safety  # noqa: PLC0415
    from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety, SafetyOutcome  # noqa: PLC0415
    from rdma_robust.language.load import load_program, without_crowds  # noqa: PLC0415

    program = without_crowds(load_program(text, name))
    models = asking.models or models_of_claims(program)
    refused = refused_models(program, models, every=asking.every)
    asked = [model for model in models if model not in refused]
    options = ReductionOptions(asking.reduction, asking.bound)
    needs: dict[AnyModelName, tuple[WaitTrial, ...]] = {}

    def proved(model: AnyModelName, part: Limits) -> SafetyOutcome:
        work = partial(decide_safety, program, model, part, engine=asking.engine, reduction=options, progress=progress)
        return found_within(part, work, lambda why: SafetyOutcome(program, model, Safety.UNKNOWN, why, (), None, options))

    outcomes = limits.in_shares(asked, proved, lambda outcome: outcome.safety is Safety.UNKNOWN)

    def tried(model: AnyModelName) -> tuple[WaitTrial, ...]:
        ask = partial(decide_safety, model=model, limits=limits.share(_NEEDS), engine=asking.engine, reduction=options)
        return tuple(trials_without_waits(program, ask))

    for model, outcome in zip(asked, outcomes, strict=True):
        if asking.needs and outcome.safety is Safety.SAFE and outcome.engine is not None:
            needs[model] = found_within(limits, partial(tried, model), lambda _: ())
    return ProofsOfProgram(program, models, tuple(outcomes), refused, needs)


def models_of_claims(program: Program) -> tuple[AnyModelName, ...]:
    """Return the models that the program says it is safe or unsafe under, else sc."""
    said = (each.model for each in program.expectations if each.kind == "safe")
    return tuple(dict.fromkeys(model for model in said if model is not None)) or ("sc",)


def refused_models(program: Program, models: Sequence[AnyModelName], *, every: bool) -> dict[AnyModelName, str]:
    """Return the models that do not have what `program` does, each with the reason.

    Raises ProgramError with everything that the models do not have, unless `every` model was asked for.
    """
    from rdma_robust.language.check.refusals import model_refusals  # noqa: PLC0415 - slow

    found = {model: model_refusals(program, model) for model in models}
    if not every and any(found.values()):
        wrong = dict.fromkeys(each for every_one in found.values() for each in every_one)
        raise ProgramError(program.file, program.source, tuple(wrong))
    return {model: each[0].message for model, each in found.items() if each}


PROVE: Final[Question[ProofAsking, ProofRecord]] = Question(
    "prove",
    ("rdma-robust/prove", 1),
    "program",
    _answer,
    late_record("rdma_robust.reports.prove.proof_record:ProofRecord"),
    late("rdma_robust.reports.prove.proofs_view:ProofView"),
    loading("rdma_robust.analyses.prove.prove", "rdma_robust.language.load", "rdma_robust.reports.prove.proof_view"),
)
