"""An explanation as JSON (`schema/explain.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rdma_robust.explain.model import Explanation
from rdma_robust.reports.exits import Exit
from rdma_robust.reports.json_report import JsonObject, valid_unicode

FORMAT = "rdma-robust/explain"
VERSION = 1
EXITS = {"robust": Exit.OK, "not-robust": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN}


def explanation_object(explanation: Explanation, tool: Mapping[str, object]) -> JsonObject:
    """Return the explanation as a JSON object; `tool` says by what it was made."""
    head: JsonObject = {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "exit_code": int(EXITS[explanation.verdict]),
    }
    return head | dataclasses.asdict(explanation) | {"file": valid_unicode(explanation.file)}
