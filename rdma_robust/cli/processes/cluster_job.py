"""The work on a job of a batch that a cluster decides: on one worker, or shared by all if it is too large for one."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.batch.cluster import Tasks
from rdma_robust.batch.job import Job, Record
from rdma_robust.cli.processes.decide_job import check_job, decide_job, record_of, settled
from rdma_robust.frame.answer import Failure
from rdma_robust.frame.deciding import guarded

FIRST_STATES = 5_000_000
"""Stored states after which all workers share a search. Not seconds: the same run shares the same programs."""


def first_try(job: Job) -> Record | None:
    """Return the record of `job`, or None if it is so large that all workers are to share its searches."""
    options = job.options
    if options.self_check or _has_crowds(job) or (options.max_states is not None and options.max_states <= FIRST_STATES):
        return decide_job(job)
    limits = options.limits()
    found = check_job(replace(job, options=replace(options, max_states=FIRST_STATES)), limits)
    if isinstance(found, Failure):
        return decide_job(job) if found.error_kind is None else record_of(found, job, limits)
    if settled(found, job):
        return record_of(found, job, limits)
    return None if found.counts.states >= FIRST_STATES and not found.counts.counters else decide_job(job)


def _has_crowds(job: Job) -> bool:
    """Return whether the program has threads of which there is any number.

    As small numbers of copies are tried after a limit of states, a first try with such a limit can settle it with other
    numbers than the decision without.
    """
    from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow

    found = guarded(job.name, lambda: bool(load_program(job.text, job.name).crowds))
    return found is True


def shared(job: Job, address: str) -> Record:
    """Return the record of `job`, whose searches the workers of the cluster at HOST:PORT share."""
    return decide_job(replace(job, options=replace(job.options, threads=1, executor=f"dask://{address}")))


TASKS = Tasks(first_try, shared)
