"""Shells complete commands, options, values and files: the answers, and the scripts in the shells that are there."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from rdma_robust.cli.commands.completion import SCRIPTS, VARIABLE
from rdma_robust.cli.completion.answers import cursor_completions, shell_answer
from tests.conftest import COMMAND, Cli

ENVIRONMENT = {**os.environ, "PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}", "TERM": "dumb"}


@pytest.fixture
def folder(programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (programs / "nets").mkdir()
    (programs / "nets" / "a net.spec").write_text("")
    (programs / "sub").mkdir()
    (programs / "sub" / "inner.rdma").write_text("")
    for name in ("old.json", ".hidden.rdma", "notes.txt"):
        (programs / name).write_text("")
    monkeypatch.chdir(programs)
    return programs


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ver", ["verify-certificate", "verify"]),
        ("", ["check", "calm.rdma", "nets/", "sub/"]),
        ("--ver", ["--version"]),
        ("--timeo", ["--timeout"]),
        ("check --max", ["--max-states"]),
        ("check --no-ex", ["--no-explain"]),
        ("verify --color ", ["auto", "always", "never"]),
        ("check --format js", ["json", "jsonl"]),
        ("check --format=js", ["--format=json", "--format=jsonl"]),
        ("check --format = js", ["json", "jsonl"]),
        ("check --color =", ["auto", "always", "never"]),
        ("report --format ju", ["junit"]),
        ("check --reductions none,p", ["none,por", "none,permute"]),
        ("check --reductions -p", ["-por", "-permute"]),
        ("check --dump-after li", ["lift"]),
        ("cover --engine ba", ["backward"]),
        ("prove --model tso,p", ["tso,pso"]),
        ("prove --model rd", ["rdma"]),
        ("prove --engine z", ["zones"]),
        ("explain-code RR001", ["RR001"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("demo v", ["vass"]),
        ("demo pcp --to", ["--top"]),
        ("sb.rdma c", ["calm.rdma"]),
        ("check sb.rdma --expect c", ["calm.rdma"]),
        ("verify su", ["sub/"]),
        ("verify sub/", ["sub/inner.rdma"]),
        ("verify .h", [".hidden.rdma"]),
        ("cover nets/", ["nets/a net.spec"]),
        ("compare o", ["old.json"]),
        ("check --output n", ["nets/", "notes.txt"]),
        ("check --timeout ", []),
        ("check -- --timeo", []),
        ("chek sb", []),
        ("demo nothing --x", []),
    ],
)
def test_what_may_stand_there(line: str, said: list[str]) -> None:
    words = line.split(" ")
    found = [each.value for each in cursor_completions(words, len(words))]
    assert found == said if line else set(said) <= set(found)
    assert "notes.txt" not in found or "--output" in line


@pytest.mark.usefixtures("folder")
def test_answers_are_lines_of_kind_value_and_meaning() -> None:
    assert shell_answer("zsh:1", ["outco"]) == [
        "word\toutcomes\tList the reachable final states of a program under SC and under RDMA side by side"
    ]
    assert shell_answer("zsh:2", ["verify", "su"]) == ["path\tsub/\t"]
    assert shell_answer("bash:2", ["verify", "su"]) == ["path\tsub\t"]
    assert shell_answer("bash:1", ["--color", "\udcff"]) is not None
    assert shell_answer("nonsense", ["x"]) == []


def test_the_cursor_may_be_in_the_middle() -> None:
    assert [each.value for each in cursor_completions(["ver", "sb.rdma"], 1)][-2:] == ["verify-certificate", "verify"]


def test_the_command_prints_the_scripts(cli: Cli) -> None:
    for shell, script in SCRIPTS.items():
        assert cli("completion", shell).stdout == script
        assert VARIABLE in script
    done = cli("completion", "tcsh")
    assert done.returncode == 2
    assert "it is one of bash, zsh, fish" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    (tmp_path / "script").write_text(SCRIPTS[shell])  # type: ignore[index]
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here")
def test_fish_completes(folder: Path) -> None:
    def completed(line: str) -> str:
        script = f"rdma-robust completion fish | source; complete -C {line!r}"
        command = ["fish", "--no-config", "-c", script]
        done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        return done.stdout

    assert completed("rdma-robust outco").startswith("outcomes\tList")
    assert completed("rdma-robust check --format js").split() == ["json", "jsonl"]
    assert completed("rdma-robust verify sub/i").strip() == "sub/inner.rdma"


_CONTROLS = re.compile(r"\x07|\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]")


class Typist:
    """Types into an interactive shell and reads what it shows."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {**ENVIRONMENT, "PS1": "> "})

    def type(self, text: str, until: str, seconds: float = 30) -> str:
        """Type a text and return what is shown then, up to what matches `until`."""
        os.write(self.terminal, text.encode())
        shown, end = "", time.monotonic() + seconds
        while not re.search(until, shown):
            assert time.monotonic() < end, f"{until!r} is not in {shown!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                # zsh rings before it goes on typing, and moves the cursor.
                shown += _CONTROLS.sub("", os.read(self.terminal, 1 << 16).decode(errors="replace"))
        return shown

    def leave(self) -> None:
        os.write(self.terminal, b"\x15exit\n")
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.mark.parametrize(
    ("shell", "setup"),
    [
        (["bash", "--norc", "--noprofile", "-i"], "source <(rdma-robust completion bash)"),
        (["zsh", "-f", "-i"], "autoload -U compinit; compinit -D -u; source <(rdma-robust completion zsh)"),
    ],
    ids=["bash", "zsh"],
)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.ci
def test_a_shell_completes_what_is_typed(folder: Path, shell: list[str], setup: str) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not here")
    typist = Typist(shell, folder)
    try:
        typist.type(f"{setup}; echo rea''dy\n", "ready")
        typist.type("rdma-robust outco\t", r"outcomes ")
        typist.type("sub/in\t", r"sub/inner\.rdma ")
        typist.type("--dep\t", r"--depth ")
        typist.type("\x15rdma-robust check --format=jsonl\t", r"--format=jsonl ")
        typist.type("\x15rdma-robust cover ne\t", r"nets/")
        typist.type("a\t", r"a\\ net\.spec")
    finally:
        typist.leave()
