"""The detailed view of one program: what explains its verdict, drawn, and a repair if one is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.batch.job import Job
from rdma_robust.explain.build import explanation
from rdma_robust.explain.model import Explanation
from rdma_robust.outcome import Outcome
from rdma_robust.reports.explanation_html import source_html
from rdma_robust.reports.explanation_svg import graph_svg
from rdma_robust.reports.explanation_timeline import timeline_svg
from rdma_robust.reports.page import Page


def page_of(outcome: Outcome, job: Job) -> Page:
    """Return the page of `outcome`. A part that cannot be made is left out, and `problem` says why."""
    try:
        told = explanation(outcome, job.options)
    except MemoryError:
        raise
    except Exception as error:
        return Page(problem=f"The explanation could not be made: {_said(error)}")
    page = Page(headline=told.headline, text=told.paragraphs, source=source_html(told))
    timeline, graph = _drawn(told.timeline, told, timeline_svg), _drawn(told.graph, told, graph_svg)
    problems = [f"The drawing could not be made: {_said(e)}" for e in (timeline, graph) if isinstance(e, Exception)]
    return replace(
        page,
        timeline=timeline if isinstance(timeline, str) else "",
        graph=graph if isinstance(graph, str) else "",
        problem=" ".join(problems),
    )


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
