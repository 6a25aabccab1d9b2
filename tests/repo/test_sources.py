"""Sources of docstrings and comments: each leads to a heading of docs/, to a file of the repository, or to a publication."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
CODE = [name for name in TRACKED if re.fullmatch(r"(?:rdma_robust|bench)/.*\.(?:py|pyx|pxd)", name)]

STRINGS = re.compile(r'^([^"#\n]*)"""(.*?)"""|(?:^|\s)# ([^\n]+)', re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"\bSources?: (.*)", re.DOTALL)
END = re.compile(r"\.(?= [A-Z])|\.?$")
"""Where the sentence ends: abbreviations such as "et al." have no capital letter behind them."""
PUBLICATION = re.compile(r"\b(1[89]|20)\d\d\b|\bof the paper\b")
CITED = re.compile(r'\b(docs/[\w/-]+\.md)(?:,? \(?((?:"[^"]+"(?:, | and | to )?)+))?')
FILE = re.compile(r"(?<![\w./-])(?:docs|proofs|grammars|tests|rdma_robust|bench|litmus)/[\w./-]*\w")
CODE_FILE = re.compile(r"`((?:[a-z_]+/)*[a-z_0-9]+\.(?:pyx|pxd|py|lark))(?:: \w+)?`")
MODULE = re.compile(r":mod:`~?\.?([\w.]+)`")
PAGE = re.compile(r"(?<![\w./-])[\w./-]+\.md\b")


def said_in(text: str) -> Iterator[str]:
    """The paragraphs of docstrings (those of constants included) and the comments of a file, each as one line of words."""
    for before, string, comment in STRINGS.findall(text):
        if comment or not before.strip(" r"):
            yield from (" ".join(part.split()) for part in (comment or string).split("\n\n"))


SAID = [(name, said) for name in CODE for said in said_in((ROOT / name).read_text(encoding="utf-8"))]


@cache
def headings(name: str) -> set[str]:
    """The headings of a page, as they are printed in its text."""
    lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
    return {line.lstrip("# ").replace("`", "") for line in lines if line.startswith("#")}


@cache
def ends_with(name: str) -> bool:
    """Whether the path of some file of the repository ends so."""
    return any(f"/{known}".endswith(f"/{name}") for known in TRACKED)


def lost(said: str) -> Iterator[str]:
    """What of a text cites a page, a heading, a file or a module that is not there."""
    modules = (name.replace(".", "/") for name in MODULE.findall(said))
    yield from (name for name in modules if not any(ends_with(f"{name}{end}") for end in (".py", ".pyx", "/__init__.py")))
    yield from (name for name in CODE_FILE.findall(said) if not ends_with(name))
    yield from (name for name in (*FILE.findall(said), *PAGE.findall(said)) if not (ROOT / name).exists())
    for name, quoted in CITED.findall(said):
        if (ROOT / name).exists():
            words = set(re.findall(r'"([^"]+)"', quoted.replace("`", "")))
            yield from (f"{name}, {word!r}" for word in sorted(words - headings(name)))


def vague(said: str) -> Iterator[str]:
    """What a `Source:` leaves open: a page without a heading, or all of it, if it names no heading, file or publication."""
    for found in SOURCE.findall(said):
        sentence = found[: END.search(found).start()]
        pages = CITED.findall(sentence)
        yield from (name for name, quoted in pages if not quoted)
        if not (pages or FILE.search(sentence) or PUBLICATION.search(sentence)):
            yield sentence


def test_what_is_cited_in_the_code_is_there() -> None:
    assert not [f"{name}: {one}" for name, said in SAID for one in lost(said)]


def test_every_source_is_a_heading_a_file_or_a_publication() -> None:
    sources = [(name, said) for name, said in SAID if SOURCE.search(said)]
    assert len(sources) > 100
    assert not [f"{name}: {part}" for name, said in sources for part in vague(said)]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('Source: docs/theory-hangs.md, "Hangs".', []),
        ('Source: docs/model.md ("Events", "Polls").', []),
        ('Source: docs/theory.md, "Hungs".', ["docs/theory.md, 'Hungs'"]),
        ('Source: docs/model.md ("Events", "Pulls").', ["docs/model.md, 'Pulls'"]),
        ("Source: normal-form.md, part 2.", ["normal-form.md"]),
        ("see proofs/search/Nothing.v", ["proofs/search/Nothing.v"]),
        ("the plain search (`robustness/plain.py`) of :mod:`rules`", []),
        (
            "the plain search (`robustness/instrument_plain.py`) of :mod:`rulers`",
            ["rulers", "robustness/instrument_plain.py"],
        ),
    ],
)
def test_what_is_not_there_is_noticed(said: str, found: list[str]) -> None:
    assert list(lost(said)) == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Source: Karp and Miller 1969; Definition 4 of the paper. More words.", []),
        ("Source: the folklore. Tarjan 1972 has more.", ["the folklore"]),
        ("Source: Definition 4.", ["Definition 4"]),
        ("Source: docs/theory.md, somewhere.", ["docs/theory.md"]),
    ],
)
def test_a_vague_source_is_noticed(said: str, found: list[str]) -> None:
    assert list(vague(said)) == found
