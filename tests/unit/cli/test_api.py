"""`from rdma_robust import check, parse`."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import rdma_robust
from rdma_robust import Answer, CheckOptions, Outcome, Program, ProgramError, Status, Verdict, check, parse, reach, verify
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


def litmus(name: str) -> Program:
    path = Path(__file__).parents[3] / f"litmus/{name}.rdma"
    return parse(path.read_text(), path.name)


def test_a_program_is_what_its_threads_say() -> None:
    plain, polled = litmus("sb-put-plain"), litmus("sb-put-flushed")
    assert plain.nodes == polled.nodes
    mixed = replace(plain, cells=tuple(dict.fromkeys((*plain.cells, *polled.cells))), threads=polled.threads)
    assert [check(each).verdict for each in (plain, polled, mixed)] == [Verdict.NOT_ROBUST, Verdict.ROBUST, Verdict.ROBUST]
    assert check(mixed, instrumentation="paper", self_check=True).verdict is Verdict.ROBUST
    assert check(replace(mixed, source="")).verdict is Verdict.ROBUST
    back = replace(mixed, threads=plain.threads)
    assert check(back).verdict is Verdict.NOT_ROBUST


def test_claims_and_targets_are_about_the_program_given() -> None:
    head = "const K = 2\ndomain 0..3\nnode A { x, ring[K] }\nnode B { y }\n"
    one = parse(f"{head}thread T on A {{ reg r\nx = 1\nr = ring[1] }}\noutcome A.x == 2 : allowed under sc")
    two = parse(f"{head}thread T on A {{ reg r\nx = K\nassert x == 1\nr = x }}")
    mixed = replace(one, threads=two.threads, source="")
    assert [reach(p, "A.x == K").answer for p in (one, mixed)] == [Answer.UNREACHABLE, Answer.REACHABLE]
    assert reach(mixed, "T ended && T.r == K && A.ring[K - 1] == 0").answer is Answer.REACHABLE
    claims = [[(c.claim.text, c.status) for c in verify(p, hangs=False).checked] for p in (one, mixed)]
    assert claims[0] == [("A.x == 2", Status.VIOLATED)]
    assert sorted(claims[1], key=str) == [("A.x == 2", Status.HOLDS), ("assert x == 1", Status.VIOLATED)]
    with pytest.raises(ProgramError, match="A has no variable `z`"):
        reach(mixed, "A.z == 1")
    with pytest.raises(ProgramError, match="`ring` is an array"):
        reach(mixed, "A.ring == 1")


def test_loops_that_wait_are_found_in_programs_without_text() -> None:
    spinning = replace(litmus("spin-cancel-await"), source="")
    text = "node A { x }\nnode B { y, z }\nthread T on A { while x == 0 { }\nput B.y = x }\nthread U on B { put A.x = 1 }"
    assert check(spinning).spin_only == check(litmus("spin-cancel-await")).spin_only
    for program in (parse(text), replace(parse(text), source="")):
        waited = check(program, await_loops=True)
        assert waited.verdict is check(parse(text, await_loops=True)).verdict is check(text, await_loops=True).verdict
        assert waited.program.source == program.source


def test_programs_that_are_none_are_refused_by_every_question() -> None:
    program = parse(NOT_ROBUST, "sb.rdma")
    wrong = replace(program, nodes=program.nodes[:1])
    for ask in (check, verify, lambda p: reach(p, "drained")):
        with pytest.raises(ProgramError, match=r"sb\.rdma: error: variable `.*` is on a node that is not declared"):
            ask(wrong)
