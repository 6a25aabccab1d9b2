"""C programs of each call that is modelled beside the `.rdma` that they are, and those that are refused, at their lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rdma_robust import check
from rdma_robust.c.automaton import CProgram
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.front.c_options import COptions
from rdma_robust.c.front.c_units import read_units
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from tests.agreement.test_c_twins import finals
from tests.conftest import ROOT
from tests.support.c_automata import program_of

FOLDER = ROOT / "tests/data/c/verbs"
HEADERS = ROOT / "rdma_robust/c/front/headers"
TWINS = sorted(path.stem for path in FOLDER.glob("*.rdma"))
ALONE = sorted(path.stem for path in FOLDER.glob("*.c") if path.stem not in TWINS)


def read(path: Path) -> CProgram:
    """Read and evaluate a C file."""
    return evaluate_units(read_units(str(path), COptions()))


@pytest.mark.parametrize("name", TWINS)
def test_c_is_the_rdma_beside_it(name: str) -> None:
    text = (FOLDER / f"{name}.rdma").read_text(encoding="utf-8")
    wanted, found = load_program(text, name), program_of(read(FOLDER / f"{name}.c"))
    assert {thread.name for thread in wanted.threads} == {thread.name for thread in found.threads}
    assert {cell for cell in wanted.cells if not cell.hidden} <= set(found.cells)
    verdicts = [check(each, timeout=60).verdict for each in (wanted, found)]
    assert verdicts[0] is verdicts[1]
    names = {f"{cell.node}.{cell.name}" for cell in wanted.cells}
    of_rdma, of_c = (finals(each, names) for each in (wanted, found))
    assert of_rdma is not None
    assert of_rdma == of_c


@pytest.mark.parametrize("name", ALONE)
def test_c_is_refused_where_it_says_so(name: str) -> None:
    lines = (FOLDER / f"{name}.c").read_text(encoding="utf-8").splitlines()
    wanted = {(code, at) for at, line in enumerate(lines, 1) for code in re.findall(r"/\* (RR\d+) \*/", line)}
    with pytest.raises(ProgramError) as refused:
        read(FOLDER / f"{name}.c")
    assert {(each.code, each.span.line) for each in refused.value.diagnostics} == wanted


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc to ask")
@pytest.mark.parametrize("name", [*TWINS, *ALONE])
def test_c_is_what_a_compiler_takes(name: str) -> None:
    path = FOLDER / f"{name}.c"
    headers = [f"-I{HEADERS}/first", "-idirafter", str(HEADERS / "fallback")]
    found = subprocess.run(["gcc", "-fsyntax-only", *headers, path], capture_output=True, text=True, check=False)
    assert (found.returncode != 0) is ("/* RR810 */" in path.read_text(encoding="utf-8")), found.stderr
