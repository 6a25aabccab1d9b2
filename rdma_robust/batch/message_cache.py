"""Answers about message programs kept between runs, in the cache that has those about other programs."""

from __future__ import annotations

import dataclasses
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, Final

from rdma_robust.batch.asked_file import AskedFile
from rdma_robust.batch.cache import Cache
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.reports.messages.messages_record import BufferHeadline, MessagesRecord
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json

MOST_PAIRS: Final = 200_000
"""Of receives and sends in the JSON of a record; one with more is not kept."""


def known_messages(cache: Cache, asked: AskedFile) -> MessagesRecord | None:
    """Return the record of an earlier run, None if there is none that holds for the limits."""
    for question in asked.questions():
        entry = cache.read(question)
        if entry is None:
            continue
        try:
            record = from_json(MessagesRecord, entry["record"])
            proofs = [b64decode(each, validate=True) for each in entry["proofs"]]
        except (Unreadable, KeyError, TypeError, ValueError):
            continue
        if record.headlines and _proven(record, proofs, asked):
            cache.hits += 1
            results = tuple(each | {"file": asked.name} for each in record.results)
            found = tuple(dataclasses.replace(each, file=asked.name) for each in record.findings)
            return dataclasses.replace(record, file=asked.name, results=results, findings=found, source=asked.text)
    return None


def keep_messages(cache: Cache, asked: AskedFile, record: MessagesRecord, proofs: Iterable[bytes], *, lasting: bool) -> None:
    """Keep a record for runs to come, if it would be the same in them: `lasting` says so for the same limits.

    `proofs` are the certificates of all that goes wrong in it; a record without them is not kept.
    """
    certificates = list(proofs)
    pairs = sum(len(listed) for each in record.results if isinstance(listed := each["pairs"], list))
    if not record.headlines or not lasting or pairs > MOST_PAIRS or not _proven(record, certificates, asked):
        return
    settled, limited = asked.questions()
    packed: dict[str, Any] = {"record": to_json(dataclasses.replace(record, file="", source=None))}
    packed["proofs"] = [b64encode(each).decode() for each in certificates]
    final = not asked.asking.get("self_check") and all(_is_settled(each) for each in record.headlines)
    cache.write(settled if final else limited, packed)


def _is_settled(found: BufferHeadline) -> bool:
    """Return whether more time or memory could change nothing."""
    open_ = "unknown" in (found.asserts, found.deadlock, found.race, found.leak) or "+" in found.races
    return not open_ and not found.reason


def _proven(record: MessagesRecord, proofs: Iterable[bytes], asked: AskedFile) -> bool:
    """Return whether a certificate that is accepted stands for everything that goes wrong."""
    wrong = {(each.buffer, "violated") for each in record.headlines if each.asserts == "violated"}
    wrong |= {(each.buffer, "deadlocks") for each in record.headlines if each.deadlock == "yes"}
    shown = set()
    try:
        for proof in proofs:
            proved = verify(read_document(proof), asked.text, asked.name)
            shown.add((proved.model, proved.claim))
    except (InvalidCertificate, ValueError, RecursionError):
        return False
    return wrong <= shown
