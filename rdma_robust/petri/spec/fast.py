"""A fast way to read the usual text of `.spec` files; large ones would take the general parser ten times as long.

Each function reads a text that is all of the usual kind, and answers None to any other: the general parser then reads it,
or says what is wrong. Tests compare the two on every text that is read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rdma_robust.petri.net import Vector
from rdma_robust.petri.spec.spec_tree import MAX_DIGITS, Constraint, Word

# Only characters are repeated possessively: groups that are went wrong before Python 3.11.5.
_BLANK = r"[ \t\r\n\f\v]*+"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_NUMBER = f"[0-9]{{1,{MAX_DIGITS}}}+(?![0-9])"


def _guard(name: str, number: str) -> str:
    return f"{name}{_BLANK}>={_BLANK}{number}"


def _update(name: str, sign: str, number: str) -> str:
    return f"{name}{_BLANK}'{_BLANK}={_BLANK}{name}{_BLANK}(?:{sign}{_BLANK}{number})?"


def _list(item: str) -> str:
    return f"{item}{_BLANK}(?:,{_BLANK}{item}{_BLANK})*"


_NAMES = re.compile(f"vars{_BLANK}(?:{_NAME}{_BLANK})*")
_WORD = re.compile(_NAME)
_RULE = re.compile(
    f"{_BLANK}(?:{_list(_guard(_NAME, _NUMBER))}|true{_BLANK})->{_BLANK}(?:{_list(_update(_NAME, '[+-]', _NUMBER))})?;"
)
_GUARDS = re.compile(r"(?<![A-Za-z0-9_])" + _guard(f"({_NAME})", f"({_NUMBER})"))
_UPDATES = re.compile(r"(?<![A-Za-z0-9_])" + _update(f"({_NAME})", "([+-])", f"({_NUMBER})"))
_CONSTRAINT = re.compile(
    rf"{_BLANK}(,?){_BLANK}({_NAME}){_BLANK}"
    rf"(?:(>=|=){_BLANK}({_NUMBER})|(in){_BLANK}\[{_BLANK}({_NUMBER}){_BLANK},{_BLANK}({_NUMBER}){_BLANK}\])"
)
_KEYWORDS = frozenset({"in", "true"})


def names(text: str, start: int, end: int) -> list[str] | None:
    """Return the places that text[start:end], which begins with `vars`, declares, if each is declared once."""
    if not _NAMES.fullmatch(text, start, end):
        return None
    found = _WORD.findall(text, start + len("vars"), end)
    distinct = set(found)
    return found if len(distinct) == len(found) and not distinct & _KEYWORDS else None


def rule(text: str, start: int, end: int, places: Mapping[str, int]) -> tuple[Vector, Vector] | None:
    """Return guard and delta of the rule at text[start:end], if it is one of a Petri net over `places`."""
    if not _RULE.fullmatch(text, start, end):
        return None
    arrow = text.index("->", start)
    guard: dict[int, int] = {}
    delta: dict[int, int] = {}
    try:
        for name, digits in _GUARDS.findall(text, start, arrow):
            place = places[name]
            guard[place] = max(int(digits), guard.get(place, 0))
        for name, source, sign, digits in _UPDATES.findall(text, arrow, end):
            place = places[name]
            if source != name or place in delta:
                return None
            delta[place] = int(sign + (digits or "0"))
            if sign == "-":
                guard[place] = max(int(digits), guard.get(place, 0))
    except KeyError:  # a place that is not declared
        return None
    return tuple(sorted(item for item in guard.items() if item[1])), tuple(sorted(item for item in delta.items() if item[1]))


def conjunctions(section: str, text: str, start: int, end: int) -> list[list[Constraint]] | None:
    """Return the conjunctions at text[start:end], which begins with the word `section`."""
    end = start + len(text[start:end].rstrip(" \t\r\n\f\v"))
    found: list[list[Constraint]] = []
    at = start + len(section)
    while at < end:
        match = _CONSTRAINT.match(text, at, end)
        if match is None or match[2] in _KEYWORDS:
            return None
        if match[1] and not found:
            return None
        if not match[1]:
            found.append([])
        place = Word(match[2], match.start(2))
        if match[3]:
            found[-1].append(Constraint(place, match[3], Word(match[4], match.start(4))))
        else:
            low, high = Word(match[6], match.start(6)), Word(match[7], match.start(7))
            found[-1].append(Constraint(place, match[5], low, high))
        at = match.end()
    ok = found and (section != "init" or len(found) == 1)
    ok = ok and (section != "invariants" or all(c.operator == "=" for group in found for c in group))
    return found if ok else None
