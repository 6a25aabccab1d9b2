"""Between lexer and parser: comments, line ends, brackets, and the limits that keep every later pass safe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from lark import Token

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit
from rdma_robust.language.syntax.common_tree import token_span

MAX_NESTING: Final = 100
MAX_TOKENS: Final = 60_000
MAX_DIGITS: Final = 18

NAMES_A_FILE: Final = "order"
"""The word of a `hardware` line behind which a text in quotation marks has a meaning: it names a file."""

_BRACKETS: Final = {"LPAR": "RPAR", "LSQB": "RSQB"}
_STARTS_NO_STATEMENT: Final = {"LBRACE", "ELSE", "OR"}


InContext = Callable[[Sequence[Token]], Iterator[Token]]
"""From the tokens of a file to the same tokens, some of them names."""


@dataclass(slots=True)
class TokenLayout:
    """The tokens the parser sees, ending with `$END`, and the comments it does not see."""

    tokens: list[Token] = field(default_factory=list)
    comments: list[Token] = field(default_factory=list)
    complete: bool = True


def lay_out_tokens(
    stream: Iterable[Token], report: Reporter, in_context: InContext, characters: Mapping[str, str] = MappingProxyType({})
) -> TokenLayout:
    """Return what to parse; `in_context` makes names of words that are no keywords where they stand. Bad characters, numbers
    and too deep or long programs are reported; `characters` are further hints for the first of these.

    `complete` is False if a limit was exceeded: then the tokens are not worth parsing.
    """
    layout = TokenLayout()
    brackets: list[str] = []
    braces = 0
    previous = ""
    newline: Token | None = None
    operators = 0
    for token in in_context(list(_checked(stream, layout, report, characters))):
        kind = token.type
        if kind == "NEWLINE":
            newline = newline or token
            continue
        if newline is not None:
            if brackets and _begins_line(token):
                brackets.clear()
            glued = brackets or kind in _STARTS_NO_STATEMENT or previous in {"", "COMMA"} or previous.startswith("OP_")
            if not glued:
                layout.tokens.append(newline)
            newline = None
        if kind in _BRACKETS:
            brackets.append(_BRACKETS[kind])
        elif brackets and kind == brackets[-1]:
            brackets.pop()
        elif kind in {"LBRACE", "RBRACE", "SEMICOLON"}:
            brackets.clear()
            braces += (kind == "LBRACE") - (kind == "RBRACE")
        operators = operators + 1 if kind.startswith("OP_") else 0
        if len(brackets) + braces > MAX_NESTING or operators > MAX_NESTING:
            too_deep(token, report)
            layout.complete = False
            return layout
        if len(layout.tokens) >= MAX_TOKENS:
            _too_long(token, report)
            layout.complete = False
            return layout
        layout.tokens.append(token)
        previous = kind
    last = layout.tokens[-1] if layout.tokens else None
    layout.tokens.append(_end(last, report))
    return layout


def _too_long(token: Token, report: Reporter) -> None:
    said = f"this program is too long: more than {MAX_TOKENS:,} words and signs"
    report.error("RR110", token_span(token), said, hint="split it")


def too_deep(token: Token, report: Reporter) -> None:
    """Report that brackets are nested too deep."""
    report.error("RR109", token_span(token), f"nested more than {MAX_NESTING} deep", hint="split it into simpler parts")


def _begins_line(token: Token) -> bool:
    """Whether a token at the start of a line, inside brackets, shows that a bracket was forgotten before."""
    return token.isalpha() and token.type not in {"NAME", "CAS", "IN"}


def _end(last: Token | None, report: Reporter) -> Token:
    text = report.source
    line = text.count("\n") + 1
    column = len(text) - (text.rfind("\n") + 1) + 1
    if last is not None and last.end_pos is not None and not text[last.end_pos :].strip():
        # An error "at the end" points behind the last word, not at an empty last line.
        return Token("$END", "", last.end_pos, last.end_line, last.end_column, last.end_line, last.end_column, last.end_pos)
    return Token("$END", "", len(text), line, column, line, column, len(text))


def _checked(
    stream: Iterable[Token], layout: TokenLayout, report: Reporter, characters: Mapping[str, str]
) -> Iterator[Token]:
    """Yield the tokens without comments, numbers within limits; bad characters stay, for the parser to recover from."""
    bad: Token | None = None
    before = ""
    for token in stream:
        named, before = before == NAMES_A_FILE, before if token.type == "COMMENT" else str(token)
        match token.type:
            case "TEXT" if not named:
                _report_character(token, report, characters)
                yield token.update(type="INVALID")
            case "COMMENT":
                layout.comments.append(token)
                if "\n" in token:
                    yield token.update(type="NEWLINE")
            case "NUMBER":
                yield _checked_number(token, report)
            case "UNCLOSED":
                report.error("RR105", token_span(token), "this comment is never closed", expected="`*/`")
                yield token
                return
            case "INVALID":
                if bad is None or bad.end_pos != token.start_pos or bad != token:
                    _report_character(token, report, characters)
                    yield token
                bad = token
            case _:
                yield token


def _checked_number(token: Token, report: Reporter) -> Token:
    digits = token.lstrip("0")
    if not token.isdigit():
        report.error(
            "RR107",
            token_span(token),
            f"{quote(token)} is neither a number nor a name",
            hint="numbers are decimal; names begin with a letter or `_`",
        )
    elif len(digits) > MAX_DIGITS:
        report.error("RR108", token_span(token), f"this number is too large: more than {MAX_DIGITS} digits")
    else:
        return token
    return token.update(value="0")


_CHARACTER_HINTS: Final = {
    "#": "comments start with `//`",
    "&": "`&&` means and",
    "|": "`||` means or",
    "'": "there are no strings, only integers",
    '"': "there are no strings, only integers",
    "^": "there are no bit operators",
    "~": "there are no bit operators; `!` means not",
    "?": "use `if` and `else`",
}

_INSTEAD: Final = {"#": "//", "&": "&&", "|": "||"}
"""What is meant by a sign, if it is one."""


def _report_character(token: Token, report: Reporter, characters: Mapping[str, str]) -> None:
    if report.full:
        report.error("RR106", token_span(token), "a bad character")
        return
    hint = Hint(characters.get(token[0]) or _CHARACTER_HINTS.get(token[0], ""))
    if token[0] in _INSTEAD:
        hint = Hint(hint.text, (Edit(token_span(token), _INSTEAD[token[0]]),))
    if token[0] > "\x7f" and (token.isalpha() or token.isalnum()):
        hint = Hint("names are made of ASCII letters, digits and `_`")
    report.error("RR106", token_span(token), f"{quote(token)} has no meaning here", hint=hint)
