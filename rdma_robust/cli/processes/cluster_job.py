"""What the workers of a cluster do: a program, or one pivot class of a program that is too large for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.batch.cluster import Tasks
from rdma_robust.batch.job import Job, Record
from rdma_robust.cli.processes.decide_job import decide_as, decide_job
from rdma_robust.frame.answer import Failure
from rdma_robust.frame.deciding import guarded
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.reports.check.result import unanswered_result

FIRST_STATES = 200_000
"""Stored states after which a program is searched class by class. Not seconds: the same run splits the same programs."""


def first_try(job: Job) -> Record | int:
    """Return the record of `job`, or if it is too large for one machine, into how many parts it can be split (1: not)."""
    options = job.options
    if options.self_check or options.instrumentation != "pivot" or _has_crowds(job):
        return decide_job(job)
    if options.max_states is not None and options.max_states <= FIRST_STATES:
        return decide_job(job)
    limited = replace(job, options=replace(options, max_states=FIRST_STATES))
    record = decide_job(replace(limited, page=False))
    if record.result.verdict == "error" or (record.settled and not job.page):
        return record
    if record.settled:
        return decide_job(limited)
    return max(1, parts(job)) if record.result.verdict == "unknown" else 1


def _has_crowds(job: Job) -> bool:
    """Return whether the program has threads of which there is any number.

    Its classes are decided together; and as small numbers of copies are tried after a limit of states, a first try with such
    a limit can settle it with other numbers than the decision without.
    """
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow

    found = guarded(job.name, lambda: bool(load_program(job.text, job.name).crowds))
    return found is True


def parts(job: Job) -> int:
    """Return the number of pivot classes of the program."""
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow
    from rdma_robust.robustness.split import class_count  # noqa: PLC0415

    options = job.options
    found = guarded(
        job.name, lambda: class_count(spin_assumed(load_decidable(job.text, job.name), options.await_loops), options)
    )
    return found if isinstance(found, int) else 1


def part(job: Job, number: int) -> Outcome | Failure:
    """Return the outcome for one pivot class, or the answer that an error means."""
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow
    from rdma_robust.robustness.split import decide_class  # noqa: PLC0415

    def action() -> Outcome:
        program = spin_assumed(load_decidable(job.text, job.name), job.options.await_loops)
        return decide_class(program, job.options, number)

    return guarded(job.name, action)


def is_violation(found: object) -> bool:
    """Return whether a part settles the verdict of its program alone."""
    return isinstance(found, Outcome) and found.verdict is Verdict.NOT_ROBUST


def together(job: Job, found: Sequence[Outcome | Failure]) -> Record:
    """Return the record of `job` from its parts, in order: all of them, or up to the first violation."""
    from rdma_robust.pipeline import with_spin  # noqa: PLC0415 - slow
    from rdma_robust.robustness.passes import Context  # noqa: PLC0415
    from rdma_robust.robustness.split import combine  # noqa: PLC0415

    failed = next((each for each in found if isinstance(each, Failure)), None)
    if failed is not None:
        return Record(unanswered_result(failed), failed.messages)
    outcomes = [each for each in found if isinstance(each, Outcome)]
    return decide_as(job, lambda _: with_spin(combine(outcomes), Context.of(job.options)))


TASKS = Tasks(decide_job, first_try, part, is_violation, together)
