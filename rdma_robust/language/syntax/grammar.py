"""The parsers of languages, each made once per process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from lark import Lark, Token, Transformer
from lark.parsers.lalr_interactive_parser import InteractiveParser

from rdma_robust import grammar_tables
from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.contextual import contextual_tokens
from rdma_robust.language.syntax.layout import InContext
from rdma_robust.language.syntax.syntax_words import RDMA_WORDS, SyntaxWords
from rdma_robust.language.syntax.tree import TreeBuilder
from rdma_robust.language.syntax.tree_limits import within_limits

ERROR: Final = "ERROR"
END: Final = "$END"
ASSIGNS: Final = frozenset({"EQUAL", "PLUS_EQUAL", "MINUS_EQUAL", "TIMES_EQUAL", "DIVIDE_EQUAL", "MODULO_EQUAL"})
"""The terminals that make a statement an assignment."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language. `literals` are the texts of the terminals that have just one; `keywords` are those of them that are words,
    and `first` the terminals that can begin a file. `contextual_tokens` makes names of words that are no keywords where they
    stand, and `within_limits` says whether a tree is shallow enough for recursion, or reports what is not.
    """

    lark: Lark
    literals: dict[str, str]
    keywords: dict[str, str]
    first: frozenset[str]
    in_context: InContext
    words: SyntaxWords
    within_limits: Callable[[ast.ProgramTree, Reporter], bool]

    def lex(self, text: str) -> Iterator[Token]:
        """Return the tokens of `text`, comments and characters without a meaning included."""
        parser = self.lark.parse_interactive(text)  # Lark.lex makes a lexer anew each time
        tokens: Iterator[Token] = parser.lexer_thread.lex(parser.parser_state)
        return tokens

    def parser(self) -> InteractiveParser:
        """Return a parser that is fed token by token, at the start of a file."""
        return self.lark.parse_interactive()


@functools.cache
def load_grammar() -> Grammar:
    """Return the grammar of programs."""
    return grammar_of("rdma", TreeBuilder(), contextual_tokens, RDMA_WORDS, within_limits)


def grammar_of(
    name: grammar_tables.Name,
    builder: Transformer[Token, ast.ProgramTree],
    in_context: InContext,
    words: SyntaxWords,
    within_limits: Callable[[ast.ProgramTree, Reporter], bool],
) -> Grammar:
    """Return the grammar of a language, whose trees `builder` makes."""
    lark = grammar_tables.parser(name, builder)
    literals = {t.name: t.pattern.value for t in lark.terminals if t.pattern.type == "str"}
    keywords = {name: text for name, text in literals.items() if text.isalpha()}
    first = frozenset(filter(str.isupper, lark.parse_interactive().choices()))
    return Grammar(lark, literals, keywords, first, in_context, words, within_limits)
