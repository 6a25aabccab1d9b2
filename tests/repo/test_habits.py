"""Habits of names, docstrings and modules that a machine can see. Where they are not kept yet, a number only falls.

Each number is what is left; a change that lowers one lowers the bound with it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
SEVERAL_HOMES = 55
"""Public classes and functions that several modules define."""
BARE_PARTICIPLES = 16
"""Classes that are called by one participle, as `Found` or `Judged`: a type is a noun of the field."""
SMALL_MODULES = 8
"""Modules of fewer than SMALL lines with one importer."""
SMALL = 80
LOOKED_UP = 11
"""Functions and classes of programs, machines or engines that a report uses, and that are no records of what was found."""

IRREGULAR_WORDS = (
    "Found Taken Seen Known Made Given Done Kept Told Written Gone Held Met Shown Sent Chosen Drawn Left Lost Built "
    "Bound Begun Cut Put Split Spent Meant Said Sought Thrown Hidden Broken Woven Born Worn Grown Fallen Forgotten "
    "Frozen Driven Spoken Stolen Proven Laid Paid Led Fed Understood Brought Bought Caught Taught Thought Heard Sold "
    "Shot Hit Hurt Let Shut "
)
IRREGULAR = frozenset(IRREGULAR_WORDS.split())
NOUNS = frozenset({"Seed", "Need", "Speed", "Feed"})
MACHINERY = re.compile(
    r"rdma_robust\.(semantics\.machines|semantics\.oracle|messages\.(machine|engines|encoding)|counters|counting|robustness|"
    r"pipeline|exports|language\.(load|check)|contracts\.(runs|any_procs|modular|checks)|analyses\.prove\.(?!safety_outcome))"
)


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package, by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def file_of(module: str) -> Path:
    """The file of a module."""
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def public(tree: ast.Module) -> Iterator[str]:
    """The classes and functions of a module without an underscore before their names."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_"))


def homes() -> dict[str, set[str]]:
    """Where each public name is defined."""
    found = defaultdict(set)
    for module, tree in trees().items():
        for name in public(tree):
            found[name].add(module)
    return found


def is_bare_participle(name: str) -> bool:
    """Whether a name of a class is one word, and that a participle."""
    word = name.lstrip("_")
    return word in IRREGULAR or (re.fullmatch(r"[A-Z][a-z]*ed", word) is not None and word not in NOUNS)


def imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names that a module imports from the package, anywhere, and the modules that they are of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rdma_robust"):
            yield from (node.module or "", *(f"{node.module}.{each.name}" for each in node.names))
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def small_modules() -> list[str]:
    """The modules of fewer than SMALL lines that one other module imports; rooms are none."""
    importers = defaultdict(set)
    for module, tree in trees().items():
        for name in imported(tree):
            importers[name].add(module)
    files = (module for module in trees() if file_of(module).name != "__init__.py")
    short = (module for module in files if file_of(module).read_text(encoding="utf-8").count("\n") < SMALL)
    return [module for module in short if len(importers[module] - {module}) == 1]


def indirect(node: ast.Module | ast.ClassDef) -> bool:
    """Whether a docstring begins with What, Which or Whether, which leave open what the module or class is."""
    return re.match(r"(What|Which|Whether)\b", ast.get_docstring(node) or "") is not None


def does_something(tree: ast.Module, name: str) -> bool:
    """Whether a name of a module is a function, or a class that is no record: of no decorator, tuple or enumeration."""
    defined = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name]
    records = {"NamedTuple", "Enum", "Protocol"}
    return any(
        isinstance(node, ast.FunctionDef)
        or not (node.decorator_list or records & {ast.unparse(each) for each in node.bases})
        for node in defined
    )


def test_a_public_name_has_one_home() -> None:
    several = {name: sorted(modules) for name, modules in homes().items() if len(modules) > 1}
    assert len(several) <= SEVERAL_HOMES, several


def test_a_type_is_a_noun() -> None:
    classes = [(m, node.name) for m, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bare = [f"{module}.{name}" for module, name in classes if is_bare_participle(name)]
    assert len(bare) <= BARE_PARTICIPLES, bare


def test_what_a_participle_is() -> None:
    assert all(map(is_bare_participle, ("Found", "_Kept", "Judged", "Told")))
    assert not any(map(is_bare_participle, ("Seed", "Judgement", "FoundRun", "Set", "CheckedClaim")))


def test_a_small_module_with_one_importer_goes_home() -> None:
    assert len(small_modules()) <= SMALL_MODULES, small_modules()


def test_a_docstring_says_first_what_the_thing_is() -> None:
    things = [
        (module, node)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef)
    ]
    assert not [(module, getattr(node, "name", "")) for module, node in things if indirect(node)]


def test_a_report_imports_records() -> None:
    """Analyses find out, reports write: no program is read, no machine stepped and no engine asked for a report."""
    reports = {module: tree for module, tree in trees().items() if module.startswith("rdma_robust.reports.")}
    assert len(reports) > 20
    reached = sorted(
        f"{module}: {node.module}.{each.name}"
        for module, tree in reports.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and MACHINERY.match(node.module or "")
        for each in node.names
        if does_something(trees()[node.module or ""], each.name)
    )
    assert len(reached) <= LOOKED_UP, reached
