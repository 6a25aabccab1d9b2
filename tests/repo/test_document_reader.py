"""The reader of documents notices what is wrong: each of these small documents has one mistake, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.documents import ROOT, blocks, commands, without_times
from tests.support.reader import Reader, begins
from tests.support.record import recorded
from tests.support.terminal import Terminal, needs_shell

PROGRAM = "node A { x }\nthread T on A { x = 1 }\n"


def complaints(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    document = folder / "doc.md"
    document.write_text(text, encoding="utf-8")
    monkeypatch.setattr("tests.support.documents.ROOT", folder)
    monkeypatch.setattr("tests.support.reader.ROOT", folder)
    (folder / "here").mkdir()
    reader = Reader(Terminal(folder / "here", monkeypatch))
    return [each for block in blocks(document) for each in reader.follow(block)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```console\n$ echo a\na\n$ echo b\nb\n```\n", 0),
        ("```console\n$ echo a\na\n$ echo b\nc\n```\n", 1),
        ("```console\n$ echo a\n```\n", 1),
        ("```console\n$ echo a >&2\na\n```\n", 0),
        ("```console\n$ rdma-robust nothing.rdma\n```\n", 1),
        ("```console\n$ rdma-robust fmt x.rdma\nx.rdma: error: no such file or directory [RR001]\n$ echo $?\n2\n```\n", 0),
        ("```console\n$ false\n$ echo $?\n1\n```\n", 0),
        ("```console\n$ echo a > f\n```\n\n```console\n$ cat f\na\n```\n", 0),
        ("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n1\n```\n", 0),
        ("```python\nprint(2)\n```\n\n```text\n1\n```\n", 1),
        ("```python\nx = 2\n```\n\n```text\n1\n```\n", 1),
        ("```python\nprint(2)\n```\nbetween\n\n```text\n1\n```\n", 0),
        (f"```rdma\n{PROGRAM}expect robust\n```\n", 0),
        (f"```rdma\n{PROGRAM}expect not robust\n```\n", 1),
        (f"```rdma\n{PROGRAM}outcome A.x == 0 : allowed under sc\nexpect robust\n```\n", 1),
        (f'```rdma title="a.rdma"\n{PROGRAM}```\n\n```console\n$ grep -c . a.rdma\n2\n```\n', 0),
        ('```console\n$ echo x > f\n```\n\n```text title="f"\nx\n```\n', 0),
        ('```console\n$ echo x > f\n```\n\n```text title="f"\ny\n```\n', 1),
    ],
)
def test_mistakes(text: str, wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(complaints(text, tmp_path, monkeypatch)) == wrong


def test_what_cannot_be_read_stops_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        complaints("```python\n1 / 0\n```\n", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("rdma-robust check 'a b.rdma' \"c\" --jobs 1", False),
        ("rdma-robust reach a.rdma --target 'x == 1 && (y | z) > 2'", False),
        ("rdma-robust litmus/mailbox-*.rdma", False),
        ("rdma-robust a.rdma | tail", True),
        ("rdma-robust a.rdma|tail", True),
        ("rdma-robust a.rdma > out", True),
        ("rdma-robust a.rdma && true", True),
        ("rdma-robust $HOME", True),
    ],
)
def test_what_needs_a_shell(command: str, needed: bool) -> None:
    assert needs_shell(command) == needed


def test_commands_that_serve_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)
    with pytest.raises(AssertionError, match="does not end"):
        terminal.run("rdma-robust explore litmus/mailbox-plain.rdma")


def test_examples_work_on_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(tmp_path, monkeypatch)
    program = ROOT / "litmus/mailbox-plain.rdma"
    before = program.read_bytes()
    terminal.run("rdma-robust repair --write litmus/mailbox-plain.rdma")
    assert program.read_bytes() == before
    assert (tmp_path / "litmus/mailbox-plain.rdma").read_bytes() != before


def test_blocks_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.documents.ROOT", tmp_path)
    document = tmp_path / "doc.md"
    document.write_text(
        'a\n\n<!-- not run: why -->\n```sh\nx\n```\n\n- b\n\n    ```rdma title="c d"\n    e\n\n    f\n    ```\n'
    )
    first, second = blocks(document)
    assert (first.line, first.language, first.reason, first.follows) == (4, "sh", "why", False)
    assert (second.line, second.title, second.body, second.follows) == (10, "c d", "e\n\nf\n", False)


def test_a_command_can_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.documents.ROOT", tmp_path)
    document = tmp_path / "doc.md"
    document.write_text("```console\n$ echo a \\\n    b\na b\n$ true\n```\n")
    (block,) = blocks(document)
    assert commands(block) == (("echo a \\\n    b", "a b\n"), ("true", ""))


def test_times_are_all_that_may_differ() -> None:
    assert without_times("a   0.01 s\n") == without_times("a 12.34 s")
    assert without_times("1 state 0.01 s") != without_times("2 states 0.01 s")


def test_json_may_be_cut_short_only_where_it_says_so() -> None:
    assert begins({"a": "12...", "b": [1]}, {"a": "123", "b": [1]})
    assert not begins({"a": "13..."}, {"a": "123"})
    assert not begins({"a": 1}, {"a": True})
    assert not begins({"a": 1}, {"a": 1, "b": 2})
    assert not begins([1], [1, 2])


def test_what_is_recorded_is_right_and_the_rest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("documents", "reader", "record"):
        monkeypatch.setattr(f"tests.support.{module}.ROOT", tmp_path)
    document = tmp_path / "doc.md"
    old = "a\n\n```console\n$ echo 1.50 s\n1.00 s\n$ echo x\ny\n```\n\n```python\nprint(2)\n```\n\n```text\n3\n```\n\nb\n"
    document.write_text(old, encoding="utf-8")
    (tmp_path / "here").mkdir()
    new = recorded(document, Terminal(tmp_path / "here", monkeypatch))
    assert new == old.replace("\ny\n", "\nx\n").replace("\n3\n", "\n2\n")
