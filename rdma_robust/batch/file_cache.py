"""Answers about files kept between runs, in the cache that has those about programs that share memory.

What an answer says is wrong is only believed if it can be shown again: by what its question keeps for that.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from rdma_robust.batch.cache import Cache
from rdma_robust.frame.answer import Answer, R
from rdma_robust.frame.report_part import AskedFile, KeptForm
from rdma_robust.reports.share.from_json import Unreadable, from_json, to_json


def known(cache: Cache, form: KeptForm[R], asked: AskedFile) -> R | None:
    """Return the record of an earlier run, None if there is none that holds for the limits and whose errors are shown."""
    for key in asked.keys():  # noqa: SIM118 - no mapping
        entry = cache.read(key)
        if entry is None:
            continue
        try:
            record: Any = from_json(form.record, entry["record"])
            shown = form.is_shown(asked, record, entry["proofs"])
        except (Unreadable, KeyError, TypeError, ValueError):
            continue
        if shown:
            cache.hits += 1
            found = tuple(dataclasses.replace(each, file=asked.name) for each in record.findings)
            record = dataclasses.replace(record, file=asked.name, source=asked.text, findings=found)
            return form.named(record, asked.name)
    return None


def keep(cache: Cache, form: KeptForm[R], asked: AskedFile, answer: Answer[R]) -> None:
    """Keep an answer for runs to come, if it would be the same in them."""
    lasting = form.lasting(asked, answer)
    if lasting == "no":
        return
    settled, limited = asked.keys()
    record: Any = answer.record
    plain = to_json(dataclasses.replace(record, file="", source=None))
    cache.write(settled if lasting == "settled" else limited, {"record": plain, "proofs": form.packed(answer.proofs)})
