"""The checker shares nothing with what it checks: what it imports, directly or not, is front ends and shared words."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdma_robust.cli.app import run
from tests.conftest import NOT_ROBUST, ROBUST, ROOT

PACKAGE = ROOT / "rdma_robust"

RECORDED = tuple(
    f"messages.traces.{name}"
    for name in ("trace_names", "trace_program", "trace_reading", "trace_receives", "trace_record", "located_json")
)

FRONT_ENDS = ("certify", "language", "petri.spec", "grammars", "messages.language", "messages.replay", *RECORDED)
"""The rooms that the checker may use: itself, the languages (from text to flow graphs, or to processes), the reader of nets,
and the interpreter of message programs, which is for confirming what others found."""

WORDS = {
    "",
    "codes",
    "codes.known_codes",
    "digraph",
    "errors",
    "diagnose",
    "expr",
    "grammar_tables",
    "guarded_z3",
    "limits",
    "model",
    "orders",
    "text",
    "petri",
    "petri.net",
    "messages",
    "messages.traces",
    "messages.message_answers",
    "notebook_view",
    "value_ranges",
}
"""Single modules: shared words, among them the names of messages and of hardware, what a net is, and that notebooks draw
what they are asked to. An empty name is the package itself."""

FORBIDDEN = ("robustness", "counters", "semantics", "analyses", "pipeline", "evidence", "hardness", "outcome")
"""What finds verdicts, and what tells of them; of the nets' room everything but what is allowed above."""


def module_of(path: Path) -> str:
    """The dotted name of a file below the package; an `__init__.py` has that of its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in PACKAGE.rglob("*.py")}
COMPILED = {module_of(path) for path in PACKAGE.rglob("*.pyx")}


def imported(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports, wherever it does so, and the packages that they are in; of a
    compiled one, nothing."""
    if module in COMPILED:
        return
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{module}: imports name the package"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            top, _, below = name.partition(".")
            if top == "rdma_robust":
                # `from package.module import name` names a module or something in one.
                found = below if below in FILES else below.rpartition(".")[0]
                assert found in FILES or found in COMPILED, f"{module} imports {name}"
                yield found
                yield from (found[:i] for i, c in enumerate(found) if c == ".")


def reached(start: str) -> dict[str, tuple[str, ...]]:
    """Everything that a module imports in the end, each with the chain of imports that leads there."""
    found: dict[str, tuple[str, ...]] = {start: (start,)}
    todo = [start]
    while todo:
        here = todo.pop()
        for name in imported(here):
            if name not in found:
                found[name] = (*found[here], name)
                todo.append(name)
    return found


NAMES = "language.check.program_lines"
"""It looks up the names of guarantees, of which only `needs` lines speak: the checker passes these over."""


def allowed(module: str) -> bool:
    return module in WORDS or any(module == room or module.startswith(f"{room}.") for room in FRONT_ENDS)


CHECKER = sorted(m for m in FILES if m.startswith("certify."))


@pytest.mark.parametrize("module", CHECKER)
def test_the_checker_imports_front_ends_only(module: str) -> None:
    for name, chain in reached(module).items():
        # The package itself imports the rest only when it is asked for, see the test below.
        if name:
            assert allowed(name) or NAMES in chain[1:-1], " imports ".join(chain)


@pytest.mark.ci
def test_what_is_forbidden_would_be_noticed() -> None:
    """The walk sees what the rest of the tool imports, and none of that may pass for a front end."""
    producer = reached("evidence.produce")
    for room in FORBIDDEN:
        assert not any(allowed(m) for m in FILES if m.split(".")[0] == room), room
    for room in ("machine", "encoding", "engines", "races"):
        assert not any(allowed(m) for m in FILES if m.startswith(f"messages.{room}")), room
    assert {"robustness.pivot", "counters.lower", "semantics.order_table"} <= producer.keys()
    assert not any(allowed(m) for m in FILES if m.startswith("petri.") and not m.startswith(("petri.spec", "petri.net")))
    assert {"certify.normal_form", "certify.consistency", "language.load"} <= reached("certify.checker").keys()


def loaded_after(code: str, folder: Path) -> set[str]:
    code = f"import sys\n{code}\nprint(*sorted(m for m in sys.modules if m.startswith('rdma_robust')), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    # The package itself looks whether the compiled kernel is there, to say so in `--version`.
    probed = {"rdma_robust.counters", "rdma_robust.counters.kernel"}
    found = {name for name in done.stderr.split() if not name.startswith("rdma_robust.counters.kernel._")} - probed
    return {name.partition(".")[2] for name in found}


def test_checking_loads_front_ends_only(tmp_path: Path) -> None:
    """As seen by the interpreter, for the library and for the command, which adds reports and options of its own."""
    for name, text in (("calm", ROBUST), ("sb", NOT_ROBUST)):
        (tmp_path / f"{name}.rdma").write_text(text)
    proofs = tmp_path / "proofs"
    assert run(["check", "--jobs", "1", "--quiet", "--certificate", str(proofs), str(tmp_path)]) == 1
    library = loaded_after("import rdma_robust.certify.checker", tmp_path)
    assert "certify.checker" in library
    assert {m for m in library if not allowed(m)} == set()
    command = "from rdma_robust.cli.app import run\nassert run(['verify-certificate', 'proofs']) == 0"
    modules = loaded_after(command, tmp_path)
    assert "certify.checker" in modules
    told = {"semantics", "semantics.hang", "semantics.trace", "semantics.wording"}
    found = {m for m in modules if m.split(".")[0] in ("robustness", "counters", "semantics", "pipeline", "evidence")}
    assert found <= told, "what reports of verdicts are made of, and nothing that finds one"
    assert {m for m in modules if m.startswith("petri")} <= {m for m in FILES if allowed(m)}
