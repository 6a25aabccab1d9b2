"""The grammar of `.spec` files at work: sections and rules as syntax trees, syntax errors in words."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final, NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from rdma_robust import grammar_tables
from rdma_robust.diagnose import listing, quote

MAX_DIGITS: Final = 1000
"""Python prints numbers of up to 4300 digits; those of a net grow along a run, but not by so much."""


class SpecWord(NamedTuple):
    """A name or a number, and its offset in the file."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Constraint:
    """`place = low`, `place >= low` or `place in [low,high]`; the operator is `=`, `>=` or `in`."""

    place: SpecWord
    operator: str
    low: SpecWord
    high: SpecWord | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """`place' =` the sum of `terms` plus or minus `amount`; the text ends at `end`."""

    place: SpecWord
    terms: tuple[SpecWord, ...]
    sign: str
    amount: SpecWord | None
    end: int


@dataclass(frozen=True, slots=True)
class SpecRule:
    guards: tuple[Constraint, ...]
    updates: tuple[Update, ...]


class SpecSyntaxError(Exception):
    """A mistake in the text from offset `at` to `end`, what was expected, and what to do."""

    def __init__(self, message: str, at: int, end: int, expected: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.at, self.end, self.expected, self.hint = at, end, expected, hint


def show_at(text: str, at: int) -> str:
    """Return what stands at an offset, in words."""
    while at < len(text) and text[at] in " \t\r\n\f\v":
        at += 1
    if at >= len(text):
        return "end of the file"
    end = at + 1
    while end < len(text) and text[at].isalnum() and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return quote(text[at:end])


_WORDS: Final = {"NAME": "a place", "NUMBER": "a number", "__ANON_0": "`->`"}
_FOLLOWS: Final = {"vars": "`rules`", "init": "`target`", "target": "`invariants`, the end of the file"}
_NO_CONSTRAINT: Final = "a constraint is `x >= 3`, `x = 3` or `x in [3,5]`"
_HINTS: Final = {
    "<": _NO_CONSTRAINT,
    ">": _NO_CONSTRAINT,
    "!": _NO_CONSTRAINT,
    "==": _NO_CONSTRAINT,
    "=>": "the arrow of a rule is `->`",
    "/": "comments start with `#`",
    "*": "places are changed by adding or subtracting a number",
    ".": "numbers are whole; names are made of ASCII letters, digits and `_`",
}


@functools.cache
def _grammar() -> Lark:
    return grammar_tables.parser("spec")


def parse_spec(text: str) -> Tree[Token]:
    """Return the tree of a whole file, as the grammar has it. Raises SpecSyntaxError. Slow: the reference for tests."""
    return _parse("program", text, 0, len(text))


def parse_names(text: str, start: int, end: int) -> list[SpecWord]:
    """Return the places of the `vars` section at text[start:end]. Raises SpecSyntaxError."""
    return [_word(token, start) for token in _parse("vars", text, start, end).children if isinstance(token, Token)]


def parse_rule(text: str, start: int, end: int) -> SpecRule:
    """Return the rule at text[start:end], semicolon included. Raises SpecSyntaxError."""
    guards, updates = _trees(_parse("rule", text, start, end))
    return SpecRule(
        tuple(_constraint(tree, start) for tree in _trees(guards)), tuple(_update(tree, start) for tree in _trees(updates))
    )


def parse_constraints(section: str, text: str, start: int, end: int) -> list[list[Constraint]]:
    """Return the conjunctions of the section `init`, `target` or `invariants` at text[start:end]. Raises SpecSyntaxError."""
    tree = _parse(section, text, start, end)
    return [[_constraint(constraint, start) for constraint in _trees(group)] for group in _trees(tree)]


def _parse(start_symbol: str, text: str, start: int, end: int) -> Tree[Token]:
    interactive = _grammar().parse_interactive(text[start:end], start=start_symbol)
    try:
        interactive.exhaust_lexer()
        tree: Tree[Token] = interactive.feed_eof()
        return tree
    except UnexpectedToken as error:
        at = (error.token.start_pos or 0) + start if error.token.type != "$END" else end
        stop = at + max(1, len(error.token))
    except UnexpectedCharacters as error:
        at = (error.pos_in_stream or 0) + start
        stop = at + 1
    expected = listing(sorted(_show_terminal(kind, start_symbol) for kind in _acceptable(start_symbol, text[start:at])))
    raise SpecSyntaxError(f"unexpected {show_at(text, at)}", at, stop, expected, _hint(text, at))


def _acceptable(start_symbol: str, before: str) -> set[str]:
    """Return the kinds of tokens that may follow `before`; at the error itself the parser has already ruled some out."""
    interactive = _grammar().parse_interactive("", start=start_symbol)
    for token in _grammar().lex(before):
        interactive.feed_token(token)
    return set(interactive.accepts())


def _show_terminal(kind: str, start_symbol: str) -> str:
    if kind == "$END":
        return _FOLLOWS.get(start_symbol, "the end of the file")
    patterns = {terminal.name: terminal.pattern.value for terminal in _grammar().terminals}
    return _WORDS.get(kind) or quote(patterns[kind].replace("\\", ""))


def _hint(text: str, at: int) -> str:
    if at < len(text) and text[at] > "\x7f":
        return "names are made of ASCII letters, digits and `_`"
    signs = (text[max(0, at - 1) : at + 1], text[at : at + 2], text[at : at + 1])
    return next((_HINTS[sign] for sign in signs if sign in _HINTS), "")


def _trees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree)]


def _word(token: Token, start: int) -> SpecWord:
    return SpecWord(str(token), (token.start_pos or 0) + start)


def _constraint(tree: Tree[Token], start: int) -> Constraint:
    tokens = [child for child in tree.children if isinstance(child, Token)]
    words = [_word(token, start) for token in tokens]
    return Constraint(words[0], words[1].text, words[2], words[3] if len(words) > 3 else None)


def _update(tree: Tree[Token], start: int) -> Update:
    tokens = [child for child in tree.children if isinstance(child, Token)]
    words = [_word(token, start) for token in tokens]
    terms = tuple(w for w, t in zip(words[1:], tokens[1:], strict=True) if t.type == "NAME")
    amount = words[-1] if tokens[-1].type == "NUMBER" else None
    sign = words[-2].text if amount and terms else "+"
    return Update(words[0], terms, sign, amount, words[-1].at + len(words[-1].text))
