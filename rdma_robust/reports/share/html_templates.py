"""Parts that all HTML pages share: templates that escape what they are given, one head with one content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rdma_robust.reports.share.program_colours import KINDS, ColourRules, ColourTable, ReportKind, rule
from rdma_robust.reports.share.svg import markup_text
from rdma_robust.text import printable

Language = Literal["rdma", "mp", "spec", "json", "console"]

_RULES: Final[Mapping[str, ColourRules]] = {
    "spec": (rule(r"#.*", "comment"), rule(r"\b[0-9]+\b", "number"), rule(r"^[ \t]*[a-z]+[ \t]*$", "declaration")),
    "json": (
        rule(r'"(?:[^"\\\n]|\\.)*"?', "text"),
        rule(r"-?\b[0-9][0-9.eE+-]*", "number"),
        rule(r"\b(?:true|false|null)\b", "declaration"),
    ),
    "console": (rule(r"^\$ ", "comment"),),
}
STYLE: Final = (
    "i[class^=rr-t-]{font-style:normal}i.rr-t-word{color:var(--rr-nic)}i.rr-t-number{color:var(--rr-cpu)}"
    "i.rr-t-text{color:var(--rr-ok)}i.rr-t-comment{color:var(--rr-muted)}"
)
"""The colours of `<i class="rr-t-KIND">`, by the variables of the drawings."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line as pieces of text, each with what it is; together they are the line."""

    number: int
    pieces: tuple[tuple[ReportKind, str], ...]


def coloured_lines(text: str, language: Language) -> tuple[Line, ...]:
    """Return the lines of `text`, printable, counted from 1; a line end at the end begins no further line."""
    lines: list[list[tuple[ReportKind, str]]] = [[]]
    for kind, piece in _pieces(printable(text, "\n\t").removesuffix("\n"), language):
        first, *rest = piece.split("\n")
        lines[-1].append((kind, first))
        lines.extend([(kind, each)] for each in rest)
    return tuple(Line(number, _told(line)) for number, line in enumerate(lines, 1))


def _told(line: list[tuple[ReportKind, str]]) -> tuple[tuple[ReportKind, str], ...]:
    return tuple(each for each in line if each[1]) or (("", ""),)


@cache
def _table(language: Language) -> ColourTable:
    match language:
        case "rdma":
            from rdma_robust.reports.share.rdma_colours import RDMA_RULES  # noqa: PLC0415 - many expressions to compile

            return ColourTable(RDMA_RULES)
        case "mp":
            from rdma_robust.reports.share.message_colours import MESSAGE_RULES  # noqa: PLC0415 - many expressions to compile

            return ColourTable(MESSAGE_RULES)
        case _:
            return ColourTable(_RULES[language])


def _pieces(text: str, language: Language) -> Iterator[tuple[ReportKind, str]]:
    """Yield a text in pieces, neighbours of one kind as one."""
    for kind, same in groupby(filter(itemgetter(1), _parts(text, language)), key=itemgetter(0)):
        yield kind, "".join(piece for _, piece in same)


def _parts(text: str, language: Language) -> Iterator[tuple[ReportKind, str]]:
    at = 0
    for start, end, kind in _table(language).parts(text):
        yield "", text[at:start]
        yield KINDS[kind].report, text[start:end]
        at = end
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
