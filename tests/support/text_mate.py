"""What TextMate grammars say of a text, as editors read: line by line, the leftmost match, and of those the first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

Found = tuple[int, int, str]


def scopes_in(text: str, grammar: Mapping[str, Any]) -> Iterator[Found]:
    """Yield (start, end, scope) of what has one; groups, and what `begin` and `end` match, too."""
    open_parts = [dict(grammar)]
    offset = 0
    for line in text.splitlines(keepends=True):
        at = 0
        while at <= len(line):
            match, rule = _first(open_parts[-1], line, at)
            if match is None:
                at += 1
                continue
            if rule is open_parts[-1]:
                captures = open_parts.pop()["endCaptures"]
            elif "begin" in rule:
                captures = rule["beginCaptures"]
                open_parts.append(rule)
            else:
                captures = rule["captures"]
                assert match.end() > at, f"{rule} goes no further"
            for group, scope in captures.items():
                if match.start(int(group)) < match.end(int(group)):
                    yield offset + match.start(int(group)), offset + match.end(int(group)), scope["name"]
            at = match.end()
        offset += len(line)


def _first(part: dict[str, Any], line: str, at: int) -> tuple[re.Match[str] | None, dict[str, Any]]:
    """Return the first rule of a part that matches at a place, its end before all others."""
    if "end" in part and (ends := _compiled(part["end"]).match(line, at)):
        return ends, part
    for rule in part["patterns"]:
        if found := _compiled(rule.get("match") or rule["begin"]).match(line, at):
            return found, rule
    return None, part


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)
