"""JSON as reports write it: ASCII, one object a line or one member a line."""

from __future__ import annotations

import json

from rdma_robust.frame.answer import JsonObject
from rdma_robust.text import printable


def dump(value: object) -> str:
    """Return `value` on one line of JSON, in ASCII characters only so that no terminal takes offence."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def layout(value: JsonObject) -> str:
    """Return `value` as JSON with a line for each member and for each element of a list member."""
    members = [f"  {dump(key)}: {_member(member)}" for key, member in value.items()]
    return "{\n" + ",\n".join(members) + "\n}"


def _member(value: object) -> str:
    if not isinstance(value, list) or not value:
        return dump(value)
    return "[\n" + ",\n".join(f"    {dump(element)}" for element in value) + "\n  ]"


def valid_unicode(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return printable(text)
    return text
