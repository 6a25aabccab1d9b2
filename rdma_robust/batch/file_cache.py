"""Answers about files of `.mp` kept between runs, in the cache that has those about other programs: messages and contracts.

What an answer says is wrong is only believed if it can be shown again: by certificates, or by runs that are run again.
"""

from __future__ import annotations

import dataclasses
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal, TypeVar

from rdma_robust.batch.cache import Cache, Question
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.frame.answer import JsonObject
from rdma_robust.reports.contracts.contracts_record import ContractsRecord
from rdma_robust.reports.messages.messages_record import BufferHeadline, MessagesRecord
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json
from rdma_robust.text import sha256

_LIMITS = ("timeout", "memory")
MOST_PAIRS: Final = 200_000
"""Of receives and sends in the JSON of a record; one with more is not kept."""

Kept = TypeVar("Kept", MessagesRecord, ContractsRecord)

Violated = tuple[object, object, object]
"""A function, a number of processes and the class of an error."""


@dataclass(frozen=True, slots=True)
class AskedFile:
    """What is asked of the text of a file: what kind of question, all that its answer depends on, and the limits."""

    kind: Literal["messages", "contracts"]
    name: str
    text: str
    asking: Mapping[str, object]
    limits: Mapping[str, object]

    @staticmethod
    def of(kind: Literal["messages", "contracts"], name: str, text: str, asking: Any) -> AskedFile:
        """Return what a record of options, with `timeout` and `memory`, asks of a text."""
        options = json.loads(json.dumps(dataclasses.asdict(asking)))
        limits = {each: options.pop(each) for each in _LIMITS}
        return AskedFile(kind, name, text, options, limits)

    def questions(self) -> tuple[Question, Question]:
        """Return what is asked without the limits, and with them: what a limit cut short answers only the same limits."""
        named = self.name if self.asking.get("page") else PurePath(self.name).stem
        settled: Question = {self.kind: True, "text": sha256(self.text), "name": named, **self.asking}
        return settled, {**settled, **self.limits}


Replays = Callable[[AskedFile, Sequence[JsonObject]], set[Violated]]
"""Returns what is shown to be violated in a file by runs that were kept, each of which is run again."""


def _known(
    cache: Cache, asked: AskedFile, kind: type[Kept], is_shown: Callable[[Kept, Mapping[str, Any]], bool]
) -> Kept | None:
    """Return the record of an earlier run, None if there is none that holds for the limits and whose errors are shown."""
    for question in asked.questions():
        entry = cache.read(question)
        if entry is None:
            continue
        try:
            record = from_json(kind, entry["record"])
            shown = is_shown(record, entry)
        except (Unreadable, KeyError, TypeError, ValueError):
            continue
        if shown:
            cache.hits += 1
            found = tuple(dataclasses.replace(each, file=asked.name) for each in record.findings)
            return dataclasses.replace(record, file=asked.name, source=asked.text, findings=found)
    return None


def _packed(record: MessagesRecord | ContractsRecord, **shown: object) -> dict[str, object]:
    return {"record": to_json(dataclasses.replace(record, file="", source=None)), **shown}


def known_messages(cache: Cache, asked: AskedFile) -> MessagesRecord | None:
    """Return the record of an earlier run, None if there is none that holds for the limits."""

    def is_shown(record: MessagesRecord, entry: Mapping[str, Any]) -> bool:
        proofs = [b64decode(each, validate=True) for each in entry["proofs"]]
        return bool(record.headlines) and _proven(record, proofs, asked)

    record = _known(cache, asked, MessagesRecord, is_shown)
    if record is None:
        return None
    return dataclasses.replace(record, results=tuple(each | {"file": asked.name} for each in record.results))


def keep_messages(cache: Cache, asked: AskedFile, record: MessagesRecord, proofs: Iterable[bytes], *, lasting: bool) -> None:
    """Keep a record for runs to come, if it would be the same in them: `lasting` says so for the same limits.

    `proofs` are the certificates of all that goes wrong in it; a record without them is not kept.
    """
    certificates = list(proofs)
    pairs = sum(len(listed) for each in record.results if isinstance(listed := each["pairs"], list))
    if not record.headlines or not lasting or pairs > MOST_PAIRS or not _proven(record, certificates, asked):
        return
    settled, limited = asked.questions()
    final = not asked.asking.get("self_check") and all(_is_settled(each) for each in record.headlines)
    packed = _packed(record, proofs=[b64encode(each).decode() for each in certificates])
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


def known_contracts(cache: Cache, asked: AskedFile, replays: Replays) -> ContractsRecord | None:
    """Return the record of an earlier run, None if there is none that holds for the limits."""

    def is_shown(record: ContractsRecord, entry: Mapping[str, Any]) -> bool:
        wrong, runs = set(_violated(record)), list(entry["runs"])
        known = record.result is not None and record.error_kind is None
        return known and (not wrong or wrong <= replays(asked, runs))

    record = _known(cache, asked, ContractsRecord, is_shown)
    if record is None or record.result is None:
        return None
    return dataclasses.replace(record, result=record.result | {"file": asked.name})


def keep_contracts(cache: Cache, asked: AskedFile, record: ContractsRecord, runs: Sequence[JsonObject]) -> None:
    """Keep a record for runs to come, if it would be the same in them; `runs` show all that is violated in it."""
    if record.error_kind is not None or record.result is None or not record.rows:
        return
    reasons = [each["reason"] for each in _answers(record) if each["verdict"] == "UNKNOWN"]
    if any("memory" in str(each) for each in reasons):
        return
    settled, limited = asked.questions()
    cache.write(limited if reasons else settled, _packed(record, runs=list(runs)))


def _answers(record: ContractsRecord) -> Iterator[dict[str, Any]]:
    """Yield the answers in the JSON of a record, each with the name of its function. Raises KeyError, TypeError."""
    result: Any = record.result or {"functions": []}
    for function in result["functions"]:
        for each in function["n"]:
            yield {"function": function["name"], **each}


def _violated(record: ContractsRecord) -> Iterator[Violated]:
    for each in _answers(record):
        if each["verdict"] == "VIOLATED":
            yield each["function"], each["n"], each["class"]
