"""The message programs of `report`: asked as `messages check` asks, and kept with the certificates of what goes wrong."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.frame.question import Section
from rdma_robust.frame.report_part import AskedFile, KeptForm, Lasting, ReportAsking, ReportPart
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking
from rdma_robust.reports.messages.messages_record import BufferHeadline, MessagesRecord

MOST_PAIRS: Final = 200_000
"""Of receives and sends in the JSON of a record; one with more is not kept."""


class KeptMessages(KeptForm[MessagesRecord]):
    """Records with certificates of everything that goes wrong in them."""

    record = MessagesRecord

    def packed(self, proofs: Sequence[bytes]) -> list[str]:
        return [b64encode(each).decode() for each in proofs]

    def lasting(self, asked: AskedFile, answer: Answer[MessagesRecord]) -> Lasting:
        record = answer.record
        pairs = sum(len(listed) for each in record.results if isinstance(listed := each["pairs"], list))
        kept = answer.lasting and pairs <= MOST_PAIRS and self.is_shown(asked, record, self.packed(answer.proofs))
        final = not asked.asking.get("self_check") and all(_is_settled(each) for each in record.headlines)
        return "no" if not kept else "settled" if final else "limited"

    def is_shown(self, asked: AskedFile, record: MessagesRecord, packed: Sequence[Any]) -> bool:
        wrong = {(each.buffer, "violated") for each in record.headlines if each.asserts == "violated"}
        wrong |= {(each.buffer, "deadlocks") for each in record.headlines if each.deadlock == "yes"}
        shown = set()
        try:
            for proof in packed:
                proved = verify(read_document(b64decode(proof, validate=True)), asked.text, asked.name)
                shown.add((proved.model, proved.claim))
        except (InvalidCertificate, ValueError, RecursionError):
            return False
        return bool(record.headlines) and wrong <= shown

    def named(self, record: MessagesRecord, file: str) -> MessagesRecord:
        return replace(record, results=tuple(each | {"file": file} for each in record.results))


def _is_settled(found: BufferHeadline) -> bool:
    """Return whether more time or memory could change nothing."""
    open_ = "unknown" in (found.asserts, found.deadlock, found.race, found.leak) or "+" in found.races
    return not open_ and not found.reason


@dataclass(frozen=True)
class MessagesPart(ReportPart[MessagesAsking, MessagesRecord]):
    """All message programs, but those that have contracts and no processes."""

    def asking(self, how: ReportAsking) -> MessagesAsking:
        return MessagesAsking(
            timeout=how.timeout,
            memory=how.memory,
            expect=how.expect,
            define=how.define,
            explain="junit" in how.forms,
            page="html" in how.forms,
            objects=not how.forms.isdisjoint({"json", "jsonl"}),
            findings="sarif" in how.forms,
            proofs=how.kept,
        )

    def section(self, found: Section[MessagesAsking, MessagesRecord]) -> ReportSection:
        from rdma_robust.reports.batch.message_rows import message_section  # noqa: PLC0415 - only where there are some

        return message_section(found.records, expect=found.asking.expect)


MESSAGES_PART: Final = MessagesPart(MESSAGES_CHECK, (MESSAGES_SUFFIX,), 10, KeptMessages())
