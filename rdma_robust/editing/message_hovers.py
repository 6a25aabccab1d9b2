"""Hovers and completion of message programs: a word and what it means where it stands, names, and what may come next."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from lark import Token

from rdma_robust.diagnose import Reporter
from rdma_robust.frame.editor import Hover, Offer, SymbolKind
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.common_tree import token_span
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_library import library, library_text
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.word_meanings import MEANINGS, Place, meaning_of, placed_tokens

BUILT_IN: Final = {
    "len": "`len(a)`: how many elements an array has.",
    "new": "`new(n)`: an array of n zeros.",
    "true": "`true`: 1, where nothing else has this name.",
    "false": "`false`: 0, where nothing else has this name.",
}
"""Names that mean something where the program gives them no other meaning."""


def message_hover(text: str, offset: int) -> Hover | None:
    """Return what can be said about the word of `text` at the 0-based `offset`, None if nothing."""
    for token, place in placed_tokens(text):
        if _begin(token) <= offset <= _begin(token) + len(token):
            said = _said(text, token, place)
            if said:
                return Hover(said, token_span(token))
    return None


def _said(text: str, token: Token, place: Place) -> str:
    if token.type == "NAME":
        return next((f"`{head}`: {kind}{told}" for name, kind, head, told in _named(text) if name == token), "") or (
            BUILT_IN.get(token, "")
        )
    meaning = meaning_of(token.type, place)
    return "" if meaning is None else f"`{meaning.form}`: {meaning.says}"


def message_offers(text: str, offset: int) -> list[Offer]:
    """Return the words that may stand at the 0-based `offset`, and what is declared: those of contracts in one, those
    of claims in an `expect` line."""
    place: Place = "program"
    for token, where in placed_tokens(text[:offset] + "$"):
        if _begin(token) >= offset:
            place = where
            break
    words = [each for each in MEANINGS if each.place == place]
    names = _named(text) if place != "expect" else ()
    return [
        *(Offer(name, kind, head) for name, kind, head, _ in names),
        *(Offer(each.word, "keyword", each.says) for each in words),
    ]


def _named(text: str) -> Iterator[tuple[str, SymbolKind, str, str]]:
    """Yield what a program and the library declare for all: name, kind, the head of the declaration, and what it says."""
    yield from _declared(text)
    for function in library().values():
        yield (*_function(library_text(), function)[:3], f" of the library{_function(library_text(), function)[3]}")


def _declared(text: str) -> Iterator[tuple[str, SymbolKind, str, str]]:
    found, _, _ = parse_tree(text, Reporter("", text), message_grammar())
    for item in tree.declarations(found) if found is not None else ():
        match item:
            case tree.FunctionItem():
                yield _function(text, item)
            case tree.Proc(name, numbers):
                whole = "" if numbers is None else f"[{text[numbers.span.start : numbers.span.end]}]"
                yield name.text, "process", f"proc {name.text}{whole}", _comment(text, item.span.start)
            case tree.PortLine(names):
                yield from ((name.text, "port", f"port {name.text}", "") for name in names)
            case ast.Constants(bindings):
                yield from ((b.name.text, "constant", text[b.span.start : b.span.end], "") for b in bindings)
            case _:
                pass


def _function(text: str, item: tree.FunctionItem) -> tuple[str, SymbolKind, str, str]:
    parameters = ", ".join(each.text for each in item.parameters)
    return item.name.text, "function", f"fun {item.name.text}({parameters})", _comment(text, item.span.start)


def _comment(text: str, start: int) -> str:
    """Return the comment above a declaration, behind a colon."""
    above = text[:start].splitlines()[::-1]
    lines = takewhile(lambda line: line.startswith("//"), above)
    said = " ".join(line.removeprefix("//").strip() for line in reversed(list(lines)))
    return f": {said}" if said else ""


def _begin(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos
