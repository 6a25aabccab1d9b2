"""What every HTML page shares: templates that escape what they are given, one head with one content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rdma_robust.reports.share.svg import markup_text
from rdma_robust.text import printable

Language = Literal["rdma", "mp", "spec", "json", "console"]
Kind = Literal["", "word", "number", "text", "comment"]

TOKEN: Final[Mapping[Language, str]] = {
    "rdma": r"(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))|(?P<number>\b[0-9]+\b)"
    r"|(?P<meant>\b(?:for(?=\s++\w++\s++in\b)|in(?=[^{}\n]{0,200}\.\.)|macro(?=\s++\w++\s*+\()|no(?=\s++hang\b)|hang(?=\s++under\b)"
    r"|(?<=[\w)\]] )when(?=[ \t]+[\w(!-])|hardware(?=[ \t]+\w)))"
    r"|(?P<word>\b[A-Za-z_]\w*)",
    "mp": r"(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))|(?P<number>\b[0-9]+\b)|(?P<word>\b[A-Za-z_]\w*)",
    "spec": r"(?P<comment>#.*)|(?P<number>\b[0-9]+\b)|(?P<word>^[ \t]*[a-z]+[ \t]*$)",
    "json": r'(?P<text>"(?:[^"\\]|\\(?s:.))*+(?:"|\\?\Z))|(?P<number>-?\b[0-9][0-9.eE+-]*)'
    r"|(?P<word>\b(?:true|false|null)\b)",
    "console": r"(?P<comment>^\$ )",
}

"""What is `meant` are words that are names elsewhere. A comment or text that is not closed goes to the end: looking for an
end at each beginning would take as many steps as the text has characters, squared; so looking ahead without a bound."""

STYLE: Final = (
    "i[class^=rr-t-]{font-style:normal}i.rr-t-word{color:var(--rr-nic)}i.rr-t-number{color:var(--rr-cpu)}"
    "i.rr-t-text{color:var(--rr-ok)}i.rr-t-comment{color:var(--rr-muted)}"
)
"""The colours of `<i class="rr-t-KIND">`, by the variables of the drawings."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line as pieces of text, each with what it is; together they are the line."""

    number: int
    pieces: tuple[tuple[Kind, str], ...]


def coloured_lines(text: str, language: Language) -> tuple[Line, ...]:
    """Return the lines of `text`, printable, counted from 1; a line end at the end begins no further line."""
    lines: list[list[tuple[Kind, str]]] = [[]]
    for kind, piece in _pieces(printable(text, "\n\t").removesuffix("\n"), language):
        first, *rest = piece.split("\n")
        lines[-1].append((kind, first))
        lines.extend([(kind, each)] for each in rest)
    return tuple(Line(number, _told(line)) for number, line in enumerate(lines, 1))


def _told(line: list[tuple[Kind, str]]) -> tuple[tuple[Kind, str], ...]:
    return tuple(each for each in line if each[1]) or (("", ""),)


@cache
def _keywords(language: Language) -> frozenset[str]:
    """Return the words of a language that are its own wherever they stand; empty if the pattern alone tells."""
    if language == "mp":
        from rdma_robust.messages.language.message_words import message_grammar  # noqa: PLC0415 - loads the parser generator

        return frozenset(message_grammar().keywords.values())
    if language != "rdma":
        return frozenset()
    from rdma_robust.language.syntax.contextual import WORDS  # noqa: PLC0415
    from rdma_robust.language.syntax.grammar import load_grammar  # noqa: PLC0415 - loads the parser generator

    return frozenset(text for name, text in load_grammar().keywords.items() if name not in WORDS)


def _pieces(text: str, language: Language) -> Iterator[tuple[Kind, str]]:
    at = 0
    own = _keywords(language)
    for found in re.finditer(TOKEN[language], text, re.MULTILINE):
        kind: Kind = "word" if found.lastgroup == "meant" else found.lastgroup  # type: ignore[assignment]
        if found.lastgroup == "word" and own and found[0] not in own:
            continue
        if found.start() > at:
            yield "", text[at : found.start()]
        yield kind, found[0]
        at = found.end()
    if at < len(text):
        yield "", text[at:]


HERE = "rdma_robust.reports.share"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a listing: `kinds` colour it, `badge` stands at its end, `title` is what it says when pointed at."""

    number: int
    text: str
    kinds: tuple[str, ...] = ()
    badge: str = ""
    title: str = ""


@cache
def templates(package: str) -> Environment:
    """Return the templates of a package and those that all share. A page includes `head.html.j2`, which needs `title`,
    `style` and `script`: the only script that the page may run."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(HERE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(plain=printable, prose=html_prose, digest=_digest)
    return environment


def asset(package: str, name: str) -> str:
    """Return a file that lies beside the templates of a package."""
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


def html_prose(text: str) -> Markup:
    """Return a paragraph as HTML: what is between backquotes becomes code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", markup_text(text)))


def source_listing(lines: Iterable[SourceLine], style: str = "", language: Language = "rdma") -> Markup:
    """Return the text of a program, which begins with the first of `lines`, as an HTML fragment without ids, with a style
    sheet of its own if one is given."""
    shown = list(lines)
    texts = [printable(line.text.expandtabs(4)) for line in shown]
    pairs = zip(shown, coloured_lines("\n".join(texts) + "\n", language), strict=True) if shown else ()
    return Markup(templates(HERE).get_template("source.html.j2").render(lines=pairs, style=style))


def _digest(script: str) -> str:
    """Return what a content security policy calls a script that it lets run."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
