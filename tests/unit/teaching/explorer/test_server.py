"""The web server answers its own page and nobody else, and never with a traceback."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from rdma_robust.language.load import load_program
from rdma_robust.teaching.explorer import server
from rdma_robust.teaching.explorer.address import ExplorerPlace, Track
from rdma_robust.teaching.explorer.live import Live
from rdma_robust.teaching.explorer.message_session import MessageSession
from rdma_robust.teaching.explorer.server import LARGEST_BODY, application
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.view import VerdictView
from tests.support.explored import litmus

TOKEN = "a-token"
PORT = 12345
ORIGIN = f"http://127.0.0.1:{PORT}"
API = f"/{TOKEN}/api"


@pytest.fixture(scope="module")
def explored() -> Session:
    return litmus("mailbox-plain")


@pytest.fixture
def client(explored: Session) -> Iterator[Client]:
    yield page(explored)


class Client:
    """A browser that sends what it is told to."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.headers = {"Origin": ORIGIN}

    def request(self, method: str, path: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
                return await client.request(method, path, headers={**self.headers, **(headers or {})}, **more)

        return asyncio.run(answer())

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)


def page(explored: Session) -> Client:
    return Client(application(Live(explored, lambda _: VerdictView("robust", "so it is")), TOKEN, PORT))


def ask(client: Client, **body: Any) -> Any:
    return client.post(f"{API}/view", json=body)


def test_the_page_and_its_parts(client: Client) -> None:
    for path, kind in (
        ("", "text/html"),
        ("style.css", "text/css"),
        ("app.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
        ("shared.css", "text/css"),
        ("shared.js", "text/javascript"),
    ):
        answer = client.get(f"/{TOKEN}/{path}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind) and answer.text
    assert client.get(f"{API}/program").json()["file"] == "mailbox-plain.rdma"
    assert client.get(f"{API}/verdict").json()["verdict"] == "robust"


def test_nothing_from_outside_can_get_in(client: Client) -> None:
    for path in (f"/{TOKEN}/", f"{API}/program", "/elsewhere/"):
        headers = client.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert {policy[each] for each in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
        assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin" and headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
    page = client.get(f"/{TOKEN}/").text
    assert "//" not in page and "style=" not in page and "onclick" not in page


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/a-toke/", "/a-token2/api/program", "//a-token/", "/%61-token%00/", "/A-TOKEN/"]
)
def test_without_the_token_there_is_nothing(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 403 and "token" in answer.json()["error"]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:12345", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:12345.evil.example", "0.0.0.0:12345", ""],
)
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    answer = client.get(f"/{TOKEN}/", headers={"Host": host})
    assert answer.status_code == 403 and "localhost" in answer.json()["error"]


def test_localhost_is_a_host_too(explored: Session) -> None:
    answer = page(explored).get(f"/{TOKEN}/", headers={"Host": f"localhost:{PORT}", "Origin": f"http://localhost:{PORT}"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:80", f"http://localhost:{PORT}", ""],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_origins_are_refused(client: Client, origin: str, method: str) -> None:
    path = f"{API}/view" if method == "POST" else f"{API}/program"
    answer = client.request(method, path, headers={"Origin": origin}, json={"address": ""} if method == "POST" else None)
    assert answer.status_code == 403 and "own page" in answer.json()["error"]


def test_a_post_without_an_origin_is_refused_and_a_get_from_the_address_bar_is_not(explored: Session) -> None:
    client = page(explored)
    del client.headers["Origin"]
    assert client.get(f"/{TOKEN}/").status_code == 200
    assert ask(client, address="").status_code == 403


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/view"), ("POST", "/program"), ("DELETE", "/view"), ("OPTIONS", "/view")]
)
def test_other_methods_are_refused(client: Client, method: str, path: str) -> None:
    answer = client.request(method, API + path)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", ["../server.py", "%2e%2e/server.py", "index.html", "api", "api/"])
def test_there_are_no_other_files(client: Client, path: str) -> None:
    assert client.get(f"/{TOKEN}/{path}").status_code in (403, 404)


def test_stepping(client: Client, explored: Session) -> None:
    view = ask(client, address="").json()
    assert view["rdma"]["at"] == 0 and [move["label"] for move in view["rdma"]["moves"]] == ["writes v = 1"]
    view = ask(client, address=view["address"], do=["step", "rdma", 0]).json()
    assert view["rdma"]["at"] == 1 and view["sc"]["at"] == 1
    view = ask(client, address=view["address"], do=["mode", "free"]).json()
    view = ask(client, address=view["address"], do=["go", "sc", 0]).json()
    assert (view["rdma"]["at"], view["sc"]["at"], len(view["sc"]["steps"])) == (1, 0, 1)
    assert explored.place(view["address"]) == ExplorerPlace("free", Track((0,), 1), Track((0,), 0))
    assert ask(client, address=view["address"]).json() == view


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "the text address"),
        ({"address": 7}, "the text address"),
        ({"address": "nonsense"}, "not a state"),
        ({"address": "", "do": "step"}, "does one of"),
        ({"address": "", "do": ["step", "rdma"]}, "does one of"),
        ({"address": "", "do": ["step", "nic", 0]}, "does one of"),
        ({"address": "", "do": ["step", "rdma", "0"]}, "does one of"),
        ({"address": "", "do": ["step", "rdma", -1]}, "choice -1"),
        ({"address": "", "do": ["step", "rdma", 10**30]}, "is one move"),
        ({"address": "", "do": ["step", "sc", 0]}, "follows"),
        ({"address": "", "do": ["go", "rdma", 5]}, "no step 5"),
        ({"address": "", "do": ["mode", "wild"]}, "does one of"),
    ],
)
def test_ill_formed_requests_get_a_clear_answer(client: Client, body: Any, why: str) -> None:
    answer = client.post(f"{API}/view", json=body)
    assert answer.status_code == 400 and why in answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b"\xff", "application/json"),
        (b"[" * 60_000, "application/json"),
        (b'{"address": "' + b"a" * LARGEST_BODY + b'"}', "application/json"),
        (b'{"address": ""}', "text/plain"),
        (b"address=", "application/x-www-form-urlencoded"),
    ],
)
def test_what_is_no_request_is_refused(client: Client, content: bytes, kind: str) -> None:
    answer = client.post(f"{API}/view", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400 and answer.json()["error"]


def test_hostile_names_stay_text(explored: Session) -> None:
    bad = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e"
    program = load_program(explored.program.source, f"{bad}.rdma")
    answer = page(Session(program)).get(f"{API}/program")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["file"] == "</script><img src=x onerror=alert(1)>\\x1b[31m\\u202e.rdma"


def test_the_verdict_is_decided_once_and_its_defects_are_told(explored: Session) -> None:
    calls = []

    def decide(_: Session) -> VerdictView:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("a defect")
        return VerdictView("unknown", "tired")

    client = Client(application(Live(explored, decide), TOKEN, PORT))
    first = client.get(f"{API}/verdict")
    assert first.status_code == 500 and json.loads(first.text)["error"] == "internal error: a defect"
    assert client.get(f"{API}/verdict").json()["text"] == "tired"
    assert client.get(f"{API}/verdict").json()["text"] == "tired"
    assert len(calls) == 2


def test_every_file_of_the_page_is_served() -> None:
    from importlib.resources import files  # noqa: PLC0415

    names = {each.name for each in files("rdma_robust.teaching.explorer").joinpath("page").iterdir()}
    assert names == set(server.PARTS)
    for template in (Session.page, MessageSession.page):
        page = server.exploration_page(template)
        parts = {*server.PARTS, *server.SHARED}
        assert set(re.findall(r'(?:src|href)="([^"#]+)"', page)) <= parts
        assert page.count("<script ") == 3 and page.count('rel="stylesheet"') >= 2


def test_a_changed_file_gives_another_program_and_an_error_keeps_the_last(explored: Session) -> None:
    live = Live(explored, lambda session: VerdictView("robust", session.program.name), watched=True)
    client = Client(application(live, TOKEN, PORT))
    program = client.get(f"{API}/program").json()
    assert (program["number"], program["watched"]) == (0, True)
    live.changed("one.rdma:1:1: error: no")
    assert client.get(f"{API}/now").json() == {"number": 0, "error": "one.rdma:1:1: error: no"}
    live.changed(explored)
    assert client.get(f"{API}/now").json() == {"number": 0, "error": ""}
    live.changed(litmus("mailbox-polled"))
    assert client.get(f"{API}/now").json() == {"number": 1, "error": ""}
    assert "poll B" in client.get(f"{API}/program").text
    assert client.get(f"{API}/verdict").json()["text"] == "mailbox-polled"
