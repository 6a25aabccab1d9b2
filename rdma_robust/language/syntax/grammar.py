"""The parser of `grammars/rdma.lark`, made once per process."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lark import Lark, Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from rdma_robust import grammar_tables
from rdma_robust.language.syntax.tree import TreeBuilder

ERROR: Final = "ERROR"
END: Final = "$END"
ASSIGNS: Final = frozenset({"EQUAL", "PLUS_EQUAL", "MINUS_EQUAL", "TIMES_EQUAL", "DIVIDE_EQUAL", "MODULO_EQUAL"})
"""The terminals that make a statement an assignment."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """`literals` are the texts of the terminals that have just one; `keywords` are those of them that are words, and
    `first` the terminals that can begin a file."""

    lark: Lark
    literals: dict[str, str]
    keywords: dict[str, str]
    first: frozenset[str]

    def lex(self, text: str) -> Iterator[Token]:
        """Return the tokens of `text`, comments and characters without a meaning included."""
        return self.lark.lex(text)

    def parser(self) -> InteractiveParser:
        """Return a parser that is fed token by token, at the start of a file."""
        return self.lark.parse_interactive()


@functools.cache
def load_grammar() -> Grammar:
    """Return the grammar of programs."""
    lark = grammar_tables.parser("rdma", TreeBuilder())
    literals = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    keywords = {name: text for name, text in literals.items() if text.isalpha()}
    return Grammar(lark, literals, keywords, frozenset(filter(str.isupper, lark.parse_interactive().choices())))
