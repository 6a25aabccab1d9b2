"""What every HTML page shares: templates that escape what they are given, one head with one content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rdma_robust.reports.share.coloured import Language, coloured_lines
from rdma_robust.reports.share.svg import markup_text
from rdma_robust.text import printable

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
