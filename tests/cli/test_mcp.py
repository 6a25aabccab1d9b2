"""The `mcp` command: a client of the official SDK asks over standard streams; budgets, folders, and what is undecided."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench.families import pipeline
from rdma_robust.cli import mcp_server
from rdma_robust.cli.mcp_server import TOOLS, called_program, read_inside, tool_answer
from rdma_robust.foreign import own_command
from tests.conftest import INVALID, NOT_ROBUST, ROBUST, Cli

BUDGET = {"timeout_s": 30.0, "memory_mib": 2048}


def asked(command: str, text: str = "", path: str = "", roots: tuple[Path, ...] = (), **budget: Any) -> dict[str, Any]:
    given = {**BUDGET, **budget}
    return tool_answer(command, called_program(text, path, roots), given["timeout_s"], given["memory_mib"])


@pytest.mark.ci
@pytest.mark.parametrize(
    ("command", "text", "status"),
    [
        ("check", ROBUST, "ok"),
        ("check", NOT_ROBUST, "wrong"),
        ("check", INVALID, "invalid"),
        *((command, NOT_ROBUST, None) for command in TOOLS if command != "check"),
    ],
)
def test_each_tool_answers_in_the_json_of_its_command(command: str, text: str, status: str | None) -> None:
    found = asked(command, text)
    assert found["status"] == status or (status is None and found["status"] in ("ok", "wrong"))
    assert found["decided"] is (found["exit_code"] < 2)
    assert found["report"]["format"] == f"rdma-robust/{command}"


@pytest.mark.ci
def test_undecided_is_no_pass() -> None:
    found = asked("check", pipeline(4, 30), timeout_s=0.2)
    assert (found["status"], found["decided"]) == ("unknown", False)
    assert "not a pass" in found["meaning"]


def test_a_code_that_nobody_knows_is_no_pass() -> None:
    for code in (3, 4, -9):
        told = mcp_server._told(code, b"", b"gone")
        assert (told["status"], told["decided"], told["report"]) == ("unknown", False, None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"timeout_s": 0.0}, "a time above 0"),
        ({"timeout_s": 1e9}, "at most 600 s"),
        ({"timeout_s": float("nan")}, "a time above 0"),
        ({"memory_mib": 0}, "128 to"),
        ({"text": "", "path": ""}, "either as text or"),
        ({"path": "it.rdma"}, "either as text or"),
        ({"text": "", "path": "it.rdma"}, "no folder was given"),
    ],
)
def test_a_question_without_a_budget_or_a_program_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        asked("check", **{"text": ROBUST, **wrong})


def test_only_files_in_the_folders_are_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "inside-not"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "it.rdma").write_text(ROBUST)
    (inside / "link.rdma").symlink_to(outside / "it.rdma")
    (inside / "key.pem").write_text("secret")
    roots = [outside.parent / "empty", inside]
    assert read_inside(str(inside / "it.rdma"), roots) == read_inside("it.rdma", roots) == ROBUST.encode()
    for path in (
        outside / "it.rdma",
        inside / "link.rdma",
        inside / ".." / "inside-not" / "it.rdma",
        inside / "none.rdma",
        "../inside-not/it.rdma",
    ):
        with pytest.raises(ValueError, match="no such file in the folders"):
            read_inside(str(path), [inside])
    with pytest.raises(ValueError, match=r"end in \.rdma"):
        read_inside(str(inside / "key.pem"), [inside])


def test_no_package_and_no_folder_are_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.cli.commands.mcp.find_spec", lambda _: None)
    done = cli("mcp")
    assert done.returncode == 2 and "pip install 'mcp>=2'" in " ".join(done.stderr.split())
    monkeypatch.setattr("rdma_robust.cli.commands.mcp.find_spec", lambda _: True)
    done = cli("mcp", "--folder", "nowhere")
    assert done.returncode == 2 and "that is no folder" in done.stderr


@pytest.mark.ci
@pytest.mark.skipif(find_spec("mcp") is None, reason="the package mcp is not installed: its client asks nothing")
def test_a_client_of_the_sdk_over_standard_streams(tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - an extra

    (tmp_path / "it.rdma").write_text(NOT_ROBUST)
    command, *arguments = own_command(["mcp", "--folder", str(tmp_path)])

    async def talk() -> tuple[set[str], Any, Any, tuple[Any, ...]]:
        async with Client(StdioServerParameters(command=command, args=arguments)) as client:
            tools = await client.list_tools()
            found = await client.call_tool("check", {"path": str(tmp_path / "it.rdma"), **BUDGET})
            text = await client.call_tool("check", {"text": ROBUST, **BUDGET})
            without = await client.call_tool("check", {"text": ROBUST})
            refused = [await client.call_tool("check", {"path": "../it.rdma", **BUDGET})]
            refused += [await client.call_tool("check", {"text": ROBUST, "timeout_s": -1, "memory_mib": 2048})]
            return {tool.name for tool in tools.tools}, found, text, (without, *refused)

    names, found, text, refused = asyncio.run(talk())
    assert names == set(TOOLS)
    assert (found.structured_content["status"], text.structured_content["status"]) == ("wrong", "ok")
    for answer, reason in zip(refused, ("timeout_s", "no such file in the folders", "a time above 0"), strict=True):
        assert answer.is_error and reason in answer.content[0].text, "a client is told why it is refused"
