"""`explain --model`: why a program is safe under memory models, or which run violates a claim."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from rdma_robust import __version__
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.errors import UsageError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import warn_of
from rdma_robust.limits import Limits
from rdma_robust.questions.proof_question import PROVE, ProofAsking, ProofsOfProgram, proved_text
from rdma_robust.reports.prove.proof_record import ProofRecord


def run_explain_proof(file: str, asking: ProofAsking, form: str, to: str | None) -> Exit:
    """Explain the answers for one program; return the exit code, that of `prove`. Raises UsageError."""
    item = only(file, "explain", asking.define)
    if form == "dot":
        raise UsageError(
            "--format dot draws the execution graph of a counterexample; a run under --model has a timeline: svg"
        )
    return tell_of(item, (form, to), asking.limits, partial(_told, asking, form))


def _told(asking: ProofAsking, form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    started, text = time.monotonic(), read_source(source)
    told = proved_text(text, source.name, asking, limits)
    warn_of(told.program.warnings, source.name, text)
    record = replace(_record(told, asking, limits), source=text, time_s=round(time.monotonic() - started, 6))
    return _written(told, record, asking, form), record.exit_of(expect=False)


def _record(told: ProofsOfProgram, asking: ProofAsking, limits: Limits) -> ProofRecord:
    from rdma_robust.reports.prove.proof_view import HowShown, proof_record  # noqa: PLC0415 - slow

    how = HowShown(asking.explain, asking.full, asking.width, limits)
    return proof_record(told.program, told.outcomes, how, told.needs, told.refused)


def _written(told: ProofsOfProgram, record: ProofRecord, asking: ProofAsking, form: str) -> str:
    match form:
        case "text":
            from rdma_robust.reports.prove.proof_lines import proof_explanation  # noqa: PLC0415

            return "\n".join(proof_explanation(record, asking.width))
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.frame.formats.section import document  # noqa: PLC0415
            from rdma_robust.frame.run_question import section_of  # noqa: PLC0415

            return layout(document(section_of(PROVE, asking, [Answer(record)], requested=1, time_s=record.time_s)))
    drawings = _drawings(told)
    if form == "html":
        from rdma_robust.reports.prove.proofs_view import proof_html  # noqa: PLC0415

        return proof_html(record, drawings, __version__)
    if not drawings:
        raise UsageError("there is no run to draw: no model that was asked for is unsafe")
    if len(drawings) > 1:
        raise UsageError(f"one drawing has one run; name one of the models {', '.join(drawings)}, or take html")
    return next(iter(drawings.values()))


def _drawings(told: ProofsOfProgram) -> dict[str, str]:
    """Return the runs of unsafe models, with the reordering that a stronger model does not have."""
    from rdma_robust.analyses.prove.reorderings import model_differences  # noqa: PLC0415
    from rdma_robust.reports.explanation.explanation_timeline import run_svg  # noqa: PLC0415
    from rdma_robust.reports.prove.run_timeline import run_timeline  # noqa: PLC0415

    pairs = {outcome.model: pair for outcome, _, pair in model_differences(told.outcomes)}
    return {
        str(outcome.model): run_svg(run_timeline(told.program, outcome.run, pairs.get(outcome.model)), told.program.name)
        for outcome in told.outcomes
        if outcome.run is not None
    }
