"""The colours of programs: kinds of words, and the rules of a language that say which word is of which kind.

Reports, the site's lexers, the editor of the playground and the grammars of `editors/` are made from the same rules. A rule
sees one line at a time, as TextMate reads; the first that matches counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal, NamedTuple

ReportKind = Literal["", "word", "number", "text", "comment"]


class Kind(NamedTuple):
    """A kind of word: what it is in reports, in the playground (nothing: no colour) and in editors."""

    report: ReportKind
    page: str
    scope: str


KINDS: Final[Mapping[str, Kind]] = {
    "block": Kind("comment", "comment", "comment.block"),
    "builtin": Kind("word", "builtin", "support.function.builtin"),
    "claim": Kind("word", "keyword", "keyword.other.claim"),
    "comment": Kind("comment", "comment", "comment.line.double-slash"),
    "condition": Kind("word", "keyword", "keyword.control.condition"),
    "constant": Kind("number", "number", "constant.language"),
    "contract": Kind("word", "keyword", "keyword.control.contract"),
    "control": Kind("word", "keyword", "keyword.control.flow"),
    "declaration": Kind("word", "keyword", "keyword.declaration"),
    "error": Kind("", "error", "invalid.illegal"),
    "function": Kind("", "name", "entity.name.function"),
    "label": Kind("", "name", "entity.name.label"),
    "member": Kind("", "", "variable.other.member"),
    "modifier": Kind("word", "keyword", "storage.modifier"),
    "name": Kind("", "", "variable.other"),
    "node": Kind("", "", "entity.name.type.node"),
    "number": Kind("number", "number", "constant.numeric.decimal"),
    "operation": Kind("word", "builtin", "keyword.control.communication"),
    "operator": Kind("", "", "keyword.operator"),
    "outcome": Kind("word", "keyword", "constant.language.claim"),
    "parameter": Kind("", "", "variable.parameter"),
    "program": Kind("", "", "entity.name.type.program"),
    "punctuation": Kind("", "", "punctuation.separator"),
    "text": Kind("text", "name", "string.quoted.double"),
    "thread": Kind("", "", "entity.name.function.thread"),
}


@dataclass(frozen=True)
class Rule:
    """A rule for colours: what matches `pattern` is of one kind or, if it has groups, each group of its own. With `end` a
    part with the rules `inside` begins behind it, up to where that matches, which is of the first kind again."""

    pattern: str
    kinds: tuple[str, ...]
    end: str = ""
    inside: tuple[Rule, ...] = ()


ColourRules = tuple[Rule, ...]


def rule(pattern: str, *kinds: str) -> Rule:
    """Return a rule for what is on one line."""
    assert max(1, re.compile(pattern).groups) == len(kinds), pattern
    return Rule(pattern, kinds)


def part(pattern: str, *kinds: str, end: str, inside: ColourRules) -> Rule:
    """Return a rule for a part of a text with rules of its own."""
    return replace(rule(pattern, *kinds), end=end, inside=inside)


def word_rule(kind: str, text: str) -> Rule:
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


def states(rules: ColourRules) -> dict[str, State]:
    """Return the rules of a language state by state, as lexers have them; it begins in `root`."""
    found: dict[str, State] = {}

    def add(name: str, rules: ColourRules, first: State) -> None:
        found[name] = first
        for number, each in enumerate(rules):
            inner = f"{name} {number}" if each.end else ""
            first.append((each.pattern, each.kinds, inner))
            if each.end:
                add(inner, each.inside, [(each.end, each.kinds[:1], "#pop")])

    add("root", rules, [])
    return found


LONGEST_LINE: Final = 1000
"""Characters of a line that has colours at most: rules that look ahead may take the square of its length."""


class ColourTable:
    """The rules of a language, compiled: for each state one expression, whose alternatives are the rules."""

    def __init__(self, rules: ColourRules) -> None:
        self._states = {name: _compiled(state) for name, state in states(rules).items()}

    def parts(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield where each part of `text` that a rule speaks of begins and ends, and of which kind it is; in their order."""
        stack, begin = ["root"], 0
        for line in text.splitlines(keepends=True):
            if len(line) <= LONGEST_LINE:
                for start, end, kind in self._in_line(line, stack):
                    yield begin + start, begin + end, kind
            begin += len(line)

    def _in_line(self, line: str, stack: list[str]) -> Iterator[tuple[int, int, str]]:
        """Yield the parts of a line; the states at its beginning become those at its end."""
        at = 0
        while found := self._states[stack[-1]][0].search(line, at):
            assert found.lastindex is not None, "each alternative is a group"
            groups, kinds, following = self._states[stack[-1]][1][found.lastindex]
            for group, kind in zip(groups, kinds, strict=True):
                if found.start(group) < found.end(group):
                    yield *found.span(group), kind
            at = found.end()
            if following == "#pop":
                stack.pop()
            elif following:
                stack.append(following)


_Alternatives = Mapping[int, tuple[range, tuple[str, ...], str]]
"""By the group around an alternative: the groups that have kinds, these, and the state that follows."""


def _compiled(state: State) -> tuple[re.Pattern[str], _Alternatives]:
    """Return a state as one expression. The group that is closed last is the one around the alternative that matches."""
    inner = [re.compile(pattern).groups for pattern, _, _ in state]
    first = accumulate((1 + many for many in inner), initial=1)
    alternatives = {
        at: (range(at + 1, at + 1 + many) if many else range(at, at + 1), kinds, following)
        for at, many, (_, kinds, following) in zip(first, inner, state, strict=False)
    }
    return re.compile("|".join(f"({pattern})" for pattern, _, _ in state), re.MULTILINE), alternatives
