"""The answers of `prove` for one program as a page that needs nothing else: source, runs as drawings, facts, fences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.reports.prove.proof_lines import proof_headline
from rdma_robust.reports.prove.proof_record import ProofRecord
from rdma_robust.reports.prove.proofs_view import WORDS
from rdma_robust.reports.share.html_templates import SourceLine, source_listing, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script
from rdma_robust.text import lines_of

_PACKAGE: Final = "rdma_robust.reports.prove"
_CLASSES: Final = {"safe": "robust", "unsafe": "not-robust", "unknown": "unknown", "refused": "unknown"}
_MARKS: Final = {"fault": "violated under", "keeps": "needed under", "cycle": "reordered by"}
_NEEDED: Final = {"safe": "safe: it is not needed", "unsafe": "unsafe", "unknown": "open"}


def proof_html(record: ProofRecord, drawings: Mapping[str, str], version: str) -> str:
    """Return the page; `drawings` are the runs of unsafe models as SVG, `version` is that of the tool."""
    told = ", ".join(f"{each.model} {WORDS[each.verdict]}" for each in record.models)
    return (
        _templates()
        .get_template("proof.html.j2")
        .render(
            told=record,
            title=f"{record.program}: {told}",
            classes=_CLASSES,
            words=WORDS,
            needed=_NEEDED,
            heads={each.model: proof_headline(each, after="after the run below.") for each in record.models},
            marked={each.weaker for each in record.differences if each.lines},
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            source=source_listing(_lines(record)),
            drawings={model: Markup(drawing) for model, drawing in drawings.items()},
            version=version,
        )
    )


@cache
def _templates() -> Environment:
    return templates(_PACKAGE)


def _lines(record: ProofRecord) -> list[SourceLine]:
    marks: dict[int, dict[str, list[str]]] = {}

    def mark(line: int, kind: str, model: str) -> None:
        marks.setdefault(line, {}).setdefault(kind, []).append(model)

    for each in record.models:
        if each.claim is not None:
            mark(each.claim.line, "fault", each.model)
        for need in each.needs:
            if need.verdict == "unsafe":
                mark(need.line, "keeps", each.model)
    for difference in record.differences:
        for line in difference.lines:
            mark(line, "cycle", difference.weaker)
    texts = lines_of(record.source or "")
    return [SourceLine(n, text, tuple(marks.get(n, ())), _badge(marks.get(n, {}))) for n, text in enumerate(texts, 1)]


def _badge(marks: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{_MARKS[kind]} {', '.join(models)}" for kind, models in marks.items())
