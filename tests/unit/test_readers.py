"""Every reader of what comes from outside answers, or says what is wrong with it: nothing else, whatever the document."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from random import Random
from typing import Any

import httpx
import pytest

from rdma_robust.batch.compare import read_report
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.counters.explicit_json import read_vass_json
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.hardness.automata import automata_of_json
from rdma_robust.hardness.pcp import read_instance
from rdma_robust.teaching.explorer.live import Live
from rdma_robust.teaching.explorer.server import application
from rdma_robust.teaching.explorer.view import VerdictView
from tests.conftest import Cli
from tests.support.explored import litmus, message_litmus
from tests.support.mutated_json import mutated

VASS = {
    "format": "rdma-robust/vass",
    "version": 1,
    "name": "v",
    "states": ["a", "b"],
    "counters": ["x"],
    "initial": {"state": 0, "counters": [1]},
    "edges": [{"source": 0, "target": 1, "guard": [1], "delta": [-1], "name": "e"}],
    "targets": [{"state": 1, "counters": [0]}],
}
AUTOMATA = {
    "format": "rdma-robust/automata",
    "version": 1,
    "alphabet": ["0", "1"],
    "automata": [
        {"name": "m", "states": ["p", "q"], "initial": "p", "accepting": ["q"], "transitions": {"p": {"0": "q", "1": "p"}}}
    ],
}
INSTANCE = {"top": ["a", "ab", "1"], "bottom": ["b", "a0", "1"]}
REPORT = {
    "format": "rdma-robust/check",
    "version": 1,
    "interrupted": False,
    "tool": {"version": "0.1"},
    "results": [{"file": "a.rdma", "verdict": "robust", "as_expected": True, "reason": "so 10"}],
    "sources": [{"file": "a.rdma", "sha256": "01"}],
}
ROUNDS = 150

READERS: dict[str, tuple[Any, Callable[[str], object], type[Exception]]] = {
    "vass": (VASS, lambda text: read_vass_json(text, "f"), ProgramError),
    "automata": (AUTOMATA, lambda text: automata_of_json(text, "f"), ProgramError),
    "instance": (INSTANCE, lambda text: read_instance(text, "f"), ProgramError),
    "report": (REPORT, lambda text: read_report("f", text), UsageError),
}
"""A document that is right, how it is read, and what is raised for one that is not."""


@pytest.mark.parametrize("name", READERS)
def test_a_document_is_read_or_refused(name: str) -> None:
    document, read, refusal = READERS[name]
    read(json.dumps(document))
    rng, refused = Random(name), 0
    for _ in range(ROUNDS):
        try:
            read(mutated(document, rng))
        except refusal as error:
            refused += 1
            assert str(error).isprintable() or isinstance(error, ProgramError)
    assert refused > ROUNDS // 3


@pytest.mark.parametrize(("name", "version"), [("vass", True), ("vass", 1.0), ("automata", True), ("automata", 1.0)])
def test_truth_is_no_version(name: str, version: Any) -> None:
    document, read, refusal = READERS[name]
    with pytest.raises(refusal):
        read(json.dumps(document | {"version": version}))


PROOF = "node M { x }\nthread T on M { reg r\n loop { r = x\n x = r + 1 } }\ninvariant M.x >= 0\n"


def test_a_certificate_is_valid_or_not(cli: Cli, tmp_path: Any) -> None:
    (tmp_path / "w.rdma").write_text(PROOF)
    assert cli("prove", "--quiet", "--model", "sc", "--certificate", "c", "w.rdma").returncode == 0
    document = json.loads((tmp_path / "c/w.rdma.sc.json").read_text())
    rng, refused = Random(1), 0
    for _ in range(ROUNDS):
        try:
            data = mutated(document, rng).encode("utf-8", "surrogatepass")
            verify(read_document(data), PROOF, "w.rdma")
        except InvalidCertificate:
            refused += 1
    assert refused > ROUNDS // 3
    for file in ("a\0b", "\ud800", "", "/", "x" * 5000, ".", "w.rdma/x"):
        (tmp_path / "c/other.json").write_text(json.dumps(document | {"input": document["input"] | {"file": file}}))
        done = cli("verify-certificate", "c/other.json")
        assert done.returncode == 2 and "cannot read" in done.stderr, file


STEPS: tuple[Any, ...] = (
    None,
    *(["step", side, choice] for side in ("rdma", "sc") for choice in (0, 1)),
    *(["go", "rdma", 1], ["mode", "free"], ["step", 0], ["step", 1, "local"], ["local"], ["go", 1], ["buffer", "zero"]),
)


@pytest.mark.parametrize("messages", [False, True])
def test_a_request_is_answered_or_refused(messages: bool) -> None:
    """Of the explorer: 200 with an address that is one, or 400 with what a request is."""
    explored: Any = message_litmus("paper/figure-1") if messages else litmus("mailbox-plain")
    live = Live(explored, lambda _: VerdictView("robust", "so it is"))
    asyncio.run(_ask(application(live, "token", 80), explored, Random(messages)))


async def _ask(app: Any, explored: Any, rng: Random) -> None:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    origin = "http://127.0.0.1:80"
    async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
        address, answers = "", {200: 0, 400: 0}
        for _ in range(80):
            asked = {"address": address if rng.random() < 0.8 else "p=0&mode=follow&rdma=0.1&at=1", "do": rng.choice(STEPS)}
            text = json.dumps(asked) if rng.random() < 0.3 else mutated(asked, rng)
            headers = {"Content-Type": "application/json", "Origin": origin, "Host": "127.0.0.1:80"}
            content = text.encode("utf-8", "surrogatepass")
            answer = await client.post(f"{origin}/token/api/view", content=content, headers=headers)
            assert answer.status_code in answers, f"{text[:300]}\n{answer.text}"
            answers[answer.status_code] += 1
            if answer.status_code == 200:
                address = answer.json()["address"]
                explored.place(address)
    assert min(answers.values()) > 5


@pytest.mark.parametrize(
    "do", [["step", "rdma", False], ["step", "rdma", True], ["go", "rdma", True], ["go", "rdma", False]]
)
def test_truth_is_no_number_of_a_move(do: list[Any]) -> None:
    with pytest.raises(UsageError, match="a request does one of"):
        litmus("mailbox-plain").seen("", do)


@pytest.mark.parametrize("do", [["step", True], ["step", False, "local"], ["go", False]])
def test_truth_is_no_number_of_a_move_of_messages(do: list[Any]) -> None:
    with pytest.raises(UsageError, match="a request does one of"):
        message_litmus("paper/figure-1").seen("", do)


@pytest.mark.parametrize("choice", [-1, 3, 10**40])
def test_no_such_move_says_how_many_there_are(choice: int) -> None:
    with pytest.raises(UsageError, match=r"but there (is|are) \d+ "):
        message_litmus("paper/figure-1").seen("", ["step", choice])
