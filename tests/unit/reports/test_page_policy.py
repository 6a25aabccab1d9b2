"""Every page that the tool writes forbids every connection and every script but its own, and keeps to that itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from random import Random

import pytest
from lxml import html

from rdma_robust.reports.batch.html_report import write_html
from rdma_robust.reports.explanation.explanation_html import explanation_html
from rdma_robust.teaching.demos.walk_page import walk_page
from rdma_robust.teaching.explorer.server import POLICY, exploration_page
from tests.support import batches, explained, walks

STRICT = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}


def demo() -> str:
    program = walks.litmus("sb-put-plain")
    return walk_page(walks.sample(walks.animation(program, walks.random_run(program, Random(1), 20), "A run")))


PAGES: dict[str, Callable[[], str]] = {
    "explanation": lambda: explanation_html(explained.litmus("sb-put-polled"), "0"),
    "explanation of a robust program": lambda: explanation_html(explained.litmus("mailbox-polled"), "0"),
    "report": lambda: write_html(batches.litmus("sb-put-plain", "mailbox-polled", page=True)),
    "demo": demo,
}


def policy(page: html.HtmlElement) -> dict[str, str]:
    (said,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    return dict(part.strip().split(" ", 1) for part in said.split(";"))


@pytest.mark.parametrize("name", PAGES)
def test_one_script_is_allowed_and_it_is_the_one_of_the_page(name: str) -> None:
    page = html.document_fromstring(PAGES[name]())
    said = policy(page)
    (script,) = page.xpath("//script[not(@type='application/json')]")
    digest = base64.b64encode(hashlib.sha256((script.text or "").encode()).digest()).decode()
    assert said.pop("script-src") == f"'sha256-{digest}'"
    assert said.pop("style-src") == "'unsafe-inline'"
    assert said == STRICT
    assert not page.xpath("//@*[starts-with(name(), 'on')] | //@*[starts-with(normalize-space(.), 'javascript:')]")
    assert not page.xpath("//@src | //link[@rel='stylesheet'] | //iframe | //object | //form | //base")


@pytest.mark.parametrize("name", ["program_explorer.html.j2", "message_explorer.html.j2"])
def test_the_pages_of_the_explorer_say_what_their_server_says(name: str) -> None:
    page = html.document_fromstring(exploration_page(name))
    assert policy(page) == dict(part.strip().split(" ", 1) for part in POLICY.split(";"))
    assert not page.xpath("//@style | //style | //script[not(@src)] | //@*[starts-with(name(), 'on')]")
