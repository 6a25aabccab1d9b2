"""An explanation as JSON (`schema/explain.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rdma_robust.analyses.explain.explanation import Explanation
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import valid_unicode

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
    return head | {name: _valid(value) for name, value in dataclasses.asdict(explanation).items()}


def _valid(value: object) -> object:
    """Return `value` with the texts in it made valid Unicode: the name of a file need not be."""
    match value:
        case str():
            return valid_unicode(value)
        case dict():
            return {name: _valid(each) for name, each in value.items()}
        case list() | tuple():
            return [_valid(each) for each in value]
    return value
