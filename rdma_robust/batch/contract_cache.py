"""Answers about contracts kept between runs, in the cache that has those about programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rdma_robust.batch.asked_file import AskedFile
from rdma_robust.batch.cache import Cache
from rdma_robust.frame.answer import JsonObject
from rdma_robust.reports.contracts.contracts_record import ContractsRecord
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json

Violated = tuple[object, object, object]
"""A function, a number of processes and the class of an error."""

Replays = Callable[[AskedFile, Sequence[JsonObject]], set[Violated]]
"""Returns what is shown to be violated in a file by runs that were kept, each of which is run again."""


def known_contracts(cache: Cache, asked: AskedFile, replays: Replays) -> ContractsRecord | None:
    """Return the record of an earlier run, None if there is none that holds for the limits.

    What it says is violated is only believed if runs show it.
    """
    for question in asked.questions():
        entry = cache.read(question)
        if entry is None:
            continue
        try:
            record = from_json(ContractsRecord, entry["record"])
            wrong, runs = set(_violated(record)), list(entry["runs"])
        except (Unreadable, KeyError, TypeError):
            continue
        if record.result is not None and record.error_kind is None and (not wrong or wrong <= replays(asked, runs)):
            cache.hits += 1
            found = tuple(dataclasses.replace(each, file=asked.name) for each in record.findings)
            result = record.result | {"file": asked.name}
            return dataclasses.replace(record, file=asked.name, source=asked.text, result=result, findings=found)
    return None


def keep_contracts(cache: Cache, asked: AskedFile, record: ContractsRecord, runs: Sequence[JsonObject]) -> None:
    """Keep a record for runs to come, if it would be the same in them; `runs` show all that is violated in it."""
    if record.error_kind is not None or record.result is None or not record.rows:
        return
    reasons = [each["reason"] for each in _answers(record) if each["verdict"] == "UNKNOWN"]
    if any("memory" in str(each) for each in reasons):
        return
    settled, limited = asked.questions()
    packed: dict[str, Any] = {"record": to_json(dataclasses.replace(record, file="", source=None)), "runs": list(runs)}
    cache.write(limited if reasons else settled, packed)


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
