"""Expressions with the operator first, `(= a (+ b 1))`, as `.mp` text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
_NUMBER: Final = re.compile(r"-?[0-9]{1,1000}\Z")
_OPERATORS: Final = {
    "=": "==",
    "==": "==",
    "/=": "!=",
    "!=": "!=",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
    "+": "+",
    "-": "-",
    "*": "*",
    "and": "&&",
    "or": "||",
    "not": "!",
}
_DEEPEST: Final = 100


class PrefixError(Exception):
    """What is wrong with an expression, and at which of its characters."""

    def __init__(self, said: str, at: int) -> None:
        super().__init__(said)
        self.said = said
        self.at = at


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A number or a name, without operands, or an operator of `.mp` and its operands."""

    word: str
    operands: tuple[Prefixed, ...] = ()
    is_name: bool = False

    def names(self) -> Iterator[str]:
        """Yield the names in it."""
        if self.is_name:
            yield self.word
        for each in self.operands:
            yield from each.names()

    def text(self, named: dict[str, str]) -> str:
        """Return it as `.mp` text, with other names."""
        if not self.operands:
            return named[self.word] if self.is_name else self.word
        parts = [f"({each.text(named)})" if each.operands else each.text(named) for each in self.operands]
        return f"{self.word}{parts[0]}" if len(parts) == 1 else f" {self.word} ".join(parts)


def prefixed(text: str) -> Prefixed:
    """Return the expression in a text, around which the outermost parentheses may be left out. Raises PrefixError."""
    tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    if not tokens:
        raise PrefixError("there is no expression", 0)
    if tokens[0][0] in _OPERATORS:
        tokens = [("(", 0), *tokens, (")", len(text))]
    found, after = _read(tokens, 0, 0)
    if after < len(tokens):
        raise PrefixError("there is something behind the expression", tokens[after][1])
    return found


def _read(tokens: list[tuple[str, int]], at: int, depth: int) -> tuple[Prefixed, int]:
    word, place = tokens[at]
    if word == ")" or depth > _DEEPEST:
        raise PrefixError("an expression was expected here", place)
    if word != "(":
        return Prefixed(word, is_name=not _NUMBER.match(word)), at + 1
    name, place = tokens[at + 1] if at + 1 < len(tokens) else ("", place)
    operator = _OPERATORS.get(name)
    if operator is None:
        raise PrefixError(f"no operator: expected one of {' '.join(_OPERATORS)}", place)
    operands: list[Prefixed] = []
    at += 2
    while at < len(tokens) and tokens[at][0] != ")":
        operand, at = _read(tokens, at, depth + 1)
        operands.append(operand)
    if at == len(tokens):
        raise PrefixError("a parenthesis is not closed", place)
    few = 1 if operator in ("!", "-") else 2
    if len(operands) < few or (operator == "!" and len(operands) > 1) or (operator in _CHAINLESS and len(operands) > 2):
        raise PrefixError(f"`{name}` has another number of operands", place)
    return Prefixed(operator, tuple(operands)), at + 1


_CHAINLESS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "-"})
