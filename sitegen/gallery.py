"""The gallery: litmus programs by pattern, and a page for each of them, with the verdict, the run as a picture, a repair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from rdma_robust.reports.batch.batch_view import ReportEntry
from rdma_robust.reports.batch.html_report import TIMELINE_LEGEND
from rdma_robust.reports.share.svg import DARK, LIGHT, SANS, STYLE, markup_text
from sitegen.figures.kit import STYLE as FIGURE_STYLE
from sitegen.litmus_index import LITMUS, Shelf, description, on
from sitegen.patterns import PATTERNS
from sitegen.text import cell, table

GALLERY = "gallery.md"
REPORT = "gallery-report.html"
STYLE_SHEET = "assets/drawings.css"
WORDS = {"robust": "robust", "not-robust": "NOT ROBUST", "unknown": "UNKNOWN", "error": "error"}

INTRODUCTION = """# Gallery

What {programs} programs of [the litmus suite](source/litmus/README.md) do on RDMA hardware, by what a programmer builds; the
verdicts, the pictures and the repairs are made by the tool when this site is built. Every name leads to a page with the
program and all that was found, and [the report](gallery-report.html) has them in one table.

To go through a run step by step, or to find another one, open a program in [the explorer](explore.md):

```sh
rdma-robust explore litmus/mailbox-plain.rdma
```

![The explorer: the source with its threads, the RDMA machine, and sequential consistency, which cannot follow](
pictures/explorer-light.png#only-light)
![The explorer, dark](pictures/explorer-dark.png#only-dark)

[A report](reports.md) on many programs is one page, and behind each row is what this gallery shows:

![A report: a table of programs with their verdicts, one row opened](pictures/report-light.png#only-light)
![A report, dark](pictures/report-dark.png#only-dark)

The proofs of the paper can be watched as well: [walk-throughs](demos.md) of undecidability and hardness, as runs that play.
""".replace("](\n", "](")


def programs(shelves: tuple[Shelf, ...] = PATTERNS) -> tuple[Path, ...]:
    """Return the programs of the suite, those whose runs the gallery shows first."""
    first = [LITMUS / f"{shelf.first}.rdma" for shelf in shelves]
    return (*first, *(path for path in sorted(LITMUS.glob("*.rdma")) if path not in first))


def gallery_page(entries: Mapping[str, ReportEntry]) -> str:
    """Return the Markdown of the gallery. `entries` has the programs that are shown with their runs, and maybe others."""
    paths = sorted(LITMUS.glob("*.rdma"))
    parts = [INTRODUCTION.format(programs=len(paths))]
    parts += ["\n".join(_shelf(shelf, on(shelf, paths), entries)) for shelf in PATTERNS]
    return "\n".join(parts)


def _shelf(shelf: Shelf, paths: list[Path], entries: Mapping[str, ReportEntry]) -> Iterator[str]:
    shown = entries[shelf.first]
    yield f"## {shelf.title}\n\n{shelf.holds}\n"
    yield f"### {_link(shelf.first)}\n\n{cell(description(LITMUS / f'{shelf.first}.rdma'))}\n"
    yield from _found(shown)
    yield f"\n**All programs: {shelf.title.lower()}**\n"
    rows = [(_link(path.stem), cell(description(path)), _verdict(path, entries)) for path in paths]
    yield table(("program", "what it is", "verdict"), rows)


def program_page(path: Path, entry: ReportEntry) -> str:
    """Return the Markdown of the page of a litmus program, which lies in `source/litmus/`."""
    text = path.read_text(encoding="utf-8").rstrip()
    lines = [
        f"# {path.stem}\n",
        f"From [the gallery](../../gallery.md) and [the litmus suite](README.md), `litmus/{path.name}`.\n",
    ]
    lines.append(f"```rdma\n{text}\n```\n")
    lines += _found(entry)
    return "\n".join(lines)


def _found(entry: ReportEntry) -> Iterator[str]:
    """Yield what was found out about a program."""
    result, page = entry.result, entry.page
    name = Path(result.file).stem
    yield f"{_badge(result.verdict)} {cell(page.headline if page and page.headline else result.reason)}\n"
    if page is None:
        return
    yield from (f"{cell(each)}\n" for each in page.text)
    if page.timeline:
        yield picture(page.timeline, f"The run of {name}, step by step")
        yield f'<p class="rr-legend">{markup_text(TIMELINE_LEGEND)}</p>\n'
    if page.repair:
        yield f"A repair: {cell(page.repair_note)}\n\n```diff\n{page.repair.rstrip()}\n```\n"
    elif page.repair_note:
        yield f"{cell(page.repair_note)}\n"
    yield f"```sh\nrdma-robust explore litmus/{name}.rdma\nrdma-robust explain litmus/{name}.rdma -o {name}.html\n```\n"


def picture(svg: str, label: str, more: str = "") -> str:
    """Return a drawing as a part of a page, with more classes. Its style sheet is that of the site, its words are not
    searched."""
    drawing = re.sub(r"<style>.*?</style>\n?", "", svg, flags=re.DOTALL).strip()
    classes = f"rr-picture {more}".strip()
    attributes = f'class="{classes}" data-search-exclude tabindex="0" role="region" aria-label="{markup_text(label)}"'
    return f"<div {attributes}>\n{drawing}\n</div>\n"


def drawings_css() -> str:
    """Return the style sheet of all drawings of the site, which are light or dark as the page is, not as the system is."""
    schemes = (("default", LIGHT), ("slate", DARK))
    scoped = "".join(f"[data-md-color-scheme={name}] .rr-svg{{{colours}}}" for name, colours in schemes)
    return f"{STYLE}{FIGURE_STYLE}.rr-plot{{font-family:{SANS}}}{scoped}\n"


def _badge(verdict: str) -> str:
    return f'<span class="rr-verdict {verdict}">{WORDS[verdict]}</span>'


def _verdict(path: Path, entries: Mapping[str, ReportEntry]) -> str:
    """Return the verdict as found, or as expected where the program was not decided for this build."""
    entry = entries.get(path.stem)
    if entry is None:
        found = re.search(r"^expect (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        return f"expected: {found[1]}" if found else ""
    return _badge(entry.result.verdict)


def _link(name: str) -> str:
    return f"[{name}](source/litmus/{name}.rdma.md)"
