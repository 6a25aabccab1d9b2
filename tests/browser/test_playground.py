"""The playground in a real browser, from the server at home: the tool itself answers, in the page."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from zipfile import ZipFile

import pytest

from rdma_robust.teaching.exercises import exercise_named
from rdma_robust.teaching.playground.page_questions import SharedProgram, fragment_of
from sitegen.playground import bundle
from tests.conftest import COMMAND, ROOT
from tests.support.browser import MISSING, chromium, complaints, requests
from tests.support.opened_playground import Playground
from tests.support.playground_page import make

LACKING = [*MISSING, *bundle.missing()]
pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(bool(LACKING), reason=f"{' and '.join(LACKING)} is not installed: the playground was not tried"),
]

MAILBOX = (ROOT / "litmus/mailbox-plain.rdma").read_text(encoding="utf-8")
ENDLESS = """domain 0..99
node A {
  a = 0
}
node B {
  b = 0
}
thread P on A {
  reg t
  while 1 {
    put B.b = a
    t = (t + 1) % 100
    a = t
  }
}
thread Q on B {
  reg t
  while 1 {
    put A.a = b
    t = (t + 3) % 100
    b = t
  }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return make(tmp_path_factory.mktemp("playground") / "page")
    except bundle.NotMadeError as error:
        pytest.skip(f"the playground was not tried: {error}")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [COMMAND, "playground", str(folder), "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("The playground is at ").strip(), process
    finally:
        ended(process)


def ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)


@pytest.fixture(scope="module")
def address(server: tuple[str, subprocess.Popen[str]]) -> str:
    return server[0]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def first(browser: Any, address: str) -> Playground:
    """The page as it comes, with its first answer."""
    page = Playground(browser, address)
    assert page.answered() == "not robust"
    return page


@pytest.fixture
def opened(first: Playground) -> Playground:
    """The page as the last test left it, were that in a frame of it."""
    first.driver.switch_to.default_content()
    return first


def test_it_is_small_and_python_comes_compiled(folder: Path) -> None:
    files = json.loads(gzip.decompress((folder / "python.packed").read_bytes()).partition(b"\n")[0])
    names = {name for name, _ in files} | set(ZipFile(folder / "python_stdlib.zip").namelist())
    assert {"rdma_robust/cli/page_worker.pyc", "networkx/__init__.pyc", "typing.pyc"} <= names
    assert [name for name in names if name.endswith(".py")] == []
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 20_000_000


def test_verdict_explanation_outcomes_and_a_repair_that_is_applied(opened: Playground, address: str) -> None:
    assert "RDMA hardware can run it like this" in opened.text("#said")
    assert opened.in_editor(".tok-keyword") > 5
    assert opened.ask("explanation") == "not robust" and "would come before itself" in opened.text("#said")
    assert opened.ask("outcomes") == "listed" and "<- only RDMA" in opened.text("#said")
    assert opened.ask("repair") == "repaired" and "repaired at cost 2, no cheaper repair exists" in opened.text("#said")
    opened.click("#apply")
    assert opened.answered() == "robust"
    assert "  poll B\n  v = 2" in opened.written()
    assert all(url.startswith((address, "data:", "blob:")) for url in requests(opened.driver))
    assert complaints(opened.driver) == []


def test_the_other_tabs(opened: Playground) -> None:
    opened.choose("mailbox-plain.rdma")
    for tab, badge, said in (
        ("models", "not on all", "first to break it"),
        ("verify", "claims hold", "3 claims: 3 hold"),
        ("prove", "safe", "safe"),
        ("lint", "warnings", "RR722"),
    ):
        assert opened.ask(tab) == badge and said in opened.text("#said")
    assert opened.ask("explanation") == "not robust"
    for form, drawn in (("Timeline", "rr-timeline"), ("Graph", "rr-graph")):
        opened.form(form)
        assert "Sender on A" in opened.text(f"#drawn .{drawn}") and not opened.text("#said")
    opened.choose("collectives/send-in-between.mp")
    assert opened.answered() == "goes wrong"
    assert opened.in_editor(".tok-keyword") > 3
    assert "a browser does not have" in opened.text("#lacks")
    opened.form("Chart")
    assert "P[0]" in opened.text("#drawn .rr-chart")
    assert opened.ask("messages") == "goes wrong" and "DEADLOCK" in opened.text("#said")
    opened.choose("contracts/bcast.mp")
    assert opened.ask("contracts") == "verified" and "z3" in opened.text("#lacks")
    opened.click("#forms button:last-child")
    assert opened.answered() == "no answer" and "no run to draw" in opened.text("#said")
    assert opened.driver.switch_to.active_element.text == "Chart"
    assert complaints(opened.driver) == []
    opened.write("proc P { }\n")
    assert opened.ask("contracts") == "no contract"


def test_the_explorer_steps_to_the_counterexample_and_a_link_opens_it_there(opened: Playground) -> None:
    page, driver = opened, opened.driver
    page.choose("mailbox-plain.rdma")
    assert page.ask("verdict") == "not robust"
    page.click("#step")
    page.explored("step 0 of 6")
    for step in range(1, 4):
        page.click("#rdma [data-key=forward]")
        page.explored(f"step {step} of 6")
    assert "SC cannot follow RDMA step 3" in page.text("#sc")
    driver.switch_to.default_content()
    page.click("#share")
    page.until(lambda: "nothing was sent" in page.text("#notice"))
    linked = Playground(driver, driver.current_url)
    linked.explored("step 3 of 6")
    assert "SC cannot follow RDMA step 3" in page.text("#sc")
    driver.switch_to.default_content()
    linked.choose("collectives/send-in-between.mp")
    linked.explored("step 0 of 0", "#run")
    linked.until(lambda: "goes wrong" in linked.text("#verdict"))
    driver.switch_to.default_content()
    assert complaints(driver) == []


def test_mistakes_are_marked_while_one_types(opened: Playground) -> None:
    opened.choose("mailbox-plain.rdma")
    assert opened.ask("verdict") == "not robust"
    opened.write(MAILBOX.replace("put B.d = v", "put B.d = w"))
    opened.until(lambda: opened.in_editor(".cm-lintRange-error") == 1)
    assert opened.ask("lint") == "not well-formed"
    opened.click("#tab-explorer")
    opened.explored("undecided", "#verdict")
    opened.driver.switch_to.default_content()
    assert opened.ask("verdict") == "not well-formed"
    assert "program.rdma:9" in opened.text("#said") and "^" in opened.text("#said")
    opened.write(MAILBOX)
    opened.until(lambda: opened.in_editor(".cm-lintRange-error") == 0)


def test_a_search_that_does_not_end_is_stopped_and_the_next_question_answered(opened: Playground) -> None:
    opened.write(ENDLESS)
    opened.click("#tab-outcomes")
    opened.until(lambda: opened.driver.find_element("css selector", "body").get_attribute("data-tool") == "working")
    opened.click("#stop")
    assert opened.answered() == "cut short" and "stopped" in opened.text("#said")
    assert "in Python" in opened.text("#lacks")
    opened.write(MAILBOX)
    assert opened.ask("outcomes") == "listed"
    opened.write(ENDLESS)
    opened.click("#run")
    opened.until(lambda: not opened.all("#stop:disabled"))
    opened.write(MAILBOX)
    opened.click("#run")
    assert opened.answered() == "listed" and opened.all("#stop:disabled")
    opened.write("#include <stdio.h>\n")
    assert opened.ask("verdict") == "not well-formed" and "C is not read here" in opened.text("#lacks")
    opened.write(MAILBOX)
    assert opened.ask("verdict") == "not robust"


def test_links(opened: Playground, address: str, tmp_path: Path) -> None:
    program = tmp_path / "shared.rdma"
    program.write_text(MAILBOX.replace("outcome", "// ü, 𝄞\noutcome"), encoding="utf-8")
    command = [COMMAND, "share", str(program), "--tab", "outcomes", "--base", address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    page = Playground(opened.driver, done.stdout.strip())
    assert page.answered() == "listed"
    assert page.written() == program.read_text(encoding="utf-8")
    page.click("#share")
    page.until(lambda: "nothing was sent" in page.text("#notice"))
    version, _, code = page.driver.current_url.partition("#")[2].partition(".")
    said = json.loads(zlib.decompress(urlsafe_b64decode(code + "=" * (-len(code) % 4)), -zlib.MAX_WBITS))
    assert version == "1"
    state = {"kind": "rdma", "tab": "outcomes", "options": {}, "place": "", "exercise": ""}
    assert said == {"text": program.read_text(encoding="utf-8"), **state}
    later = SharedProgram(said["text"], "rdma", "later", {"cpu": "later"})
    page.driver.execute_script("location.hash = arguments[0]", fragment_of(later))
    page.until(lambda: "does not have: the tab later, cpu later." in page.text("#notice"))
    assert page.written() == program.read_text(encoding="utf-8")


def in_fragment(state: object) -> str:
    packed = zlib.compress(json.dumps(state).encode())[2:-4]
    return f"1.{urlsafe_b64encode(packed).decode().rstrip('=')}"


STATE = {"text": MAILBOX, "kind": "rdma", "tab": "verdict", "options": {}, "place": "", "exercise": ""}
BROKEN = {
    "7.abc": "version 7, and this page reads version 1",
    in_fragment(STATE)[:100]: "cut short",
    "nothing": "is no program",
    f"1.{'A' * 40_000}": "at most 32000",
    in_fragment("no object"): "it lacks the program",
    in_fragment({**STATE, "options": ["x"]}): "has what no link has",
    in_fragment({**STATE, "more": "x"}): "has what no link has",
    in_fragment({**STATE, "place": 7}): "has what no link has",
    in_fragment({**STATE, "text": "\ud800"}): "has what no link has",
    in_fragment({**STATE, "kind": "c"}): "neither .rdma nor .mp",
}


def test_a_broken_link_says_what_is_wrong_and_shows_no_program(opened: Playground, address: str) -> None:
    """In a tab that is opened by it, and in one that shows a program, which stays."""
    for fragment, wrong in list(BROKEN.items())[:3]:
        page = Playground(opened.driver, f"{address}#{fragment}")
        page.until(lambda wrong=wrong, page=page: wrong in page.text("#notice"))
        assert page.text("#notice").endswith("What is in the editor is not what was sent.")
        assert not page.written().strip() and not page.text("#badge") and not page.text("#said")
    page = Playground(opened.driver, f"{address}#{fragment_of(SharedProgram(MAILBOX, 'rdma', 'lint'))}")
    page.until(lambda: page.written() == MAILBOX)
    for fragment, wrong in BROKEN.items():
        page.driver.execute_script("location.hash = arguments[0]", fragment)
        page.until(lambda wrong=wrong: wrong in page.text("#notice"))
    assert page.written() == MAILBOX


def test_what_was_typed_is_there_when_the_page_is_loaded_anew(opened: Playground, address: str) -> None:
    """And where a link is opened, that has the program, not what was typed before."""
    link = f"{address}#{fragment_of(SharedProgram(MAILBOX, 'rdma', 'lint'))}"
    page = Playground(opened.driver, link)
    page.until(lambda: page.written() == MAILBOX)
    page.write("// typed\n")
    page.driver.refresh()
    page.until(lambda: page.written() == "// typed\n")
    assert page.text("#tabs [aria-selected=true]") == "Lint"
    page = Playground(opened.driver, link)
    page.until(lambda: page.written() == MAILBOX)


def test_an_exercise_is_failed_and_solved(opened: Playground, address: str) -> None:
    """It is opened by a link, as those of the documentation are, which says which exercise a program belongs to."""
    exercise = exercise_named("mailbox-mended")
    shared = SharedProgram(exercise.program, "rdma", "verdict", exercise=exercise.name)
    page = Playground(opened.driver, f"{address}#{fragment_of(shared)}")
    assert page.answered() == "not robust"
    assert page.text("#exercise h2") == "Exercise 2: A mailbox that does not"
    page.click(".judge")
    page.until(lambda: "Not solved: it is not robust: line 7" in page.text(".judgement.wrong"))
    assert complaints(page.driver) == []
    page.write(exercise.wrong)  # Chromium would keep the style of what it replaces, which the policy does not allow it
    page.click(".judge")
    page.until(lambda: "it can be done for less" in page.text(".judgement.wrong"))
    page.click(".solution")
    page.until(lambda: "  poll B\n  v = 2" in page.written())
    page.click(".judge")
    page.until(lambda: "Solved: it is robust at cost 2, and no cheaper repair exists" in page.text(".judgement.ok"))
    assert page.text("#exercises option:checked") == "2. A mailbox that does not ✓"
    page.click(".next")
    assert page.text("#exercise h2").startswith("Exercise 3: ")
    assert page.driver.switch_to.active_element.get_attribute("id") == "exercise-title"
    assert page.written().strip() == exercise_named("3").program.strip()


@pytest.fixture
def course_page(address: str, tmp_path: Path) -> Iterator[str]:
    """The address of a page of somebody else that shows a program in a frame."""
    source = f"{address}?embed#{fragment_of(SharedProgram(MAILBOX, 'rdma', 'outcomes'))}"
    (tmp_path / "course.html").write_text(f'<title>A course</title><iframe src="{source}"></iframe>', encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(tmp_path))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/course.html"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_in_a_frame_of_another_page(opened: Playground, course_page: str) -> None:
    driver = opened.driver
    driver.get(course_page)
    driver.switch_to.frame(0)
    opened.until(lambda: opened.text("#share") == "Open in a tab" and opened.text("#tab-outcomes"))
    assert opened.driver.find_element("css selector", "h1").size["width"] == 1 and not opened.text("footer")
    driver.execute_script("document.querySelector('#editor').shadowRoot.querySelector('.cm-content').focus()")
    driver.execute_script("document.execCommand('insertText', false, '// typed\\n')")
    opened.until(lambda: opened.written() == f"// typed\n{MAILBOX}")
    driver.refresh()
    driver.switch_to.frame(0)
    opened.until(lambda: opened.written() == f"// typed\n{MAILBOX}")
    driver.switch_to.default_content()


def test_narrow_and_dark(opened: Playground, address: str) -> None:
    page = Playground(opened.driver, address, width=360, dark=True)
    assert page.answered() == "not robust"
    page.select("#exercises", "sequence-lock-seen")
    assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 360
    page.driver.execute_script((bundle.INSTALLED / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
    found = page.driver.execute_async_script("axe.run().then(arguments[0])")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_without_a_network_from_the_second_visit_on(opened: Playground, server: tuple[str, subprocess.Popen[str]]) -> None:
    """The last test: the server is ended."""
    address, process = server
    kept = "navigator.serviceWorker.ready.then(each => arguments[0](each.active.state))"
    assert opened.driver.execute_async_script(kept) in ("activating", "activated")
    ended(process)
    page = Playground(opened.driver, f"{address}?embed")
    assert page.answered() == "not robust"
    page.click("#tab-repair")
    assert page.answered() == "repaired"
    assert complaints(page.driver) == []
