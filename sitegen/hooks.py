"""What MkDocs does besides: pages for the sources that are linked, the gallery, colours, formulas, no request to another
host."""

from __future__ import annotations

import os
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments.lexers import LEXERS

from sitegen.address import address
from sitegen.answers import decide, report_page
from sitegen.formulas import FormulaError, with_formulas
from sitegen.gallery import GALLERY, REPORT, STYLE_SHEET, drawings_css, gallery_page, picture, program_page, programs
from sitegen.opened_programs import with_links
from sitegen.patterns import PATTERNS
from sitegen.playground.bundle import BUILT, NotMadeError, make
from sitegen.sources import linked_sources, rewrite, source_page
from sitegen.walks import WALKS, walk_files, walks_page

FEW = "SITE_FEW_PROGRAMS"
"""A variable of the environment: only the programs whose runs the gallery shows are decided, as for tests of the pages."""

FIGURE = re.compile(r'<p><img alt="(?P<alt>[^"]*)" src="(?P<file>(?:figures|plots)/[a-z-]+\.svg)" ?/?></p>')
"""A figure or plot that is a paragraph of its own, on a page at the top of docs/."""

LOADED = re.compile(
    r"<(?:script|img|iframe|source|embed)\b[^>]*\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
)
"""What a browser fetches for a page by itself."""


TO_PLAYGROUND = "<!-- the link to the page, where this site has it -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    _make_playground()
    config.repo_url, config.repo_name = address(), "rdma-robust"
    LEXERS["RdmaLexer"] = ("sitegen.lexer", "rdma", ("rdma",), ("*.rdma",), ())
    LEXERS["MessageLexer"] = ("sitegen.lexer", "mp", ("mp",), ("*.mp",), ())
    return config


def _make_playground() -> None:
    """Make the playground, or say why it is left out. Where few programs are decided, it is as it was."""
    if os.environ.get(FEW):
        return
    try:
        make()
    except NotMadeError as error:
        shutil.rmtree(BUILT, ignore_errors=True)
        print(f"The playground is left out: {error}")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    shown = programs()
    decided = decide(shown[: len(PATTERNS)] if os.environ.get(FEW) else shown)
    for path in linked_sources():
        name = path if path.endswith(".md") else f"{path}.md"
        program = decided.get(Path(path).stem) if Path(path).parent.name == "litmus" else None
        text = program_page(Path(path), program) if program else source_page(path)
        files.append(File.generated(config, f"source/{name}", content=text))
    made = {
        GALLERY: gallery_page(decided),
        REPORT: report_page(decided.values()),
        STYLE_SHEET: drawings_css(),
        WALKS: walks_page(),
        **dict(walk_files()),
    }
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links lead to the site's pages, and programs to the playground, where this site has it."""
    if page.file.src_uri.startswith("source/"):
        page.meta["search"] = {"exclude": True}  # a thousand sources would stand before the pages that explain
    if BUILT.is_dir():
        markdown = with_links(markdown, "../" * page.file.src_uri.count("/"))
    if page.file.generated_by is not None:
        return markdown
    return rewrite(markdown, f"docs/{page.file.src_uri}")


def on_page_content(html: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put figures into the page itself, where they are light or dark as it is, and set formulas. Raises PluginError for a
    formula that cannot be set."""

    def inlined(image: re.Match[str]) -> str:
        svg = (Path(config.docs_dir) / image["file"]).read_text(encoding="utf-8")
        return picture(svg, unescape(image["alt"]), "rr-drawn")

    try:
        html = with_formulas(html)
    except FormulaError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None
    if BUILT.is_dir():
        html = html.replace(TO_PLAYGROUND, '<p><a href="playground/index.html">Open the playground</a>.</p>')
    return FIGURE.sub(inlined, html) if page.file.generated_by is None else html


def on_post_build(config: MkDocsConfig) -> None:
    """Raises PluginError if a page would fetch something from another host."""
    # It is for the root of a server, which this site does not know.
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)
    if BUILT.is_dir():
        shutil.copytree(BUILT, Path(config.site_dir) / "playground", dirs_exist_ok=True)
    for path in sorted(Path(config.site_dir).rglob("*.html")):
        found = LOADED.search(path.read_text(encoding="utf-8"))
        if found:
            raise PluginError(
                f"{path.relative_to(config.site_dir)} loads {found[1] or found[2]}; pages make no requests elsewhere"
            )
