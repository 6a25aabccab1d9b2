"""Findings as lines: one line each, and commands that GitHub's runner reads back as they were."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest

from rdma_robust.frame.finding import Finding
from rdma_robust.frame.formats.lines import concise, github

NASTY = ["a.rdma", "a b,c.rdma", "50%/x:y.rdma", "::error::.rdma", "new\nline.rdma", "esc\x1b[31m.rdma", "ü\udcff.rdma"]


def read(command: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does (actions/runner, ActionCommand.TryParseV2)."""
    found = re.fullmatch(r"::(?P<name>[a-z]+)(?: (?P<properties>.*?))?::(?P<data>.*)", command)
    assert found is not None
    properties = dict(each.split("=", 1) for each in found["properties"].split(","))
    return found["name"], {name: unquote(value) for name, value in properties.items()}, unquote(found["data"])


@pytest.mark.parametrize("file", NASTY)
def test_github_reads_what_was_meant(file: str) -> None:
    finding = Finding(file, 9, 3, "error", "RR010", f"not robust: 100% of\nwhat\ris in `{file}`")
    command = github(finding)
    assert len(command.splitlines()) == 1
    assert command.isprintable()
    name, properties, data = read(command)
    assert name == "error"
    if file.isprintable() or file == "new\nline.rdma":
        assert properties == {"file": file, "line": "9", "col": "3", "title": "rdma-robust RR010"}
        assert data == f"{finding.message} [RR010]"


def test_github_without_a_place() -> None:
    assert read(github(Finding("a.rdma", None, None, "warning", "RR001", "gone"))) == (
        "warning",
        {"file": "a.rdma", "title": "rdma-robust RR001"},
        "gone [RR001]",
    )


@pytest.mark.parametrize("file", NASTY)
def test_concise_is_one_line(file: str) -> None:
    line = concise(Finding(file, 9, 3, "error", "RR010", "a\nb"))
    assert line.isprintable()
    assert line.endswith(":9:3: error: a\\nb [RR010]")
    assert concise(Finding(file, None, None, "error", "RR010", "a")).endswith(".rdma: error: a [RR010]")
