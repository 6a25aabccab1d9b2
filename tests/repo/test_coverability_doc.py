"""What docs/coverability.md says is so: its net is read, its Python runs, its numbers and options are those of the tool."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rdma_robust.vass.explicit import Cone, Edge, ExplicitVass, to_net
from rdma_robust.vass.explicit_json import write_json
from rdma_robust.vass.model import Effect
from rdma_robust.vass.spec_reader import read_spec
from rdma_robust.vass.spec_writer import write_spec
from tests.conftest import ROOT, Cli
from tests.support.naive_backward import coverable

DOC = (ROOT / "docs/coverability.md").read_text(encoding="utf-8")


def test_the_net_is_read_and_is_safe() -> None:
    (text,) = re.findall(r"```\n(#.*?)```", DOC, re.DOTALL)
    net = read_spec(text, "doc.spec")
    assert len(net.transitions) == 2
    assert coverable(net) is False


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
    vass = ExplicitVass("v", ("p", "q"), ("c",), (Edge(0, 1, Effect((1,), (-1,))),), 0, (3,), (Cone(1, (2,)),))
    monkeypatch.chdir(tmp_path)
    Path("protocol.json").write_text(write_json(vass))
    exec(code, {})
    assert Path("protocol.spec").read_text() == write_spec(to_net(vass))


def test_the_command_reads_the_corpus(cli: Cli) -> None:
    (command,) = re.findall(r"```console\n\$ rdma-robust (.*)\n```", DOC)
    name, file = command.split()
    done = cli(name, str(ROOT / file))
    assert done.returncode == 1
    assert "UNSAFE" in done.stdout


def test_numbers_and_options(cli: Cli) -> None:
    nets = len(list((ROOT / "tests/nets").glob("*.spec")))
    assert f"has {nets} nets" in DOC
    shown = cli("cover", "--help").stdout
    for option in set(re.findall(r"`(--[a-z-]+)", DOC)):
        assert option in shown, option
    for target in re.findall(r"\]\(([^)#:]+)\)", DOC):
        assert (ROOT / "docs" / target).exists(), target
