"""The detailed view of one program: what explains its verdict, drawn, and a repair if one is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.explain.explanation import Explanation
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions
from rdma_robust.batch.job import Job
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.reports.batch.batch_view import Page
from rdma_robust.reports.explanation.explanation_html import orders_html, source_html
from rdma_robust.reports.explanation.explanation_svg import graph_svg
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg


def page_of(outcome: Outcome, job: Job) -> Page:
    """Return the page of `outcome`. A part that cannot be made is left out, and `problem` says why."""
    try:
        told = explanation(outcome, job.options)
    except MemoryError:
        raise
    except Exception as error:
        return Page(problem=f"The explanation could not be made: {_said(error)}")
    page = Page(headline=told.headline, text=told.paragraphs, source=source_html(told), orders=orders_html(told))
    timeline, graph = _drawn(told.timeline, told, timeline_svg), _drawn(told.graph, told, graph_svg)
    problems = [f"The drawing could not be made: {_said(e)}" for e in (timeline, graph) if isinstance(e, Exception)]
    page = replace(
        page,
        timeline=timeline if isinstance(timeline, str) else "",
        graph=graph if isinstance(graph, str) else "",
        problem=" ".join(problems),
    )
    return _repaired(page, job) if job.repair and outcome.verdict is Verdict.NOT_ROBUST else page


def _repaired(page: Page, job: Job) -> Page:
    """Return `page` with a repair, or with the reason why there is none."""
    limits = replace(job.options, self_check=False)
    try:
        found = repair(job.text, job.name, RepairOptions(timeout=job.repair), limits)
    except MemoryError:
        raise
    except Exception as error:
        return replace(page, repair_note=f"A repair could not be looked for: {_said(error)}")
    diff = found.solutions[0].diff.splitlines(keepends=True)[2:] if found.solutions else []
    cut = found.status == "unknown" or (found.status == "repaired" and not found.optimal)
    return replace(page, repair="".join(diff), repair_note=repair_note(found), cut=cut)


def repair_note(found: Repair) -> str:
    """Return in a sentence what a repair inserts and what it costs, or why there is none."""
    if not found.solutions:
        return found.reason[:1].upper() + found.reason[1:] + "."
    inserted = [f"`{'; '.join(i.lines)}` in {i.thread} (line {i.line})" for i in found.insertions]
    listed = ", ".join(inserted[:-1]) + (" and " if inserted[1:] else "") + inserted[-1]
    kind = "A cheapest repair" if found.optimal else "A repair, the cheapest that was found in time,"
    return f"{kind} inserts {listed}. It was decided again and is robust."


def _drawn(what: object, told: Explanation, draw: Callable[[Explanation], str]) -> str | Exception:
    """Return the drawing, nothing if there is nothing to draw, or why it could not be made."""
    try:
        return "" if what is None else draw(told)
    except MemoryError:
        raise
    except Exception as error:
        return error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
