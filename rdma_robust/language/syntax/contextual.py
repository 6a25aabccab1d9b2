"""Words that are keywords only where nothing else can stand, so that programs which use them as names keep their meaning.

The lexer takes them for keywords everywhere; here they become names again wherever they are none. A word that the language
gets later belongs here, with the place where it is a keyword: one at which no name could stand before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from lark import Token

WORDS: Final = frozenset({"HANG", "NO"})
"""The terminals of words that are keywords in places only."""


def in_context(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a file, comments left out, with names for the words that are none of the language's there."""
    expecting = False
    previous = ""
    for token in tokens:
        kind = token.type
        if kind == "EXPECT":
            expecting = True
        elif kind == "SEMICOLON" or (kind == "NEWLINE" and previous != "COMMA"):
            expecting = False
        keyword = expecting and kind in {"HANG", "NO"}
        yield token if keyword or kind not in WORDS else token.update(type="NAME")
        previous = kind
