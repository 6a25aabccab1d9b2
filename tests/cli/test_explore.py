"""`rdma-robust explore`: what is refused before anything is served, and a server that ends when it is told to."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import COMMAND, Cli
from tests.support.message_texts import TRACE


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal that is missing must fail the test, not serve forever."""

    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("the server has been started")

    monkeypatch.setattr("uvicorn.Server.run", unexpected)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["gone.rdma"], "gone.rdma: error: no such file or directory"),
        (["bad.rdma"], "bad.rdma:2:"),
        (["."], "explore takes one program, and . stands for 3"),
        (["sb.rdma", "--port", "70000"], "65535"),
        (["sb.rdma", "--port", "x"], "--port"),
        (["sb.rdma", "--timeout", "-1"], "a number of seconds"),
        (["sb.rdma", "--state", "nonsense"], "this is not a state of an exploration: `nonsense`"),
        (["sb.rdma", "--state", "http://127.0.0.1:1/t/#p=00000000&mode=follow&rdma=0&at=0"], "belongs to another program"),
        (["sb.rdma", "--tui"], "--tui needs a terminal"),
        (["ring.mp", "--tui"], "--tui needs a terminal"),
        (["ring.mp", "--ordered-reads"], "--ordered-reads is about RDMA, and ring.mp is a message program"),
        (["ring.mp", "--buffer", "all"], "--buffer all: it is one of zero, infinite, any"),
        (["ring.mp", "--state", "p=0&buffer=any&run=&at=0"], "belongs to another program"),
        (["wrong.mp"], "wrong.mp:1:"),
        (["other.json"], "other.json:1:12: error: this is no trace that can be read here: its format is another"),
        (["run.json", "-D", "N=2"], "a trace has no constants, so -D N=2 defines nothing"),
        (["run.json", "--cpu", "tso"], "--cpu is about RDMA, and run.json is a message program"),
        (["sb.rdma", "--buffer", "zero"], "--buffer is for message programs, and sb.rdma is none"),
        (["-", "--tui"], "--tui needs standard input for its keys"),
        ([], "FILE"),
    ],
)
@pytest.mark.parametrize("browser", ["--no-browser"])
def test_what_is_refused(cli: Cli, programs: Path, arguments: list[str], why: str, browser: str) -> None:
    if arguments and arguments[0].endswith(".json"):
        (programs / "other.json").write_text('{"format": "x"}')
        (programs / "run.json").write_text(TRACE)
    if arguments and arguments[0].endswith(".mp"):
        (programs / "ring.mp").write_text("proc P { reg v; send 1 to Q; recv v }\nproc Q { reg v; recv v; send 2 to P }\n")
        (programs / "wrong.mp").write_text("proc P { send 1 to R }\n")
    answer = cli("explore", *arguments, browser)
    assert answer.returncode == 2 and why in answer.stderr and not answer.stdout


def test_a_port_in_use(cli: Cli, programs: Path) -> None:
    assert programs
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = cli("explore", "sb.rdma", "--no-browser", "--port", str(port))
    assert answer.returncode == 2 and f"port {port} cannot be used" in answer.stderr and not answer.stdout


@pytest.mark.parametrize(("flag", "package"), [("--no-browser", "uvicorn"), ("--tui", "textual")])
def test_a_missing_package(cli: Cli, programs: Path, monkeypatch: pytest.MonkeyPatch, flag: str, package: str) -> None:
    assert programs
    monkeypatch.setattr("rdma_robust.cli.commands.explore.find_spec", lambda name: None if name == package else object())
    answer = cli("explore", "sb.rdma", flag)
    assert answer.returncode == 2
    assert f"explore needs {package}, which is not installed here: pip install {package}" in answer.stderr


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the installed command in `folder` and yield it with the address it prints."""
    process = subprocess.Popen(
        [COMMAND, "explore", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": "true"},
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Exploring at ").strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.ci
def test_a_message_program_is_served_and_decided(tmp_path: Path) -> None:
    (tmp_path / "ring.mp").write_text("proc P { reg v; send 1 to Q; recv v }\nproc Q { reg v; send 2 to P; recv v }\n")
    with serving(tmp_path, "ring.mp", "--no-browser", "--buffer", "zero") as (process, address):
        url = urlsplit(address)
        assert url.hostname and url.port
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
        connection.request("GET", url.path + "api/verdict")
        verdict = json.loads(connection.getresponse().read())
        assert verdict["verdict"] == "wrong" and verdict["text"] == "deadlock under zero, any"
        asked = json.dumps({"address": verdict["runs"][0]["address"], "do": ["go", verdict["runs"][0]["steps"]]})
        headers = {"Content-Type": "application/json", "Origin": f"http://{url.netloc}"}
        connection.request("POST", url.path + "api/view", asked, headers)
        seen = json.loads(connection.getresponse().read())
        assert seen["end"]["kind"] == "deadlock" and "P waits for Q, and Q waits for P." in seen["end"]["reasons"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0 and "Traceback" not in out + err
        connection.close()


@pytest.mark.ci
def test_a_recorded_run_is_served_and_decided(tmp_path: Path) -> None:
    """Any receive may take its message in another order than was recorded; events are told as statements."""
    (tmp_path / "run.json").write_text(TRACE)
    with serving(tmp_path, "run.json", "--no-browser") as (process, address):
        url = urlsplit(address)
        assert url.hostname and url.port
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
        connection.request("GET", url.path + "api/verdict")
        verdict = json.loads(connection.getresponse().read())
        assert verdict["text"] == "violated under zero, infinite, any"
        headers = {"Content-Type": "application/json", "Origin": f"http://{url.netloc}"}
        connection.request("POST", url.path + "api/view", json.dumps({"address": "", "do": None}), headers)
        moves = json.loads(connection.getresponse().read())["moves"]
        assert [(move["label"], move["line"]) for move in moves] == [
            ("posts its receive: `recv a from any tag 7`", 3),
            ("sends: `send 1 to P tag 7`", 7),
            ("sends: `isend 2 + 3 to P tag 7`", 9),
        ]
        assert process.poll() is None
        connection.close()


def hard_program() -> str:
    """Return a program whose verdict takes longer than any test."""
    body = "reg r; loop {{ put A{}.x = y; put A{}.y = x; r = x; x = r + 1; poll A{} }}"
    nodes = "".join(f"node A{i} {{ x, y }}\n" for i in range(6))
    threads = (f"thread T{i} on A{i} {{ {body.format((i + 1) % 6, (i + 2) % 6, (i + 1) % 6)} }}\n" for i in range(6))
    return f"domain 0..50\n{nodes}{''.join(threads)}"


@pytest.mark.ci
def test_it_serves_until_it_is_stopped(programs: Path) -> None:
    """Connections that stay open, and a verdict that is being decided, do not keep a server from ending."""
    (programs / "hard.rdma").write_text(hard_program())
    ends = ((signal.SIGINT, 0, "stopped"), (signal.SIGTERM, 143, "interrupted"))
    with serving(programs, "hard.rdma", "--no-browser", "--timeout", "0") as one, serving(programs, "sb.rdma") as other:
        first, second = urlsplit(one[1]), urlsplit(other[1])
        assert first.port != second.port and first.path != second.path
        for (process, address), (number, code, said) in zip((one, other), ends, strict=True):
            url = urlsplit(address)
            assert url.hostname == "127.0.0.1" and url.port and len(url.path.strip("/")) >= 32
            deciding, connection = (http.client.HTTPConnection("127.0.0.1", url.port, timeout=20) for _ in range(2))
            deciding.request("GET", url.path + "api/verdict")
            connection.request("GET", url.path + "api/program")
            answer = connection.getresponse()
            assert answer.status == 200 and b'.rdma"' in answer.read()
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            assert process.returncode == code and said in err and "Traceback" not in out + err
            connection.close()
            deciding.close()
