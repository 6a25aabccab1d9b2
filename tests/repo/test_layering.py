"""Imports go one way: which room may import which, no circle, no idle permission; and what rooms say of themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
SPLIT = ("analyses", "contracts", "messages", "teaching")
"""Folders whose subfolders are rooms of their own."""

WORDS = (
    "beside notebook_view errors diagnose expr files foreign guard kept layers limits model outcome options processes text "
    "grammar_tables digraph solver_library guarded_z3 value_ranges toml_places orders fingerprint"
)
"""What every room may use: the shared words."""

MAY_IMPORT = {
    "diagnose": "errors",
    "toml_places": "diagnose errors text",
    "orders": "diagnose errors files text toml_places value_ranges",
    "outcome": "notebook_view errors language model semantics",
    "language": f"{WORDS} codes",
    "semantics": f"{WORDS} language",
    "petri": WORDS,
    "counters": f"{WORDS} petri",
    "counting": f"{WORDS} petri",
    "robustness": f"{WORDS} language semantics counters counting",
    "pipeline": f"{WORDS} language semantics robustness",
    "build": f"{WORDS} language build_lines",
    "c": f"{WORDS} build build_lines language messages.language",
    "record": f"{WORDS} build c language messages.language messages.message_answers messages.machine messages.traces",
    "exports": f"{WORDS} c language semantics counters petri robustness",
    "hardness": f"{WORDS} language semantics counters petri",
    "certify": f"{WORDS} language petri messages.language messages.message_answers messages.replay messages.traces",
    "evidence": f"{WORDS} language semantics counters petri robustness certify analyses.prove analyses.races "
    "messages.language messages.message_answers messages.replay messages.engines",
    "messages.language": f"{WORDS} language",
    "messages.message_answers": f"{WORDS} messages.language",
    "messages.replay": f"{WORDS} messages.language messages.message_answers",
    "messages.traces": f"{WORDS} language messages.language messages.message_answers messages.machine messages.replay",
    "messages.machine": f"{WORDS} messages.language messages.message_answers",
    "messages.encoding": f"{WORDS} messages.language",
    "messages.engines": f"{WORDS} messages.encoding messages.language messages.machine messages.message_answers "
    "messages.replay",
    "messages.races": f"{WORDS} messages.language messages.machine messages.message_answers",
    "contracts.language": f"{WORDS} language messages.language",
    "contracts.runs": f"{WORDS} contracts.contract_answers contracts.language messages.language messages.machine",
    "contracts.rerun": f"{WORDS} contracts.language contracts.contract_answers messages.language messages.replay",
    "contracts.contract_answers": f"{WORDS} contracts.language messages.language",
    "contracts.any_procs": f"{WORDS} contracts.contract_answers contracts.language messages.language",
    "contracts.modular": f"{WORDS} contracts.contract_answers contracts.language contracts.runs messages.language",
    "contracts.checks": f"{WORDS} contracts.language contracts.contract_answers contracts.modular "
    "contracts.runs contracts.rerun contracts.any_procs messages.language messages.machine messages.message_answers",
    "contracts.inferred_clauses": f"{WORDS} contracts.language contracts.contract_answers contracts.runs messages.language",
    "analyses.safety": f"{WORDS} language semantics counters counting robustness analyses.prove",
    "analyses.repair": f"{WORDS} c language semantics robustness analyses.safety analyses.prove",
    "analyses.lints": f"{WORDS} language semantics",
    "analyses.synthesis": f"{WORDS} language semantics",
    "analyses.prove": f"{WORDS} language semantics counters",
    "analyses.explain": f"{WORDS} language semantics robustness",
    "analyses.hardware": f"{WORDS} language semantics robustness analyses.synthesis",
    "analyses.needs": f"{WORDS} language semantics",
    "analyses.races": f"{WORDS} language semantics counters",
    "reports": f"{WORDS} __init__ frame language semantics petri analyses.safety analyses.repair analyses.explain "
    "analyses.prove analyses.hardware analyses.needs analyses.races messages.language messages.machine "
    "messages.message_answers messages.replay "
    "messages.encoding messages.races contracts.language contracts.contract_answers",
    "tools": f"{WORDS} c frame editing language contracts.language messages.language",
    "frame": f"{WORDS} __init__ codes",
    "questions": (
        f"{WORDS} __init__ frame language petri pipeline robustness certify evidence reports analyses.safety analyses.lints "
        "analyses.prove analyses.hardware analyses.needs analyses.races messages.language messages.message_answers "
        "messages.engines counters "
        "messages.traces contracts.language contracts.contract_answers contracts.checks contracts.rerun"
    ),
    "batch": f"{WORDS} __init__ counters frame certify analyses.repair analyses.explain reports",
    "teaching.explorer": f"{WORDS} language semantics pipeline analyses.explain reports messages.language "
    "messages.message_answers messages.replay",
    "teaching.demos": (
        f"{WORDS} language semantics counters petri exports pipeline hardness analyses.safety reports teaching.explorer"
    ),
    "teaching.exercises": f"{WORDS} language pipeline analyses.safety analyses.repair",
    "teaching.patterns": f"{WORDS} language messages.language",
    "editing": f"{WORDS} __init__ frame language semantics analyses.lints messages.language",
    "cli": (
        f"{WORDS} c record frame questions __init__ codes language semantics petri pipeline exports hardness certify "
        "evidence "
        "analyses.safety analyses.repair analyses.lints analyses.explain analyses.prove analyses.synthesis "
        "analyses.hardware messages.language messages.engines messages.encoding messages.machine messages.replay "
        "messages.traces messages.message_answers contracts.checks contracts.contract_answers contracts.inferred_clauses "
        "contracts.language reports batch teaching.demos teaching.explorer teaching.patterns "
        "teaching.playground teaching.exercises editing tools"
    ),
    "__init__": f"{WORDS} language semantics pipeline analyses.safety analyses.prove",
    "__main__": "foreign __init__ cli frame",
}
"""A room or module to those it may import, below `rdma_robust`; `__init__` is the package itself.

The shared words import one another and nothing else, but `outcome`, which names a program and a trace.
"""

MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted(p.parent for p in PACKAGE.rglob("__init__.py") if p.parent != PACKAGE)


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names below `rdma_robust` that a module imports, wherever it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the package"
            base = node.module or ""
            for alias in node.names:
                dotted = f"{base}.{alias.name}".replace(".", "/")
                is_module = (ROOT / f"{dotted}.py").exists() or (ROOT / dotted).is_dir()
                yield f"{base}.{alias.name}" if is_module else base


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module given by its path below the package, without its ending."""
    if not parts:
        return "__init__"
    return ".".join(parts[:2]) if parts[0] in SPLIT and len(parts) > 1 else parts[0]


@cache
def room_imports() -> dict[str, dict[str, str]]:
    """Every room to the rooms it imports, each with a place where it does."""
    found: dict[str, dict[str, str]] = {}
    for path in MODULES:
        here = room_of(path.relative_to(PACKAGE).with_suffix("").parts)
        for name in imports(path):
            top, *below = name.split(".")
            there = room_of(tuple(below))
            if top == "rdma_robust" and there not in (here, "grammars"):
                found.setdefault(here, {}).setdefault(there, f"{path.relative_to(ROOT)} imports {name}")
    return found


@pytest.mark.parametrize("room", sorted({room_of(p.relative_to(PACKAGE).with_suffix("").parts) for p in MODULES}))
def test_a_room_imports_only_what_it_may(room: str) -> None:
    for there, where in room_imports().get(room, {}).items():
        assert there in MAY_IMPORT.get(room, WORDS).split(), where


def test_imports_between_rooms_have_no_circle() -> None:
    graph = nx.DiGraph((here, there) for here, rooms in room_imports().items() for there in rooms)
    circles = [sorted(each) for each in nx.strongly_connected_components(graph) if len(each) > 1]
    assert not circles


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_no_permission_is_idle(room: str) -> None:
    idle = set(MAY_IMPORT[room].split()) - set(WORDS.split()) - set(room_imports()[room])
    assert not idle, f"{room} imports nothing of {sorted(idle)}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_says_what_comes_in_and_what_goes_out(folder: Path) -> None:
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    missing = [word for word in ("In:", "Out:") if word not in said]
    assert not missing, f"{folder.relative_to(ROOT)}/__init__.py says nothing after {missing}"


OF_THE_METHOD = ("language", "semantics", "counters", "counting", "petri", "robustness", "hardness", "teaching")


@pytest.mark.parametrize("room", OF_THE_METHOD)
def test_a_room_of_the_method_names_its_theorem_or_definition(room: str) -> None:
    said = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert any(word in said for word in ("Theorem", "Definition", "Source:", "source:", "coverab")), said


def test_no_two_modules_have_one_name() -> None:
    """Files of a command, its tool and its writer, and the room of a subject, may share the subject's name; no others do."""
    names: dict[str, list[str]] = {}
    for path in MODULES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[:2] != ("cli", "commands") and parts[0] != "tools" and parts[-1] != "__init__":
            names.setdefault(parts[-1], []).append("/".join(parts))
    twice = {name: places for name, places in names.items() if len(places) > 1}
    assert not twice


def test_slow_packages_are_imported_late() -> None:
    """What answers `--version` and usage errors imports neither the network library nor the parser generator."""
    slow = {"lark", "networkx", "rich", "sympy", "typer"}
    for name in (
        "__init__.py",
        "__main__.py",
        "errors.py",
        "options.py",
        "frame/shell/inputs.py",
        "frame/shell/stderr.py",
        "frame/exits.py",
    ):
        found = {each.partition(".")[0] for each in imports(PACKAGE / name)}
        assert not found & slow, name
