"""The documentation holds together: links and anchors, the site's menu, the pages made from the code, the options it names.

`make docs` builds the site and complains about the same links; these tests need no build.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown.extensions.toc import slugify

from rdma_robust import Answer, Safety, Status, Verdict
from rdma_robust.analyses.races.find_races import RaceVerdict
from rdma_robust.frame import registry
from rdma_robust.petri.cover import COVER_ENGINES
from rdma_robust.pipeline import PASSES
from sitegen.address import NOBODYS, PLACES, address, addressed
from sitegen.cli_reference import MEANINGS
from sitegen.counts import counted, pages_with_counts
from sitegen.figures import figures
from sitegen.figures.programs import PASSED
from sitegen.gallery import GALLERY
from sitegen.litmus_index import LITMUS, is_robust, on
from sitegen.patterns import PATTERNS
from sitegen.reference import pages
from sitegen.sources import LINK, linked_sources
from sitegen.walks import WALKS
from tests.conftest import ROOT, Cli

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", *PAGES]
LINKED_PAGE = re.compile(r"\]\(([^)#\s]+\.md)")
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def prose(path: Path) -> str:
    """Return a document without its blocks of code."""
    return re.sub(r"^( *)```.*?^\1```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(path: Path) -> list[str]:
    """Return the headings as they are read: links without their targets, backslashes and backquotes gone."""
    found = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return [re.sub(r"\\(.)", r"\1", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each)).replace("`", "") for each in found]


def anchors(path: Path) -> set[str]:
    """Return the anchors that a page has both on GitHub and in the site."""
    texts = headings(path)
    in_site = {slugify(each, "-") for each in texts}
    github = {re.sub(r"[^\w\- ]", "", unicodedata.normalize("NFC", each).lower()).replace(" ", "-") for each in texts}
    return in_site & github


def menu(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            yield from menu(value) if isinstance(value, list) else (value,)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document: Path) -> None:
    text = prose(document)
    for link in LINK.finditer(text):
        target = document.parent / link["target"]
        assert target.exists(), link[0]
        if link["anchor"]:
            assert link["anchor"].removeprefix("#") in anchors(target), link[0]
    for anchor in re.findall(r"\]\(#([^)]+)\)", text):
        assert anchor in anchors(document), anchor


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_both_readers_of_markdown_agree(document: Path) -> None:
    """The site's reader wants four blanks before what belongs to an item of a list, and an empty line before a list."""
    before = ""
    for line in prose(document).split("\n"):
        item = re.match(r" *([-*]|\d+\.) ", line)
        assert not re.match(r" {1,3}\S| {5,7}\S", line) or (before and not item), f"four blanks are needed before {line}"
        assert not item or not before or re.match(r" *([-*]|\d+\.) | ", before), f"an empty line is missing before {line}"
        before = line


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_headings_are_told_apart(document: Path) -> None:
    found = [slugify(each, "-") for each in headings(document)]
    assert len(found) == len(set(found))


def test_the_menu_names_every_page_once() -> None:
    named = list(menu(CONFIG["nav"]))
    generated = {f"source/{path}" if path.endswith(".md") else f"source/{path}.md" for path in linked_sources()} | {
        GALLERY,
        WALKS,
    }
    assert len(named) == len(set(named))
    assert set(named) - generated == {path.relative_to(DOCS).as_posix() for path in PAGES}


def test_every_page_says_first_what_it_is_for() -> None:
    for path in PAGES:
        _, first, *_ = (
            line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("<!--")
        )
        assert not re.match(r"#|```|\||- |!\[", first), f"{name(path)} begins with {first!r}"


def test_every_page_is_named_by_another_one() -> None:
    linked = {
        (path.parent / link).resolve()
        for path in DOCUMENTS
        for link in LINKED_PAGE.findall(path.read_text(encoding="utf-8"))
    }
    assert {path for path in PAGES if path not in linked} == set()


@pytest.mark.parametrize(("page", "text"), (pages() | figures()).items(), ids=list(pages() | figures()))
def test_generated_pages_and_figures_are_up_to_date(page: str, text: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == text, "make promote writes it anew"


def test_numbers_in_prose_are_those_of_the_files() -> None:
    assert DOCS / "report-forms.md" in pages_with_counts()
    for page in pages_with_counts():
        text = page.read_text(encoding="utf-8")
        assert counted(text) == text, f"{name(page)}: make promote writes it anew"
        assert "\n<!-- count" not in text, f"{name(page)}: a comment that begins a line is a block of its own"
    programs = len(list(LITMUS.glob("*.rdma")))
    assert counted("<!-- count litmus/*.rdma -->7 programs") == f"<!-- count litmus/*.rdma -->{programs} programs"
    with pytest.raises(ValueError, match="no file is called litmus/none"):
        counted("<!-- count litmus/none -->7 programs")


def test_the_reference_is_complete() -> None:
    text = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    for command in registry.commands():
        assert f"\n## {command}\n" in text
    assert all(f"\n| {int(code)} | " in text for code in MEANINGS)


def test_every_option_that_a_document_names_exists() -> None:
    reference = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    of_the_benchmarks = {"--quick"}
    known = set(re.findall(r"--[a-z][a-z-]*", reference)) | of_the_benchmarks
    for document in DOCUMENTS:
        for option in re.findall(r"`(?:rdma-robust [^`\n]*)?(--[a-z][a-z-]*)", prose(document)):
            assert option in known, f"{name(document)}: {option}"


def test_examples_in_the_help_use_options_of_their_command(cli: Cli) -> None:
    for command in registry.commands():
        shown = cli(command, "--help").stdout
        examples = re.findall(r"^  rdma-robust (.*)$", shown, re.MULTILINE)
        for example in examples:
            first, _, rest = example.partition(" ")
            own = shown if first == command or first not in registry.commands() else cli(first, "--help").stdout
            for option in re.findall(r"(?<=\s)--?[a-z][a-z-]*", rest.split(" && ")[0].split("  ")[0]):
                assert option in own, example


def test_warnings_fail_the_build() -> None:
    """MkDocs counts no warning that it does not print, so --strict does nothing beside --quiet."""
    (command,) = re.findall(r"^.*-m mkdocs build.*$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--strict" in command
    assert "-q" not in command
    assert set(CONFIG["validation"]["links"].values()) | set(CONFIG["validation"]["nav"].values()) == {"warn"}
    assert "make docs" in (ROOT / ".ci/run").read_text()


def test_coverability_is_described_as_it_is() -> None:
    text = prose(DOCS / "coverability.md")
    assert f"has {len(list((ROOT / 'tests/nets').glob('*.spec')))} nets" in text
    engines = text.partition("\n## Engines\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", engines, re.MULTILINE)) == set(COVER_ENGINES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_there_is_one_word_for_counterexamples(document: Path) -> None:
    """The Python API and the JSON documents have `witness`, which stands in backquotes, in links to it or in its heading."""
    text = re.sub(r"`[^`]*`|\[witness\]\([^)]*\)|^#+ .*$", "", prose(document), flags=re.MULTILINE)
    assert not re.findall(r".*\b(?:witness|counter-example|counter example).*", text, re.IGNORECASE)


def test_the_gallery_has_every_program_once_and_runs_to_show() -> None:
    programs = sorted(LITMUS.glob("*.rdma"))
    shown = [path for shelf in PATTERNS for path in on(shelf, programs)]
    assert sorted(shown) == programs
    for shelf in PATTERNS:
        first = LITMUS / f"{shelf.first}.rdma"
        assert first in on(shelf, programs) and not is_robust(first), shelf.title


def test_the_site_has_the_icon_of_the_explorer() -> None:
    theme = CONFIG["theme"]
    assert (DOCS / theme["favicon"]).read_text() == (ROOT / "rdma_robust/teaching/explorer/page/icon.svg").read_text()
    assert (DOCS / theme["logo"]).is_file()


def test_the_pictures_of_the_gallery_are_there() -> None:
    assert (DOCS / "pictures/explorer-messages.png").read_bytes().startswith(b"\x89PNG")
    for name in ("explorer", "report"):
        for scheme in ("light", "dark"):
            assert (DOCS / f"pictures/{name}-{scheme}.png").read_bytes().startswith(b"\x89PNG")


def test_figures_are_told_in_words_where_they_stand() -> None:
    """Every figure is on a page, with a text instead of it; the theory has at least eight."""
    shown = {}
    for document in PAGES:
        for told, file in re.findall(r"!\[([^\]]*)\]\((figures/[^)]*)\)", document.read_text(encoding="utf-8")):
            assert len(told) > 80, f"{name(document)}: {file}"
            shown[file] = document.stem
    assert set(shown) == set(figures()) == {f"figures/{path.name}" for path in (DOCS / "figures").iterdir()}
    assert sum(page in ("model", "theory", "undecidability", "hardness") for page in shown.values()) >= 8


def test_the_figure_of_the_passes_has_them_all() -> None:
    assert [passed for row in PASSED for passed, _ in row] == [each.name for each in PASSES]


@pytest.mark.parametrize("file", sorted({place.file for place in PLACES}))
def test_the_address_of_clones_is_that_of_the_project(file: str) -> None:
    """It stands in pyproject.toml; as long as it does not, no page may name one."""
    text = (ROOT / file).read_text(encoding="utf-8")
    assert text == addressed(text, file, address()), "make promote"
    moved = addressed(text, file, "https://forge.example/some/rdma-robust")
    assert "some/rdma-robust" in moved and NOBODYS not in moved
    assert addressed(moved, file, address()) == text


def test_no_page_names_an_address_besides() -> None:
    for page in (ROOT / "README.md", *PAGES):
        shown = page.read_text(encoding="utf-8").replace(address() or NOBODYS, "")
        assert not re.findall(r"https://[\w.-]+/[\w-]+/rdma-robust\b", shown), page


def test_the_address_is_read_from_the_project(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    for urls, found in (('Repository = "https://forge.example/a/"', "https://forge.example/a"), ("", None)):
        project.write_text(f"[project]\n[project.urls]\n{urls}\n", encoding="utf-8")
        assert address(project) == found


@pytest.mark.parametrize(
    ("command", "verdicts"),
    {"check": Verdict, "verify": Status, "reach": Answer, "prove": Safety, "races": RaceVerdict}.items(),
)
def test_the_table_of_verdicts_has_those_of_the_tool(command: str, verdicts: type[Enum]) -> None:
    table = (DOCS / "output.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| \[`{command}`\]\([^)]*\) \|.*\| ([^|]*) \|$", table, re.MULTILINE)
    assert set(re.findall("`([^`]*)`", row)) == {each.value for each in verdicts}
