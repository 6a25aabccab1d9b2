"""The search that is extracted from the proofs answers what the tool does: on the suite and on random programs, and for each
class of pivots what the search of the tool finds without reductions. Without one of its rules it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import ProgramQuestion, program_question_of
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable, load_program
from rdma_robust.model import Model, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT
from tests.litmus.goldens import PROGRAMS
from tests.support import mutations
from tests.support.checker_search import platform_of
from tests.support.judged import answers, flawed_judge
from tests.support.proven import without_completions_order
from tests.support.random_deployed import mutants, named, random_deployed
from tests.support.random_programs import LARGER, SMALL, TINY, random_program
from tests.support.searched import asked_about, classes_found, searched, surveyed
from tests.support.shares import chunks

HARDWARE = (
    rdma(False),
    Model(cpu="tso"),
    rdma(True),
    Model(order="relaxed"),
    Model(cpu="tso", ordered_reads=True),
    Model(order="multipath", ordered_reads=True),
    Model(cpu="tso", order="relaxed"),
)
DEPLOYED = sorted((ROOT / "litmus" / "deployed").glob("*.rdma"))
Asked = tuple[Program, Model, ProgramQuestion]


@pytest.fixture(autouse=True)
def _table_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The development has the table of `order multipath`, and no order behind completions."""
    without_completions_order(monkeypatch)


def covered(programs: Iterator[tuple[Program, Model]], states: int = 50_000) -> list[Asked]:
    """The programs that the proof covers."""
    found = []
    for program, model in programs:
        question = None if program.crowds else asked_about(program, model, states)
        if question is not None:
            found.append((program, model, question))
    return found


def compared(programs: Sequence[Asked]) -> dict[Verdict, int]:
    """Ask of each program, and return how often the search had which answer. Fails where the tool has another."""
    verdicts = {"robust": Verdict.ROBUST, "not robust": Verdict.NOT_ROBUST, "unclear": Verdict.UNKNOWN}
    seen = dict.fromkeys(Verdict, 0)
    for (program, model, question), said in zip(programs, searched([q for _, _, q in programs]), strict=True):
        answer = verdicts[said.split(":")[0]]
        seen[answer] += 1
        verdict = decide(program, CheckOptions(hardware=model, max_states=100_000)).verdict
        if Verdict.UNKNOWN not in (answer, verdict):
            assert answer is verdict, f"{program.file}: {said}\n{question.text()}"
    return seen


def litmus(paths: Sequence[Path], *, both: bool = True) -> Iterator[tuple[Program, Model]]:
    """Programs of the suite on their hardware, where that is the paper's with two gets in order and not (`both`)."""
    for path in paths:
        program = load_decidable(path.read_text("utf-8"), path.name)
        model = program.hardware.model
        yield program, model
        if both and model == rdma(False):
            yield program, rdma(True)


@pytest.mark.parametrize("chunk", [pytest.param(n, marks=pytest.mark.ci) for n in range(12)])
def test_litmus_programs(chunk: int) -> None:
    seen = compared(covered(litmus(PROGRAMS[chunk::12])))
    assert seen[Verdict.UNKNOWN] == 0
    assert min(seen[Verdict.ROBUST], seen[Verdict.NOT_ROBUST]) > 10


@pytest.mark.parametrize("chunk", [pytest.param(n, marks=pytest.mark.ci) for n in range(4)])
def test_litmus_programs_of_other_shelves(chunk: int) -> None:
    asked = covered(litmus(DEPLOYED[chunk::4]))
    assert sum(model.cpu == "tso" for _, model, _ in asked) > 8
    assert any(label.split()[-1] == "F" for _, _, question in asked for label in question.text().splitlines())
    assert compared(asked)[Verdict.UNKNOWN] == 0


@pytest.mark.ci
def test_what_is_not_covered_is_said_of_few_things() -> None:
    """With store buffers and on every network no operation is left out but remote atomics and messages."""
    why = set()
    for program, model in litmus(DEPLOYED, both=False):
        try:
            program_question_of(program, platform_of(model))
        except NotCovered as reason:
            why.add(str(reason))
    assert why == {"remote atomics", "messages"}


def test_programs_that_see_a_rule_of_the_tool_left_out() -> None:
    paths = sorted(mutations.FOLDER.glob("*.rdma"))
    seen = compared(covered((load_program(path.read_text("utf-8"), path.name), rdma(False)) for path in paths))
    assert min(seen[Verdict.ROBUST], seen[Verdict.NOT_ROBUST]) > 3


def random_ones(chunk: int, count: int = 60) -> Iterator[tuple[Program, Model]]:
    """Programs of all sizes, every third with loops, and of the families of which the proof covers some."""
    for seed in range(count * chunk, count * (chunk + 1)):
        text = random_program(Random(f"searched {seed}"), (SMALL, TINY, LARGER)[seed % 3], loops=seed % 4 == 0)
        yield load_decidable(text, f"seed {seed}"), HARDWARE[seed // 3 % 7]
    for family in ("stores", "completions", "weaker", "mixed"):
        yield from random_deployed(family, range(chunk * count // 3, (chunk + 1) * count // 3))


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_random_programs(chunk: int) -> None:
    asked = covered(random_ones(chunk))
    seen = compared(asked)
    assert len(asked) > 60
    assert seen[Verdict.UNKNOWN] < 3
    assert min(seen[Verdict.ROBUST], seen[Verdict.NOT_ROBUST]) > 10


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_the_same_classes_of_pivots_are_found(chunk: int) -> None:
    """Each rule shows in the classes of which a state reports, not in the verdict alone."""
    programs = []
    for seed in range(40 * chunk, 40 * (chunk + 1)):
        text = random_program(Random(f"classes {seed}"), (SMALL, TINY)[seed % 2])
        programs.append((load_decidable(text, f"seed {seed}"), HARDWARE[seed // 2 % 7]))
    assert classes_compared(covered(iter(programs))) > 3


def classes_compared(asked: Sequence[Asked]) -> int:
    """Ask which classes of pivots are found, and return how many answers there are. Fails where the tool has another."""
    found = surveyed([question for _, _, question in asked])
    for (program, model, question), classes in zip(asked, found, strict=True):
        assert classes == classes_found(program, model), f"{program.file}\n{question.text()}"
    return len(set(map(frozenset, found)))


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_the_same_classes_of_pivots_are_found_with_store_buffers(chunk: int) -> None:
    """In named programs with store buffers, and in mutations of them."""
    buffered = [asked for asked in covered(named()) if asked[2].buffered]
    names = [program.file for program, _, _ in buffered]
    assert {"sb-stores", "forwarded-then-overwritten", "r-forwarded"} <= set(names)
    assert classes_compared([*buffered, *covered(mutants(range(200 * chunk, 200 * (chunk + 1)), names))]) > 5


LINES = """program 1
cpu sc
order default
reads unordered
cells 0 0
counters 2
states 100
thread 0
e 0 1 nlR 1 0
e 1 2 nrW s 1 1
e 2 3 lW 0 1
end
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("e 2 3 lW 0 1\n", "e 2 3 lW 0 1\n", "not robust"),
        ("e 2 3 lW 0 1\n", "e 2 3 P 1\ne 3 4 lW 0 1\n", "robust: 7 states"),
        ("states 100", "states 3", "unclear: more than 3 states"),
        ("e 2 3 lW 0 1\n", "", "robust: 3 states"),
        ("e 1 2 nrW s 1 1\n", "", "robust: 2 states"),
        ("nrW s 1 1", "nrW s 2 1", "refused: "),
        ("nrW s 1 1", "nlW s 1 1", "refused: "),
        ("lW 0 1", "lW 2 1", "refused: "),
    ],
)
def test_what_the_search_answers(old: str, new: str, said: str) -> None:
    """A put of a cell, and a write to it behind the put; a poll between them; threads that are none."""
    text = LINES if said != "unclear: more than 3 states" else LINES.replace("e 2 3 lW", "e 2 3 P 1\ne 3 4 lW")
    (answer,) = answers([text.replace(old, new)])
    assert answer.startswith(said)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("end", "thread\nend", 'line 12: "thread" is no line'),
        ("end", "e 0 1 lX 0\nend", "no edge is written like this: lX 0"),
        ("end", "e 0 1\nend", "no edge is written like this:"),
        ("end", "cells 1\nend", '"cells" is no line of this document, or stands there twice'),
        ("states 100", "states many", '"many" is no number'),
        ("lW 0 1", "lW 0x0 1", '"0x0" is no number'),
        ("counters 2", "counters 0", "counters stop at 1 or later"),
        ("cells 0 0\n", "", "there is no line cells"),
        ("thread 0\n", "", "an edge stands before the first thread"),
        ("end\n", "", "a document ends with the line `end`"),
    ],
)
def test_lines_that_are_no_program_are_told(old: str, new: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        answers([LINES.replace(old, new)])


WITHOUT = {
    "F1, of CPUs": ("oppo_forces", "(negb (cpu_b u e)) && nic_forces u hw s e"),
    "F1, of NICs": ("nic_forces", "hw.flush && is0 u NLR e && s.fen (u.qp e)"),
    "F2": ("polls_early", "negb (is0 concrete Poll e) || Nat.ltb O (s.cn.unp (concrete.qp e))"),
    "F2, of gets": ("forces", "is0 u NRW e && (s.fod (u.qp e) || s.typ (u.qp e) NLR)"),
    "F2, of puts": ("forces", "is0 u NLW e"),
    "F3": ("sides_alpha", "s"),
    "F4": ("forced", "oppo_forces u hw s.sd e"),
    "poison": ("poisons", "false"),
    "poison, of what is carried": ("poisoning", "p"),
    "no CPU event of the pivot's thread": ("cuts", "false"),
    "a start that the pivot allows": ("can_start", "meets u c e"),
    "taint of threads": ("reached", "meets_marks u s.tn.tce e"),
    "taint of cells": ("reached", "s.tn.tth (u.thr e)"),
    "closing in alpha": ("closing_alpha", "false"),
    "the frozen value": ("freeze", "s.fro"),
    "store buffers": ("store_b", "false"),
    "fences of CPUs": ("cpu_b", "match u.knd e with LR | LW | CAS | Poll -> true | _ -> false"),
    "T1": ("stored", "false"),
    "T1, of reads and polls": ("stored", "s.stob (u.thr e)"),
    "T2": ("takes_own", "false"),
    "T3": ("cuts", "(cpu_b u e) && (own0 u c e)"),
    "T3, of the pivot's word": ("cuts", "(cpu_b u e) && (own0 u c e) && (negb (store_b u hw e) || c.cwr)"),
}
"""What a search leaves out, the function of it, and what that is instead."""


@pytest.mark.long
@pytest.mark.parametrize("rule", WITHOUT)
def test_a_search_without_a_rule_is_noticed(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flawed = flawed_judge(tmp_path, *WITHOUT[rule])
    monkeypatch.setenv(proven_judge.VARIABLE, str(flawed))
    with pytest.raises(AssertionError):
        test_programs_that_see_a_rule_of_the_tool_left_out()
        for chunk in range(12):
            compared(covered(litmus(PROGRAMS[chunk::12], both=False), states=3000))
            test_the_same_classes_of_pivots_are_found(chunk)
            test_the_same_classes_of_pivots_are_found_with_store_buffers(chunk)
