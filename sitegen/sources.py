"""Files outside docs/ that pages lead to. The repository has no address, so the site has a page for each of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(?P<head>(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\()(?P<target>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)")
"""A link to a file, not to an address (which has a colon) and not within a page."""

LANGUAGES = {"json": "json", "lark": "text", "rdma": "rdma", "py": "python", "yml": "yaml", "sh": "sh", "v": "coq"}


def page_of(path: str) -> str | None:
    """Return the page for `path` (from the top of the repository), None for a folder. Raises KeyError if there is none."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return None
    if not (ROOT / path).is_file():
        raise KeyError(path)
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"


def rewrite(markdown: str, path: str) -> str:
    """Return the Markdown of the file `path` with links that lead outside docs/ changed to pages of the site.

    A link to a folder becomes its text. A link to nothing stays, for the strict build to complain about.
    """
    page = page_of(path)
    assert page is not None

    def replaced(link: re.Match[str]) -> str:
        try:
            target = page_of(_resolved(path, link["target"]))
        except KeyError:
            return link[0]
        if target is None:
            return link["text"]
        return f"{link['head']}{posixpath.relpath(target, posixpath.dirname(page) or '.')}{link['anchor'] or ''})"

    return LINK.sub(replaced, markdown)


def linked_sources() -> Iterator[str]:
    """Yield the files outside docs/ that the pages lead to, directly or through such a file, each once."""
    todo = sorted(each.relative_to(ROOT).as_posix() for each in (ROOT / "docs").rglob("*.md"))
    seen = set(todo)
    while todo:
        path = todo.pop(0)
        if not path.startswith("docs/"):
            yield path
        if not path.endswith(".md"):
            continue
        for link in LINK.finditer((ROOT / path).read_text(encoding="utf-8")):
            target = _resolved(path, link["target"])
            if target not in seen and (ROOT / target).is_file():
                seen.add(target)
                todo.append(target)


def source_page(path: str) -> str:
    """Return the Markdown of the page for the file `path`."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return rewrite(text, path)
    return f"# {path}\n\n```{LANGUAGES.get(path.rpartition('.')[2], 'text')}\n{text.rstrip()}\n```\n"


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
