"""The answers to one question as a whole report: JSON, SARIF, JUnit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from rdma_robust import TOOL
from rdma_robust.frame.answer import JsonObject, envelope
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.question import Section

if TYPE_CHECKING:
    from rdma_robust.frame.formats.sarif import ScannedFile


def document(section: Section[Any, Any]) -> JsonObject:
    """Return the answers as one versioned object."""
    view = section.view
    results = [each for record in section.records for each in view.objects(record)]
    made = TOOL, section.asking.described()
    return envelope(section.question.form, results, section.counts, made, view.more(section))


def scanned_files(section: Section[Any, Any]) -> list[ScannedFile]:
    """Return the inputs with what is found in them."""
    from rdma_robust.frame.formats.sarif import ScannedFile  # noqa: PLC0415 - slow, and for few forms

    # A record that keeps the text of its input keeps none where there is no answer, and fingerprints are made of that.
    texts = [getattr(each.record, "source", each.text) for each in section.answers]
    records = zip(section.records, texts, strict=True)
    return [ScannedFile(record.file, text, list(section.view.findings(record))) for record, text in records]


def _sarif(section: Section[Any, Any]) -> str:
    from rdma_robust.frame.formats.sarif import sarif_log  # noqa: PLC0415 - slow, and for few forms

    counts = section.counts
    return sarif_log(scanned_files(section), counts.exit_code, TOOL, interrupted=counts.interrupted)


def _junit(section: Section[Any, Any]) -> str:
    from rdma_robust.frame.formats.junit import junit_document  # noqa: PLC0415 - slow, and for few forms

    return junit_document(section.view.cases(section))


SECTION_WRITERS: Final[Mapping[str, Callable[[Section[Any, Any]], str]]] = {
    "json": lambda section: layout(document(section)),
    "junit": _junit,
    "sarif": _sarif,
}
"""What writes a whole report of one question, by the form."""
