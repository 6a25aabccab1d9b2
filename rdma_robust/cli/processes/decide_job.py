"""One job of a batch from its text to a record, whatever happens on the way; in a process of its own, or on a cluster."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from rdma_robust import TOOL
from rdma_robust.batch.job import Job, Record
from rdma_robust.errors import LimitReached, SizeLimitError
from rdma_robust.frame.answer import Failure
from rdma_robust.frame.deciding import guarded, in_time
from rdma_robust.guard import ENDING, Overrun, guarded_by, out_of_memory
from rdma_robust.limits import Limits
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.reports.batch.batch_view import Page
from rdma_robust.reports.check.result import result_of, unanswered_result
from rdma_robust.reports.share.claim_findings import Claims

PAGE_S = 60.0
"""For the drawings of a page at most."""


def decide_job(job: Job, keep: Callable[[Record], None] = lambda _: None) -> Record:
    """Return the record of `job`, and tell `keep` of it as soon as there is a verdict. Raises only KeyboardInterrupt."""
    limits = job.options.limits()
    return record_of(check_job(job, limits, keep), job, limits)


def kept_record(known: Record, why: str) -> Record:
    """Return a record that was known before what comes beside the verdict was cut short, and say so."""
    result = replace(known.result, left_out=(*known.result.left_out, f"what comes beside the verdict: {why}"))
    page = None if known.page is None else Page(problem=f"the details were left out: {why}")
    return replace(known, result=result, page=page, claims=None if known.claims is None else Claims(reason=why))


def check_job(job: Job, limits: Limits, keep: Callable[[Record], None] = lambda _: None) -> Outcome | Failure:
    """Return what the check of `job` finds, whatever happens on the way; tell `keep` of it as soon as there is a verdict.

    Where what comes beside a verdict is cut short, the outcome is the verdict. Raises only KeyboardInterrupt.
    """
    started = time.monotonic()
    known: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        known.append(outcome)
        claims, page = Claims() if job.claims else None, Page() if job.page else None
        keep(Record(result_of(outcome, job.name), page=page, claims=claims))

    found: Outcome | Failure
    try:
        with guarded_by(limits):
            found = guarded(job.name, lambda: _outcome(job, tell))
    except (Overrun, LimitReached) as error:
        found = _after(started, job, str(error))
    except MemoryError as error:
        found = replace(_after(started, job, out_of_memory(error)), lasting=False)
    if isinstance(found, Failure) and found.error_kind is None and known and known[-1].verdict is not Verdict.UNKNOWN:
        found = replace(known[-1], left_out=(*known[-1].left_out, f"what comes beside the verdict: {found.reason}"))
    return found


def record_of(found: Outcome | Failure, job: Job, limits: Limits) -> Record:
    """Return the record of what the check of `job` has found, with the claims and the page that it asks for."""
    if isinstance(found, Failure):
        return Record(unanswered_result(found), found.messages, lasting=found.lasting and found.error_kind is None)
    claims = _claims(job, found) if job.claims else None
    page = _page(job, found, limits) if job.page else None
    whole = (page is None or not (page.cut or page.problem)) and (claims is None or claims.decided)
    final = whole and settled(found, job)
    proof = _proof(found, job, limits)
    return Record(result_of(found, job.name), page=page, claims=claims, settled=final, lasting=True, proof=proof)


def settled(outcome: Outcome, job: Job) -> bool:
    """Return whether more time or memory could change nothing of the outcome: no search it rests on was cut."""
    if job.options.self_check or outcome.verdict is Verdict.UNKNOWN or outcome.left_out:
        return False
    if outcome.verdict is Verdict.ROBUST:
        return outcome.faults_exact
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415 - loaded by then

    return outcome.spin_only or spin_assumed(outcome.program) is outcome.program


def _outcome(job: Job, keep: Callable[[Outcome], None]) -> Outcome:
    from rdma_robust.pipeline import check_text  # noqa: PLC0415 - loaded once, before the forks

    return check_text(job.text, job.name, job.options, crowds=True, keep=keep)


def _claims(job: Job, outcome: Outcome) -> Claims:
    """Return the answers for the claims of a program, as `verify` gives them, within the seconds of the job."""
    from rdma_robust.analyses.safety.handing_over import verify_all  # noqa: PLC0415 - only where claims are wanted
    from rdma_robust.language.flow.spinning import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415
    from rdma_robust.reports.analyses.safety_record import verified_record  # noqa: PLC0415

    def action() -> Claims:
        written = load_decidable(job.text, job.name, crowds=True) if job.options.await_loops else outcome.program
        verified = verify_all(blocking(written), limits, outcome.model, recv_depth=job.options.recv_depth)
        return Claims(verified_record(verified, strict=False).findings)

    limits = Limits.of(job.claims, job.options.max_states, job.options.memory)
    found = in_time(job.name, limits, action)
    return Claims(reason=found.reason) if isinstance(found, Failure) else found


def _page(job: Job, outcome: Outcome, limits: Limits) -> Page:
    from rdma_robust.batch.pages import page_of  # noqa: PLC0415 - only where pages are wanted

    try:
        with guarded_by(_page_limits(limits, job.repair), ENDING), _silence():
            return page_of(outcome, job)
    except (Overrun, LimitReached) as error:
        return Page(problem=f"the details were left out: {error}")
    except MemoryError as error:
        return Page(problem=f"the details were left out: {out_of_memory(error)}")


def _page_limits(limits: Limits, repair: float) -> Limits:
    """Return the limits of a page: what the program has left of its time, at most PAGE_S, and what its repair may take."""
    drawing = limits.within(PAGE_S, "what the drawings of a page may take")
    return replace(drawing, deadline=None if drawing.deadline is None else drawing.deadline + repair)


def _proof(outcome: Outcome, job: Job, limits: Limits) -> bytes:
    """Return the certificate of a violation, by which the cache can check it again; nothing where there is none in time."""
    if outcome.verdict is not Verdict.NOT_ROBUST:
        return b""
    from rdma_robust.evidence.envelope import write_document  # noqa: PLC0415 - slow, and few need it
    from rdma_robust.evidence.produce import robustness_certificate  # noqa: PLC0415

    try:
        with guarded_by(limits, ENDING):
            certificate = robustness_certificate(outcome, job.options, limits, None)
    except (Overrun, SizeLimitError, MemoryError):
        return b""
    return b"" if certificate is None else write_document(certificate, TOOL)


@contextmanager
def _silence() -> Iterator[None]:
    """Drop what libraries for drawing say on standard error, past Python, about fonts and splines."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _after(started: float, job: Job, why: str) -> Failure:
    return Failure(job.name, why, time_s=round(time.monotonic() - started, 6))
