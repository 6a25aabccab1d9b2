"""The colours of programs: kinds of words, and the rules of a language that say which word is of which kind.

The site's lexers, the editor of the playground and the grammars of `editors/` are made from the same rules. A rule sees one
line at a time, as TextMate reads; the first that matches counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, _TokenType


class Kind(NamedTuple):
    """A kind of word: what it is on the site, in the playground (nothing: no colour) and in editors."""

    token: _TokenType
    page: str
    scope: str


KINDS: Final[Mapping[str, Kind]] = {
    "block": Kind(Comment.Multiline, "comment", "comment.block"),
    "builtin": Kind(Name.Builtin, "builtin", "support.function.builtin"),
    "claim": Kind(Keyword, "keyword", "keyword.other.claim"),
    "comment": Kind(Comment.Single, "comment", "comment.line.double-slash"),
    "condition": Kind(Keyword, "keyword", "keyword.control.condition"),
    "constant": Kind(Name.Constant, "number", "constant.language"),
    "contract": Kind(Keyword, "keyword", "keyword.control.contract"),
    "control": Kind(Keyword, "keyword", "keyword.control.flow"),
    "declaration": Kind(Keyword, "keyword", "keyword.declaration"),
    "error": Kind(Error, "error", "invalid.illegal"),
    "function": Kind(Name.Function, "name", "entity.name.function"),
    "label": Kind(Name.Label, "name", "entity.name.label"),
    "member": Kind(Name, "", "variable.other.member"),
    "modifier": Kind(Keyword, "keyword", "storage.modifier"),
    "name": Kind(Name, "", "variable.other"),
    "node": Kind(Name, "", "entity.name.type.node"),
    "number": Kind(Number.Integer, "number", "constant.numeric.decimal"),
    "operation": Kind(Name.Builtin, "builtin", "keyword.control.communication"),
    "operator": Kind(Operator, "", "keyword.operator"),
    "outcome": Kind(Keyword, "keyword", "constant.language.claim"),
    "parameter": Kind(Name, "", "variable.parameter"),
    "program": Kind(Name, "", "entity.name.type.program"),
    "punctuation": Kind(Punctuation, "", "punctuation.separator"),
    "text": Kind(String.Double, "name", "string.quoted.double"),
    "thread": Kind(Name, "", "entity.name.function.thread"),
}


@dataclass(frozen=True)
class Rule:
    """What matches `pattern` is of one kind or, if it has groups, each group of its own. With `end` a part with the rules
    `inside` begins behind it, up to where that matches, which is of the first kind again."""

    pattern: str
    kinds: tuple[str, ...]
    end: str = ""
    inside: tuple[Rule, ...] = ()


Rules = tuple[Rule, ...]


def rule(pattern: str, *kinds: str) -> Rule:
    """Return a rule for what is on one line."""
    assert max(1, re.compile(pattern).groups) == len(kinds), pattern
    return Rule(pattern, kinds)


def part(pattern: str, *kinds: str, end: str, inside: Rules) -> Rule:
    """Return a rule for a part of a text with rules of its own."""
    return replace(rule(pattern, *kinds), end=end, inside=inside)


def words(kind: str, text: str) -> Rule:
    """Return a rule for words, wherever they stand."""
    return rule(any_of(text), kind)


def any_of(text: str) -> str:
    """Return a pattern for one of several words."""
    return rf"\b(?:{'|'.join(text.split())})\b"


BEGINS: Final = r"(?:^|[{};:])[ \t]*"
"""Where a declaration or statement begins."""

BEHIND: Final = r"(?<=[\w)\]])[ \t]+"
"""Behind something whole."""

COMMENTS: Final = (
    rule(r"//[^\n]*", "comment"),
    part(r"/\*", "block", end=r"\*/", inside=(rule(r"[^*\n]+|\*|\n", "block"),)),
)
LINE_ENDS: Final = r"(?<=[^,\s])(?=[ \t]*(?:$|;|//|/\*))"
"""Where a declaration ends that goes on behind a comma, and behind comments after it."""

BEHIND_COMMA: Final = (rule(r"//[^\n]*\n?", "comment"), *COMMENTS)
"""Comments behind a comma; that on the rest of a line takes its end along, so that nothing ends there."""

REST: Final = (
    rule(r'"[^"\n]*"', "text"),
    rule(r"\b[0-9]+\b", "number"),
    rule(r"\b[0-9]\w*", "error"),
    rule(r"[A-Za-z_]\w*", "name"),
    rule(r"==>|\.\.|[|]{2}|&&|[-+*/%=!<>]=|[-+*/%<>=!?]", "operator"),
    rule(r"[{}()\[\],;:.]", "punctuation"),
    rule(r"\S", "error"),
)
"""What is no word of a language."""


State = list[tuple[str, tuple[str, ...], str]]
"""Patterns, kinds, and the state that follows: `#pop` for the one before."""


def states(rules: Rules) -> dict[str, State]:
    """Return the rules of a language state by state, as lexers have them; it begins in `root`."""
    found: dict[str, State] = {}

    def add(name: str, rules: Rules, first: State) -> None:
        found[name] = first
        for number, each in enumerate(rules):
            inner = f"{name} {number}" if each.end else ""
            first.append((each.pattern, each.kinds, inner))
            if each.end:
                add(inner, each.inside, [(each.end, each.kinds[:1], "#pop")])

    add("root", rules, [])
    return found
