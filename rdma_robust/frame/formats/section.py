"""The answers to one question as a whole report: JSON, SARIF, JUnit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rdma_robust import TOOL
from rdma_robust.frame.answer import JsonObject, envelope
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.formats.junit import junit_document
from rdma_robust.frame.formats.sarif import ScannedFile, sarif_log
from rdma_robust.frame.question import Section


def document(section: Section[Any, Any]) -> JsonObject:
    """Return the answers as one versioned object."""
    view = section.view
    results = [each for record in section.records for each in view.objects(record)]
    made = TOOL, section.asking.described()
    return envelope(section.question.form, results, section.counts, made, view.more(section))


def _sarif(section: Section[Any, Any]) -> str:
    view, counts = section.view, section.counts
    files = [ScannedFile(a.record.file, a.text, list(view.findings(a.record))) for a in section.answers]
    return sarif_log(files, counts.exit_code, TOOL, interrupted=counts.interrupted)


SECTION_WRITERS: Final[Mapping[str, Callable[[Section[Any, Any]], str]]] = {
    "json": lambda section: layout(document(section)),
    "junit": lambda section: junit_document(section.view.cases(section)),
    "sarif": _sarif,
}
"""What writes a whole report of one question, by the form."""
