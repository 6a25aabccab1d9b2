"""Comments that ask for warnings not to be shown: `// rdma-robust: ignore RR721`, and `ignore-file` for the whole file.

At the end of a line it is about that line; on a line of its own about the next line that has something else. Several codes
stand between commas or blanks, and behind them anything, such as a reason. Errors cannot be ignored, nor can what is not
named: a comment that names nothing, or what there is no warning of, is itself warned of.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from lark import Token

from rdma_robust.diagnose import did_you_mean, quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.language.syntax.common_tree import token_span
from rdma_robust.language.syntax.layout import TokenLayout

MARK: Final = "rdma-robust:"
WORDS: Final = ("ignore", "ignore-file")
NEVER: Final = frozenset({"RR791", "RR792"})
"""What is said of these comments themselves, which cannot be ignored."""

_COMMENT: Final = re.compile(r"(?://+|/\*+)\s*rdma-robust:\s*(?P<word>[\w-]*)(?P<rest>.*)")
_CODE: Final = re.compile(r"[\s,]*\b(RR\w*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suppression:
    """The codes that a comment names, the line it is about (None: all), and where each code stands."""

    codes: tuple[tuple[str, Span], ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All such comments of a text, and what is wrong with some of them."""

    found: tuple[Suppression, ...] = ()
    wrong: tuple[Diagnostic, ...] = ()

    def applied(self, warnings: Iterable[Diagnostic], looked_for: Collection[str]) -> tuple[Diagnostic, ...]:
        """Return the warnings that are not ignored, and a warning (RR791) of each code that is ignored without need.

        `looked_for` are the codes that `warnings` would have if they applied; nothing is known of others.
        """
        left: list[Diagnostic] = []
        used: set[Span] = set()
        asked: defaultdict[tuple[str, int | None], set[Span]] = defaultdict(set)
        for each in self.found:
            for code, span in each.codes:
                asked[code, each.line].add(span)
        for warning in warnings:
            by = asked.get((warning.code, None), set()) | asked.get((warning.code, warning.span.line), set())
            used |= by
            if not by:
                left.append(warning)
        for each in self.found:
            for code, span in each.codes:
                if code in looked_for and span not in used:
                    where = "in this file" if each.line is None else f"on line {each.line}"
                    left.append(
                        Diagnostic("warning", "RR791", f"{code} is ignored without need: there is none {where}", span)
                    )
        return tuple(left)


def suppressions(text: str, layout: TokenLayout) -> Suppressions:
    """Return the comments of `text`, which has this layout, that ask for warnings not to be shown."""
    if MARK not in text:
        return Suppressions()
    comments = [each for each in layout.comments if each.startswith("//") and MARK in each]
    return read_suppressions(comments, layout.tokens, text)


def read_suppressions(
    comments: Iterable[Token], tokens: Sequence[Token], text: str, words: Sequence[str] = WORDS
) -> Suppressions:
    """Return what comments say that begin with the mark, beside the `tokens` of a text; `words` are those that may follow it
    there."""
    found: list[Suppression] = []
    wrong: list[Diagnostic] = []
    for comment in comments:
        _read(comment, (tokens, text), words, found, wrong)
    return Suppressions(tuple(found), tuple(wrong))


def _read(
    comment: Token,
    beside: tuple[Sequence[Token], str],
    words: Sequence[str],
    found: list[Suppression],
    wrong: list[Diagnostic],
) -> None:
    """Add what a comment says to `found`, or what is wrong with it to `wrong`."""
    match = _COMMENT.match(comment)
    span = token_span(comment)
    if match is None or match["word"] not in WORDS:
        if match is not None:
            message = f"this comment asks rdma-robust for {quote(match['word']) if match['word'] else 'nothing'}"
            hint = did_you_mean(match["word"], words) or "known are `ignore CODE` and `ignore-file CODE`"
            wrong.append(Diagnostic("warning", "RR792", message, span, hint=hint))
        return
    codes, at = [], match.start("rest")
    while (code := _CODE.match(comment, at)) is not None:
        at = code.end()
        place = _inside(comment, code.start(1), code.end(1))
        problem = _problem(code[1].upper())
        if problem is None:
            codes.append((code[1].upper(), place))
        else:
            wrong.append(Diagnostic("warning", "RR792", problem[0], place, hint=problem[1]))
    if at == match.start("rest"):
        message = f"`{match['word']}` without a code ignores nothing"
        hint = f"name what to ignore, as in `rdma-robust: {match['word']} RR701`"
        wrong.append(Diagnostic("warning", "RR792", message, span, hint=hint))
    found.append(Suppression(tuple(codes), None if match["word"] == "ignore-file" else _line(comment, *beside)))


@cache
def _problem(code: str) -> tuple[str, str] | None:
    """Return why a code cannot be ignored, and a hint; None if it can."""
    from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - most programs ignore nothing

    known = codes().get(code)
    if known is None:
        return f"there is no code {quote(code)}", did_you_mean(code, codes())
    if not code.startswith(("RR7", "RR84")) or known.severity == "error" or code in NEVER:
        what = (
            "an error"
            if known.severity == "error"
            else "said of the whole program"
            if code < "RR7"
            else "about such comments"
        )
        return f"{code} cannot be ignored: it is {what}", ""
    return None


def _line(comment: Token, tokens: Sequence[Token], text: str) -> int:
    """Return the line that a comment is about."""
    at = comment.start_pos or 0
    before = text[text.rfind("\n", 0, at) + 1 : at]
    line = comment.line or 1
    if before.strip():
        return line
    behind = range(bisect_right(tokens, at, key=lambda token: token.start_pos or 0), len(tokens))
    following = (tokens[i].line for i in behind if tokens[i].type != "NEWLINE" and tokens[i])
    return next((each for each in following if each is not None), line)


def _inside(comment: Token, start: int, end: int) -> Span:
    whole = token_span(comment)
    return Span(whole.line, whole.column + start, whole.line, whole.column + end, whole.start + start, whole.start + end)
