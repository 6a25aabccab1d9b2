"""The repository about itself: sizes, the suite's headers, one home for the grammar, nothing tied to one machine."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import rdma_robust
from sitegen.shelved_index import FOLDERS
from tests.conftest import ROOT

PYTHON = sorted(
    p
    for folder in ("rdma_robust", "tests", "bench", "grammars", "release", "sitegen")
    for p in (ROOT / folder).rglob("*.py")
)
CYTHON = sorted((ROOT / "rdma_robust").rglob("*.p[yx][xd]"))
LITMUS = sorted((ROOT / "litmus").glob("*.rdma"))
PROVE = sorted((ROOT / "litmus/prove").glob("*.rdma"))
IN_FOLDERS = [path for folder in FOLDERS for path in folder.programs()]
LONG_FILE, LONGEST_FILE = 400, 600
"""From how many lines on a file says why it is one (`More than 400 lines: ...`), and how many it may never have."""
LONGEST_FUNCTION = 50


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert is_of_allowed_length(text)
    if path.is_relative_to(ROOT / "rdma_robust"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
                begin = node.body[0].lineno if declares_options(node) else node.lineno
                assert (node.end_lineno or 0) - begin < LONGEST_FUNCTION, f"{node.name} in line {node.lineno}"


def is_of_allowed_length(text: str) -> bool:
    lines = text.count("\n")
    return lines < LONG_FILE or (lines < LONGEST_FILE and re.search(r"\bMore than 400 lines: \w.{30,}", text) is not None)


def test_long_files_say_why() -> None:
    assert is_of_allowed_length("x\n" * 399) and not is_of_allowed_length("x\n" * 400)
    reason = "# More than 400 lines: a walker over every statement, which is read as one table.\n"
    assert is_of_allowed_length(reason + "x\n" * 598) and not is_of_allowed_length(reason + "x\n" * 599)
    assert not is_of_allowed_length("# More than 400 lines: because.\n" + "x\n" * 450)


def declares_options(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A command's parameters are its options with their help: a table, not code."""
    first = function.args.args[0].annotation if function.args.args else None
    return first is not None and ast.unparse(first) == "typer.Context"


@pytest.mark.parametrize("path", CYTHON, ids=relative)
def test_compiled_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert is_of_allowed_length(text)
    assert max(map(len, text.split("\n"))) <= 125
    for line, length in cython_functions(text):
        assert length < LONGEST_FUNCTION, f"the function in line {line}"


def cython_functions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the line and the length in lines of each function: it ends before the next line that is indented no deeper."""
    lines = text.rstrip().split("\n")
    indents = [len(line) - len(line.lstrip()) if line.strip(" )") else 99 for line in lines]
    for at, line in enumerate(lines):
        if re.match(r" *(def|cdef|cpdef) (?!class|struct|enum|extern)[^=]*\(", line):
            end = next((i for i in range(at + 1, len(lines)) if indents[i] <= indents[at]), len(lines))
            yield at + 1, len("\n".join(lines[at:end]).rstrip().split("\n"))


def test_functions_of_compiled_files_are_found() -> None:
    text = "cdef int a(int x):\n    return 0\n\n\ncdef class B:\n    cdef int c\n\n    def d(self):\n        return 1\n"
    assert list(cython_functions(text)) == [(1, 2), (8, 2)]
    found = [length for path in CYTHON for _, length in cython_functions(path.read_text(encoding="utf-8"))]
    assert len(found) > 100
    assert max(found) > 20


def test_every_litmus_program_says_what_it_asks_and_what_is_expected() -> None:
    assert LITMUS
    for path in LITMUS:
        text = path.read_text(encoding="utf-8")
        assert re.search(r"^expect .*\brobust\b", text, re.MULTILINE), f"{path.name} has no expect line"
        assert text.startswith("//"), f"{path.name} has no header"
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+\.rdma", path.name), f"{path.name} is not FAMILY-variant"


def test_every_program_to_prove_says_what_it_asks_and_what_is_expected() -> None:
    assert len(PROVE) >= 60
    for path in PROVE:
        text = path.read_text(encoding="utf-8")
        assert re.search(r"^expect (un)?safe under", text, re.MULTILINE), f"{path.name} has no expect line"
        assert re.match(r"//.*\n(?://.*\n)*?// .*\?.*\n(?://.*\n)*?// Source: [A-Z]", text), f"{path.name} has no header"
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+\.rdma", path.name), f"{path.name} is not FAMILY-variant"


def test_every_program_of_the_suite_has_its_place() -> None:
    """Directly in litmus, but for what is to be proven, and for the folders about one thing."""
    assert sorted((ROOT / "litmus").rglob("*.rdma")) == sorted(LITMUS + PROVE + IN_FOLDERS)


def test_the_grammar_is_nowhere_in_python() -> None:
    """A rule of the grammar, as `name: ...` on a line of its own, occurs in no Python file."""
    names = ("common", "rdma", "mp")
    grammar = "".join((ROOT / f"grammars/{name}.lark").read_text(encoding="utf-8") for name in names)
    bodies = {m.strip() for m in re.findall(r"^[?!]?[a-zA-Z_]+(?:\.\d+)?\s*:(.*\S.*)$", grammar, re.MULTILINE)}
    rules = {body for body in bodies if len(body) > 15}
    assert rules
    for path in PYTHON:
        text = path.read_text(encoding="utf-8")
        assert not [rule for rule in rules if rule in text], path


def test_no_file_names_a_machine() -> None:
    """Paths of one machine and hosts of registries have no place in the repository."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    forbidden = re.compile(rb"/" + rb"work/|/" + rb"home/[a-z]|/" + rb"root/|py" + rb"pi\.org|index" + rb"-url")
    for name in listed.stdout.decode().splitlines():
        path = ROOT / name
        if path.is_file():
            assert not forbidden.search(path.read_bytes()), name


TOP_LEVEL = """
.ci .gitignore .pre-commit-hooks.yaml CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE MANIFEST.in Makefile README.md
SECURITY.md action.yml bench docs editors
grammars litmus mkdocs.yml proofs pyproject.toml rdma_robust release requirements setup.py sitegen tests
"""


def test_nothing_else_lies_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not run: this is no clone, so it cannot be listed what belongs to the project")
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} <= set(TOP_LEVEL.split())


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == rdma_robust.__version__
    assert f"## {rdma_robust.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_folder_of_modules_is_a_package() -> None:
    """setup.py installs the packages that it finds; tests/packaging looks into the wheel."""
    folders = {path.parent for ext in ("*.py", "*.pyx", "*.pxd") for path in (ROOT / "rdma_robust").rglob(ext)}
    assert {folder for folder in folders if not (folder / "__init__.py").exists()} == set()


@pytest.mark.parametrize("path", sorted((ROOT / "rdma_robust/schema").glob("*.json")), ids=relative)
def test_schemas_are_valid_and_strict(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)

    def visit(part: object) -> None:
        if isinstance(part, dict):
            if "properties" in part and part.get("type") == "object":
                assert part["additionalProperties"] is False
                later = part["properties"] if "minProperties" in part else part.get("dependentRequired", {})
                assert set(part["required"]) | set(later) == set(part["properties"])
                assert set(part["required"]).isdisjoint(later)
            for each in part.values():
                visit(each)
        elif isinstance(part, list):
            for each in part:
                visit(each)

    visit(schema)


def test_every_make_target_of_the_documents_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    documents = "".join((ROOT / name).read_text() for name in ("README.md", ".ci/run"))
    for target in set(re.findall(r"^(?:step )?make ([a-z-]+)", documents, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
