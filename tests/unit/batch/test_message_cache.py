"""The cache answers about message programs what was asked, never anything else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rdma_robust.batch.cache import Cache, keep, known
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.deciding import answer_item
from rdma_robust.frame.report_part import AskedFile
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.questions.messages_part import KeptMessages
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking
from rdma_robust.reports.messages.messages_record import MessagesRecord
from tests.support.message_texts import MANY, RELAY, RING

ASKING = MessagesAsking(timeout=60, memory=4000, objects=True, explain=True, findings=True, proofs=True)


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    opened = Cache(tmp_path / "cache")
    opened.open()
    return opened


def asked(name: str, text: str, asking: MessagesAsking = ASKING) -> AskedFile:
    return AskedFile.of(MESSAGES_CHECK, name, text, asking)


def answer(name: str, text: str, folder: Path, asking: MessagesAsking = ASKING) -> Answer[MessagesRecord]:
    path = folder / "text.mp"
    path.write_text(text)
    return answer_item(MESSAGES_CHECK, asking, Source(name, str(path)))


def kept(store: Cache, question: AskedFile, found: Answer[MessagesRecord]) -> None:
    keep(store, KeptMessages(), question, found)


def known_messages(store: Cache, question: AskedFile) -> MessagesRecord | None:
    return known(store, KeptMessages(), question)


@pytest.mark.parametrize("text", [RELAY, RING])
def test_what_was_kept_is_known_wherever_the_file_is(store: Cache, tmp_path: Path, text: str) -> None:
    found = answer("here/a.mp", text, tmp_path)
    assert known_messages(store, asked("here/a.mp", text)) is None
    kept(store, asked("here/a.mp", text), found)
    assert known_messages(store, asked("here/a.mp", text)) == found.record
    moved = known_messages(store, asked("there/a.mp", text))
    assert moved is not None
    assert (moved.file, {each["file"] for each in moved.results}) == ("there/a.mp", {"there/a.mp"})
    assert store.hits == 2


@pytest.mark.parametrize(
    "other",
    [
        {"buffer": "any"},
        {"engine": "sat"},
        {"loop_bound": 9},
        {"self_check": True},
        {"expect": True},
        {"deny": ("race",)},
        {"define": ("N=4",)},
        {"counted": 7},
        {"page": True},
        {"findings": False},
        {"objects": False},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_question_has_no_answer(store: Cache, tmp_path: Path, other: dict[str, object]) -> None:
    kept(store, asked("a.mp", RELAY), answer("a.mp", RELAY, tmp_path))
    assert known_messages(store, asked("a.mp", RELAY, dataclasses.replace(ASKING, **other))) is None  # type: ignore[arg-type]


def test_another_text_or_name_has_no_answer(store: Cache, tmp_path: Path) -> None:
    kept(store, asked("a.mp", RELAY), answer("a.mp", RELAY, tmp_path))
    assert known_messages(store, asked("a.mp", RELAY + "\n")) is None
    assert known_messages(store, asked("b.mp", RELAY)) is None
    assert known_messages(store, asked("a.mp", RELAY)) is not None


def test_a_limit_is_part_of_the_question_where_it_cut_the_answer(store: Cache, tmp_path: Path) -> None:
    kept(store, asked("a.mp", RING), answer("a.mp", RING, tmp_path))
    hurried = dataclasses.replace(ASKING, timeout=0.3, engine="states", buffer="zero")
    assert known_messages(store, asked("a.mp", RING, dataclasses.replace(ASKING, timeout=1))) is not None
    cut = answer("many.mp", MANY, tmp_path, hurried)
    assert "unknown" in {each.asserts for each in cut.record.headlines}
    kept(store, asked("many.mp", MANY, hurried), cut)
    assert known_messages(store, asked("many.mp", MANY, hurried)) == cut.record
    assert known_messages(store, asked("many.mp", MANY, dataclasses.replace(hurried, timeout=2))) is None


def test_what_may_not_last_is_not_kept(store: Cache, tmp_path: Path) -> None:
    found = answer("a.mp", RELAY, tmp_path)
    broken = answer("a.mp", "program", tmp_path)
    kept(store, asked("a.mp", RELAY), dataclasses.replace(found, lasting=False))
    kept(store, asked("a.mp", "program"), dataclasses.replace(broken, lasting=True))
    assert known_messages(store, asked("a.mp", RELAY)) is known_messages(store, asked("a.mp", "program")) is None


def test_what_goes_wrong_needs_its_certificates(store: Cache, tmp_path: Path) -> None:
    """Neither is a record kept without them, nor is one used that has those of another program."""
    question, found = asked("a.mp", RELAY), answer("a.mp", RELAY, tmp_path)
    assert len(found.proofs) == 5
    for number in range(5):
        fewer = found.proofs[:number] + found.proofs[number + 1 :]
        kept(store, question, dataclasses.replace(found, proofs=fewer))
        assert known_messages(store, question) is None
    kept(store, question, found)
    entry = store.read(question.keys()[0])
    other = asked("a.mp", RELAY.replace("v == 1", "v == 2"))
    store.write(other.keys()[0], {name: entry[name] for name in ("record", "proofs")})
    assert known_messages(store, other) is None
    store.write(question.keys()[0], {"record": entry["record"], "proofs": ["no certificate"]})
    assert known_messages(store, question) is None
