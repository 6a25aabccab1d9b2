"""The cache answers about contracts what was asked, and believes no violation without a run that shows it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from rdma_robust.batch.cache import Cache, keep, known
from rdma_robust.contracts.checks.function_checks import Checking
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.contracts.rerun.kept_runs import run_object, run_of
from rdma_robust.contracts.runs.runs_engine import RunsCheck
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.deciding import answer_item
from rdma_robust.frame.report_part import AskedFile
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.questions.contracts_part import KeptContracts
from rdma_robust.questions.contracts_question import CONTRACTS_CHECK, ContractsAsking
from rdma_robust.reports.contracts.contracts_record import ContractsRecord
from tests.support.class_programs import class_programs
from tests.support.contract_texts import BCAST, GATHER
from tests.support.shares import share

ASKING = ContractsAsking(Checking((1, 3)), timeout=60, memory=4000, proofs=True)
KEPT = KeptContracts()
ENDLESS = "fun f() contract collective { assigns \\nothing; } { while 1 { skip } }"


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    opened = Cache(tmp_path / "cache")
    opened.open()
    return opened


def asked(text: str, asking: ContractsAsking = ASKING, name: str = "a.mp") -> AskedFile:
    return AskedFile.of(CONTRACTS_CHECK, name, text, asking)


def answer(text: str, folder: Path, asking: ContractsAsking = ASKING) -> Answer[ContractsRecord]:
    (folder / "text.mp").write_text(text)
    return answer_item(CONTRACTS_CHECK, asking, Source("a.mp", str(folder / "text.mp")))


@pytest.mark.parametrize("text", [BCAST, GATHER])
def test_what_was_kept_is_known(store: Cache, tmp_path: Path, text: str) -> None:
    found = answer(text, tmp_path)
    assert known(store, KEPT, asked(text)) is None
    keep(store, KEPT, asked(text), found)
    assert known(store, KEPT, asked(text)) == found.record
    moved = known(store, KEPT, asked(text, name="there/a.mp"))
    assert moved is not None
    assert moved.result is not None
    assert (moved.file, moved.result["file"]) == ("there/a.mp", "there/a.mp")
    hurried = dataclasses.replace(ASKING, timeout=1)
    assert known(store, KEPT, asked(text, hurried)) is not None
    for other in ({"expect": True}, {"checking": Checking((1, 2))}, {"checking": Checking((1, 3), buffer="zero")}):
        assert known(store, KEPT, asked(text, dataclasses.replace(ASKING, **other))) is None  # type: ignore[arg-type]
    assert known(store, KEPT, asked(text + "\n")) is None


def test_a_violation_without_its_run_is_not_believed(store: Cache, tmp_path: Path) -> None:
    found = answer(GATHER, tmp_path)
    for runs in ((), [dict(each, function="other") for each in found.proofs], [json.loads('{"function": "f", "run": {}}')]):
        keep(store, KEPT, asked(GATHER), dataclasses.replace(found, proofs=tuple(runs)))
        assert known(store, KEPT, asked(GATHER)) is None
    keep(store, KEPT, asked(BCAST), found)
    assert known(store, KEPT, asked(BCAST)) is None


def test_what_is_not_known_holds_for_the_same_limits(store: Cache, tmp_path: Path) -> None:
    found = answer(ENDLESS, tmp_path)
    assert found.record.verdicts == ("UNKNOWN",)
    keep(store, KEPT, asked(ENDLESS), found)
    assert known(store, KEPT, asked(ENDLESS)) == found.record
    assert known(store, KEPT, asked(ENDLESS, dataclasses.replace(ASKING, timeout=1))) is None


@pytest.mark.parametrize("name", share(sorted(class_programs()), 8))
def test_runs_come_back_from_json(name: str) -> None:
    program = class_programs()[name]
    loaded = program.loaded()
    assert load_contracts(program.text, loaded.file).contracts == loaded.contracts
    for procs in program.shows:
        check = RunsCheck(loaded, "f", procs, all_classes=True)
        check.answer()
        for example in check.examples.values():
            back = run_of(json.loads(json.dumps(run_object(example))))
            assert back == dataclasses.replace(example, text="")
            confirmed(loaded, "f", back)
