"""What MkDocs does besides: pages for the sources that are linked, colours for programs, no request to another host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.lexers import LEXERS

from sitegen.sources import linked_sources, rewrite, source_page

LOADED = re.compile(
    r"<(?:script|img|iframe|source|embed)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
)
"""What a browser fetches for a page by itself."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    LEXERS["RdmaLexer"] = ("sitegen.lexer", "rdma", ("rdma",), ("*.rdma",), ())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in linked_sources():
        name = path if path.endswith(".md") else f"{path}.md"
        files.append(File.generated(config, f"source/{name}", content=source_page(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    if page.file.generated_by is not None:
        return markdown
    return rewrite(markdown, f"docs/{page.file.src_uri}")


def on_post_build(config: MkDocsConfig) -> None:
    """Raises PluginError if a page would fetch something from another host."""
    for path in sorted(Path(config.site_dir).rglob("*.html")):
        found = LOADED.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(
                f"{path.relative_to(config.site_dir)} loads {found[1] or found[2]}; pages make no requests elsewhere"
            )
