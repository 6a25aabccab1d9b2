"""docs/architecture.md is true of the code: its paths, who answers a command, what robustness imports, how large parts are.

`python -m tests.repo.test_architecture` writes the numbers of lines into the page.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from rdma_robust.frame.registry import CommandEntry, commands
from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
PAGE = ROOT / "docs/architecture.md"
WITHIN = 0.2
"""How far a number of lines may be from the page's before the page is no longer true."""

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in PACKAGE.rglob("*.py")
}
EXAMPLES = re.compile(r"NAME|\*")


def table(first: str) -> list[list[str]]:
    """The rows of the table of the page whose header begins with `first`."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^\| {first} \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    assert found is not None, first
    return [[cell.strip() for cell in row.strip("|\n").split(" | ")] for row in found[1].splitlines()]


@cache
def imported(module: str, *, late: bool) -> frozenset[str]:
    """The modules of the package that a module imports: at the top of its file, or with `late` anywhere."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree) if late else tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {name if (name := f"{node.module}.{each.name}") in MODULES else node.module for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return frozenset(found & MODULES.keys())


def behind(module: str, *, late: bool = False) -> set[str]:
    """All modules that a module needs, itself among them."""
    found, todo = set[str](), [module]
    while todo:
        if (here := todo.pop()) not in found:
            found.add(here)
            todo += imported(here, late=late)
    return found


def lines_of(paths: list[Path]) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def size(part: str) -> int:
    """The lines of a part, as the first cell of its row names it."""
    if part.startswith("robustness alone"):
        module = "rdma_robust.robustness.decide" if "decide.py" in part else "rdma_robust.pipeline"
        return lines_of([MODULES[each] for each in behind(module)])
    rooms = re.findall(r"`(\w+)/`", part)
    assert rooms, part
    kinds = {".py", ".pyx", ".pxd", ".js"}
    paths = [path for room in rooms for path in (PACKAGE / room).rglob("*") if path.suffix in kinds]
    assert paths, part
    return lines_of(paths)


def with_its_own(command: CommandEntry) -> list[CommandEntry]:
    """A command and those below it."""
    return [command, *(each for one in command.below for each in with_its_own(one))]


def test_every_path_of_the_page_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    folders = [ROOT, ROOT / "grammars", PACKAGE, *(p for p in PACKAGE.rglob("*") if p.is_dir())]
    named = set(re.findall(r"`([\w./*-]+(?:\.(?:py|pyx|lark|toml|md)|/))(?:: \w+)?`", text))
    assert len(named) > 100
    known = {name for name in named if EXAMPLES.search(name) or any((each / name).exists() for each in folders)}
    assert sorted(named - known) == []


def test_every_package_and_every_shared_module_is_in_the_table() -> None:
    named = {name for row in table("package") for name in re.findall(r"`(\w+)(?:/(?:\w+/)*|\.py)?`", row[0] + row[1])}
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.*")))}
    assert sorted(there - named - {"__init__", "__main__", "__pycache__"}) == []


def test_every_command_is_in_the_table_and_needs_what_answers_it() -> None:
    rows = table("command")
    named = [name for row in rows for name in re.findall(r"`([\w-]+)`", row[0])]
    assert sorted(named) == sorted(commands())
    for row in rows:
        mine = [commands()[name] for name in re.findall(r"`([\w-]+)`", row[0])]
        starts = {each.place.partition(":")[0] for one in mine for each in with_its_own(one) if each.place}
        assert starts, row
        needed = {each for start in starts for each in behind(start, late=True)}
        for place in re.findall(r"`((?:\w+/)*\w*(?:\.py|/))`", row[1]):
            module = "rdma_robust." + place.removesuffix(".py").strip("/").replace("/", ".")
            exact = [each for each in MODULES if each.endswith(module.removeprefix("rdma_robust"))]
            assert exact, place
            assert any(each == e or each.startswith(f"{e}.") for e in exact for each in needed), f"{row[0]} and {place}"


def test_robustness_alone_is_what_the_page_says() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    said = re.search(r"(\d+) files of ((?:`\w+/`[, and]*)+) the shared words, and of these (\d+) behind", text)
    assert said is not None
    whole, inner = behind("rdma_robust.pipeline"), behind("rdma_robust.robustness.decide")
    assert inner < whole
    assert abs(len(whole) - int(said[1])) <= WITHIN * len(whole), len(whole)
    assert abs(len(inner) - int(said[3])) <= WITHIN * len(inner), len(inner)
    rooms = {each.split(".")[1] for each in whole if (PACKAGE / each.split(".")[1]).is_dir()}
    assert rooms == set(re.findall(r"`(\w+)/`", said[2]))


@pytest.mark.parametrize("part", [row[0] for row in table("part")])
def test_a_part_is_as_large_as_the_page_says(part: str) -> None:
    said = next(int(row[1].replace(",", "")) for row in table("part") if row[0] == part)
    assert abs(size(part) - said) <= WITHIN * size(part), f"{size(part):,}: run python -m {__name__}"


def main() -> None:
    """Write the numbers of lines, in hundreds, into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for part, _ in table("part"):
        text = re.sub(rf"^(\| {re.escape(part)} \|) [^|]*\|$", rf"\1 {round(size(part), -2):,} |", text, flags=re.MULTILINE)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
