"""The frame knows no tool, and no tool knows a surface of another: what belongs to all is in `frame/`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdma_robust.frame import registry
from tests.repo.test_layering import PACKAGE, WORDS, imports, room_of

FRAME = sorted((PACKAGE / "frame").rglob("*.py"))


def constants(path: Path) -> Iterator[str]:
    """Yield the texts in a module that are no docstrings, also as parts of others."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    said = {id(each.value) for each in told}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def words_of_tools() -> set[str]:
    """What only who knows a tool would say: its name, its suffixes, the kinds of its inputs."""
    tools = registry.tools()
    suffixes = {suffix for tool in tools for each in tool.front_ends for suffix in each.suffixes}
    suffixes |= {suffix for tool in tools for suffix in (*tool.folders, *tool.written)}
    kinds = {each.input for tool in tools for each in tool.certificates}
    return suffixes | kinds | {tool.name for tool in tools if tool.name != "shared"}


@pytest.mark.parametrize("path", FRAME, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_frame_names_no_tool(path: Path) -> None:
    assert not words_of_tools() & set(constants(path))
    rooms = {room_of(tuple(name.split(".")[1:])) for name in imports(path) if name.startswith("rdma_robust")}
    assert rooms <= {*WORDS.split(), "frame", "codes", "__init__"}


def test_words_of_tools_are_found() -> None:
    """The test above would see them: these are in the files of the tools."""
    found = {word for path in (PACKAGE / "tools").glob("*.py") for word in constants(path)}
    assert words_of_tools() <= found
    assert {".rdma", ".mp", ".spec", "rdma", "messages", "contracts", "prove", "nets"} <= words_of_tools()


OWNERS = {
    "reports": {
        **dict.fromkeys(("check", "explanation", "analyses", "scale"), "rdma"),
        **{"prove": "prove", "cover": "nets", "messages": "messages", "contracts": "contracts"},
    },
    "questions": {
        **dict.fromkeys((f"{each}_question" for each in ("models", "needs", "races", "robustness", "safety")), "rdma"),
        **{"contracts_question": "contracts", "contracts_part": "contracts", "cover_question": "nets"},
        **{"messages_question": "messages", "messages_part": "messages", "proof_question": "prove"},
    },
    "tools": {name: name for name in ("rdma", "prove", "messages", "contracts", "nets")},
}
"""The tool to which a room of reports or a question belongs; what is not here belongs to all."""


def owner(dotted: str) -> str | None:
    """Return the tool to which a module belongs, as far as it is a surface."""
    _, *below = dotted.split(".")
    return OWNERS.get(below[0], {}).get(below[1]) if len(below) > 1 else None


def crossings() -> dict[tuple[str, str], list[str]]:
    """Return the imports from a surface of one tool to one of another."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        here = ".".join(("rdma_robust", *path.relative_to(PACKAGE).with_suffix("").parts))
        for name in imports(path):
            mine, other = owner(here), owner(name)
            if mine is not None and other is not None and mine != other:
                found.setdefault((mine, other), []).append(f"{here} imports {name}")
    return found


def test_no_tool_imports_a_surface_of_another() -> None:
    assert not crossings()


def test_surfaces_of_tools_are_found() -> None:
    """The test above would see them: each tool has surfaces, and each room or module of the list is there."""
    there = {".".join(("rdma_robust", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in PACKAGE.rglob("*.py")}
    assert {owner(each) for each in there} - {None} == set(OWNERS["tools"])
    listed = {f"rdma_robust.{room}.{name}" for room, names in OWNERS.items() for name in names}
    assert listed <= there | {each.rpartition(".")[0] for each in there}


REPORT = ("cli/commands/report.py", "cli/report_parts.py", "batch/cache.py", "reports/batch/report_sections.py")


@pytest.mark.parametrize("name", REPORT)
def test_report_names_no_tool_but_that_of_programs_that_share_memory(name: str) -> None:
    """What it asks beside them, and what of that is kept, only the tools know."""
    assert not words_of_tools() & set(constants(PACKAGE / name))
    assert {owner(each) for each in imports(PACKAGE / name)} <= {None, "rdma"}
