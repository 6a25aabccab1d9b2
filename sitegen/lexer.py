"""The colours of `.rdma` and `.mp` programs on the site."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from pygments.lexer import RegexLexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from rdma_robust.reports.share.message_colours import MESSAGE_RULES
from rdma_robust.reports.share.program_colours import ColourRules, states
from rdma_robust.reports.share.rdma_colours import RDMA_RULES

__all__ = ["MessageLexer", "RdmaLexer"]

TOKENS: Final[Mapping[str, _TokenType]] = {
    "block": Comment.Multiline,
    "builtin": Name.Builtin,
    "claim": Keyword,
    "comment": Comment.Single,
    "condition": Keyword,
    "constant": Name.Constant,
    "contract": Keyword,
    "control": Keyword,
    "declaration": Keyword,
    "error": Error,
    "function": Name.Function,
    "label": Name.Label,
    "member": Name,
    "modifier": Keyword,
    "name": Name,
    "node": Name,
    "number": Number.Integer,
    "operation": Name.Builtin,
    "operator": Operator,
    "outcome": Keyword,
    "parameter": Name,
    "program": Name,
    "punctuation": Punctuation,
    "text": String.Double,
    "thread": Name,
}
"""What the kinds of words are on the site."""


def lexer_rules(rules: ColourRules) -> dict[str, list[Any]]:
    """Return the rules of a language as Pygments has them."""
    return {
        name: [
            *((pattern, _told(kinds), *filter(None, [following])) for pattern, kinds, following in state),
            (r"\s", Whitespace),
        ]
        for name, state in states(rules).items()
    }


def _told(kinds: tuple[str, ...]) -> Any:
    """Return what tells Pygments the kinds of what a rule matches, and of what is between its groups."""

    def tokens(_lexer: Any, match: re.Match[str], _context: Any = None) -> Iterator[tuple[int, _TokenType, str]]:
        at = match.start()
        for start, end, kind in _spans(match, kinds):
            yield from _between(match.string, at, start)
            yield start, TOKENS[kind], match.string[start:end]
            at = end
        yield from _between(match.string, at, match.end())

    return tokens


def _spans(match: re.Match[str], kinds: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    for group, kind in enumerate(kinds, 1 if match.re.groups else 0):
        if match.start(group) < match.end(group):
            yield *match.span(group), kind


def _between(text: str, start: int, end: int) -> Iterator[tuple[int, _TokenType, str]]:
    for at in range(start, end):
        yield at, Whitespace if text[at].isspace() else Punctuation, text[at]


class RdmaLexer(RegexLexer):
    name = "rdma"
    aliases: ClassVar = ["rdma"]
    filenames: ClassVar = ["*.rdma"]
    tokens: ClassVar = lexer_rules(RDMA_RULES)
    flags = re.MULTILINE


class MessageLexer(RegexLexer):
    name = "mp"
    aliases: ClassVar = ["mp"]
    filenames: ClassVar = ["*.mp"]
    tokens: ClassVar = lexer_rules(MESSAGE_RULES)
    flags = re.MULTILINE
