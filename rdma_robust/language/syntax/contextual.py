"""Words that are keywords only where nothing else can stand, so that programs which use them as names keep their meaning.

The lexer takes them for keywords everywhere; here they become names again wherever they are none. A word that the language
gets later belongs here, with the place where it is a keyword: one at which no name could stand before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from lark import Token

WORDS: Final = frozenset({"FOR", "HANG", "IN", "MACRO", "NO"})
"""The terminals of words that are keywords in places only."""

_STARTS: Final = frozenset({"", "NEWLINE", "SEMICOLON", "LBRACE", "RBRACE"})


def in_context(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a file, comments left out, with names for the words that are none of the language's there.

    - `for` and `macro` begin a line and a word follows;
    - `in` is the second word after such a `for`;
    - `hang` and `no` are in an `expect` line.

    A macro may have the name of what the language can be asked to do by a statement of that form, `cas`. Then such a
    statement is the macro.
    """
    hidden = any(a.type == "MACRO" and b.type == "CAS" for a, b in pairwise(tokens))
    expecting = False
    previous = ""
    counter = -1
    """Where the name after a `for` stands."""
    for at, token in enumerate(tokens):
        kind = token.type
        if kind == "EXPECT":
            expecting = True
        elif kind == "SEMICOLON" or (kind == "NEWLINE" and previous != "COMMA"):
            expecting = False
        match kind:
            case "HANG" | "NO":
                keyword = expecting
            case "IN":
                keyword = counter == at - 1
            case "FOR" | "MACRO":
                keyword = previous in _STARTS and at + 1 < len(tokens) and tokens[at + 1].isidentifier()
                counter = at + 1 if keyword and kind == "FOR" else counter
            case "CAS" if hidden:
                calls = previous in _STARTS and at + 1 < len(tokens) and tokens[at + 1].type == "LPAR"
                keyword = previous != "MACRO" and not calls
            case _:
                keyword = True
        yield token if keyword else token.update(type="NAME")
        previous = kind if keyword else "NAME"
