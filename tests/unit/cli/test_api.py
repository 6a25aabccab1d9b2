"""`from rdma_robust import check, parse`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rdma_robust
from rdma_robust import CheckOptions, Outcome, Program, ProgramError, Verdict, check, parse
from tests.conftest import NOT_ROBUST, ROBUST


def test_parse_names_the_file() -> None:
    program = parse(NOT_ROBUST, "sb.rdma")
    assert isinstance(program, Program)
    assert (program.name, program.file) == ("sb", "sb.rdma")
    with pytest.raises(ProgramError, match=r"<string>:1:1"):
        parse("nonsense")


def test_check_takes_text_programs_and_paths(tmp_path: Path) -> None:
    path = tmp_path / "sb.rdma"
    path.write_text(NOT_ROBUST)
    outcomes = [check(NOT_ROBUST), check(parse(NOT_ROBUST, "sb.rdma")), check(path)]
    assert all(isinstance(outcome, Outcome) for outcome in outcomes)
    assert {outcome.verdict for outcome in outcomes} == {Verdict.NOT_ROBUST}
    assert outcomes[2].program.file == str(path)
    assert check(ROBUST).verdict is Verdict.ROBUST


def test_options_as_an_object_and_as_keywords() -> None:
    searched = CheckOptions(max_states=1, reductions=frozenset())
    assert check(ROBUST, searched).verdict is Verdict.UNKNOWN
    assert check(ROBUST, max_states=1, reductions=frozenset()).verdict is Verdict.UNKNOWN
    assert check(ROBUST, searched, max_states=None).verdict is Verdict.ROBUST
    assert check(ROBUST, instrumentation="paper").instrumentation == "paper"


def test_everything_promised_is_there() -> None:
    for name in rdma_robust.__all__:
        assert getattr(rdma_robust, name) is not None
    with pytest.raises(AttributeError):
        _ = rdma_robust.nothing  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_slow() -> None:
    code = "import sys, rdma_robust; print(sorted({'lark', 'networkx', 'sympy', 'typer', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
