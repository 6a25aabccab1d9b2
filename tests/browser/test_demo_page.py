"""The page of a walk-through in a real browser: stepping by keys, buttons, slider and address shows the machine's states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rdma_robust.language.flow.cfg import Get, Program, Put, Step
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import DONE, ISSUED, READ, QueueEntry, RdmaMachine, RdmaState
from rdma_robust.semantics.wording import event_name
from rdma_robust.teaching.demos.walk import Animation, Walkthrough
from rdma_robust.teaching.demos.walk_page import walk_page
from rdma_robust.teaching.demos.walk_pcp import CLASSIC, pcp_walk
from tests.browser.test_explain_page import CONTRAST, WIDE
from tests.support.browser import MISSING, BrowserPage, chromium, complaints, requests
from tests.support.walks import animation, chain, litmus, random_run, sample

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the pages were not tried in a browser"
)
BAD = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
LONG = 250

STATE = """
const run = document.getElementById(arguments[0]);
const all = (selector, root = run) => [...root.querySelectorAll(selector)];
const texts = (selector, root = run) => all(selector, root).map((e) => e.textContent);
const slots = all("[data-slot]").sort((a, b) => a.dataset.slot - b.dataset.slot);
const more = (lane, name) => Number(texts(`.${name} .more`, lane).join("").match(/[0-9]+/) || 0);
const row = (lane, name) => [texts(`.${name} .operation`, lane), more(lane, name)];
return {
  at: run.querySelector(".count").textContent,
  values: slots.map((e) => e.lastElementChild.textContent),
  statuses: texts(".status"),
  next: all(".thread").map((e) => all(".next", e).map((line) => Number(line.dataset.line))),
  lanes: all(".lane").map((e) => [row(e, "pipe"), row(e, "buffer"), row(e, "return")]),
  polls: all(".completions").map((e) => [Number(e.dataset.complete), Number(e.dataset.open)]),
  event: run.querySelector(".label").title,
  note: run.querySelector(".note").textContent,
  far: run.querySelector(".note").classList.contains("far"),
  current: texts(".stops .current b"),
  slider: run.querySelector("input[type=range]").value,
};
"""


class Page(BrowserPage):
    """A walk-through as its reader sees it."""

    def state(self, run: str = "run1") -> dict[str, Any]:
        found: dict[str, Any] = self.driver.execute_script(STATE, run)
        return found

    def at(self, run: str = "run1") -> int:
        return int(self.state(run)["at"].split()[1])

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys("".join(keys))

    def click(self, what: str, run: str = "run1") -> None:
        super().click(f"#{run} {what}")

    def hash(self) -> str:
        return str(self.driver.execute_script("return location.hash"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def saved(walk: Walkthrough, path: Path) -> str:
    path.write_text(walk_page(walk), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def mailbox() -> Animation:
    program = litmus("mailbox-polled")
    return animation(program, random_run(program, Random(1), 60), "Mailbox", 4)


@pytest.fixture(scope="module")
def long() -> Animation:
    program = chain()
    return animation(program, random_run(program, Random(2), LONG, 0.6), "Four processes", 50)


@pytest.fixture(scope="module")
def both(mailbox: Animation, long: Animation, tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(sample(mailbox, long), tmp_path_factory.mktemp("demo") / "both.html")


def chip(step: Step, entry: QueueEntry) -> str:
    op = step.op
    if not isinstance(op, Put | Get):
        return step.text
    if entry.stage >= READ:
        return f"{op.target.name} = {entry.value}"
    return f"{op.target.name} ← {op.source.init if op.source.hidden else op.source.name}"


def lanes(machine: RdmaMachine, state: RdmaState) -> tuple[list[list[list[str]]], list[list[int]]]:
    """Return pipe and write buffers of each queue pair, and (complete, open) for those of which some operation is polled."""
    rows, polls = [], []
    for code, thread in zip(machine.codes, state.threads, strict=True):
        for qp, queue in enumerate(thread.queues):
            steps = [(code.commands[entry.command].step, entry) for entry in queue]
            puts = [(s, e) for s, e in steps if e.stage == ISSUED and isinstance(s.op, Put)]
            gets = [(s, e) for s, e in steps if e.stage == ISSUED and isinstance(s.op, Get)]
            posted = [(s, e) for s, e in steps if e.stage < ISSUED]
            rows.append([[chip(s, e) for s, e in part] for part in (posted, puts, gets)])
            done = [e.stage >= (ISSUED if isinstance(s.op, Put) else DONE) for s, e in steps if not e.polled]
            if any(ahead[qp] for ahead in code.polls_ahead.values()):
                polls.append([[*done, False].index(False), len(done)])
    return rows, polls


@cache
def machine_of(program: Program) -> RdmaMachine:
    return RdmaMachine(program)


def check(page: Page, run: str, shown: Animation, step: int) -> None:
    found, machine = page.state(run), machine_of(shown.program)
    state = shown.moves[step].state
    assert isinstance(state, RdmaState)
    memory = [v for cell, v in zip(shown.program.cells, state.memory, strict=True) if not cell.hidden]
    assert found["values"] == [str(v) for v in (*memory, *(v for thread in state.threads for v in thread.registers))]
    for number, (thread, here) in enumerate(zip(shown.program.threads, state.threads, strict=True)):
        assert (found["statuses"][number] == "ended") == (here.point == thread.exit)
        lines = {data["step"].span.line for _, _, data in thread.graph.out_edges(here.point, data=True)}
        assert set(found["next"][number]) <= lines and bool(found["next"][number]) == bool(lines)
    rows, polls = lanes(machine, state)
    assert found["polls"] == polls
    for expected, lane in zip(rows, found["lanes"], strict=True):
        for texts, (chips, more) in zip(expected, lane, strict=True):
            assert chips == texts[: len(chips)] and len(chips) + more == len(texts) and (not more or len(chips) >= 5)
    assert found["at"] == f"step {step} of {len(shown.moves) - 1}"
    assert found["slider"] == str(step)
    assert found["event"] == event_name(shown.moves[step].action)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["light", "dark on a phone"])
def test_the_page_stands_alone_and_fits(browser: Any, both: str, width: int, dark: bool) -> None:
    page = Page(browser, f"{both}#run2-200", width=width, dark=dark)
    assert page.at("run2") == 200
    assert browser.execute_script(WIDE), "the page is wider than the window"
    ratios = browser.execute_script(
        CONTRAST,
        "p, td, th, h1, h2, h3, h4, code, i, button:not(:disabled), figcaption, .value b, .operation, .more, .stops a, .end",
    )
    assert len(ratios) > 200
    assert min(ratios) >= 4.5
    assert [r for r in requests(browser) if not r.startswith(("data:", "about:"))] == [both]
    assert not complaints(browser)


def test_every_step_shows_the_state(browser: Any, both: str, mailbox: Animation) -> None:
    page = Page(browser, both)
    press = "document.querySelector(`#run1 [data-do='${arguments[0]}']`).click()"
    check(page, "run1", mailbox, 0)
    last = len(mailbox.moves) - 1
    for step in range(1, last + 1):
        browser.execute_script(press, "forward")
        check(page, "run1", mailbox, step)
    browser.execute_script(press, "forward")
    for step in range(last - 1, last - 4, -1):
        browser.execute_script(press, "back")
        check(page, "run1", mailbox, step)
    assert page.at("run2") == 0
    assert not complaints(browser)


def test_a_long_run_jumps_anywhere(browser: Any, both: str, long: Animation) -> None:
    move = """
    const slider = document.querySelector("#run2 input[type=range]");
    slider.value = arguments[0];
    slider.dispatchEvent(new Event("input"));
    """
    longest = max(range(LONG), key=lambda n: max(len(q) for t in long.moves[n].state.threads for q in t.queues))
    page = Page(browser, f"{both}#run2-234")
    check(page, "run2", long, 234)
    for step in (longest, 3, 180, 179, LONG, 1):
        browser.execute_script(move, step)
        check(page, "run2", long, step)
        if step == longest:
            assert any(more for lane in page.state("run2")["lanes"] for _, more in lane), "not all operations are shown"
    assert page.at("run1") == 0
    assert not complaints(browser)


def test_keys_buttons_and_the_list_of_notes(browser: Any, both: str, mailbox: Animation) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    page = Page(browser, both)
    last = len(mailbox.moves) - 1
    page.click("h3")
    assert page.state()["note"] == "Note 0: start."
    page.press("n")
    state = page.state()
    assert page.at() == 4 and state["note"] == "Note 4: nic write." and not state["far"] and state["current"] == ["4"]
    page.press(Keys.ARROW_RIGHT)
    state = page.state()
    assert page.at() == 5 and state["far"] and state["note"] == "Note 4: nic write."
    page.press("n", "n", "p")
    assert page.at() == 8
    page.press(Keys.END)
    assert page.at() == last
    page.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.at() == last - 2
    page.press(Keys.HOME)
    assert page.at() == 0
    page.click(".stops a[data-step='8']")
    assert page.at() == 8
    page.click("[data-do='stop-after']")
    page.click("[data-do='back']")
    assert page.at() == 11
    slider = browser.find_element("css selector", "#run1 input[type=range]")
    slider.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert page.at() == 8 and slider.get_attribute("aria-valuetext") == f"step 8 of {last}"
    assert not complaints(browser)


def test_the_address_keeps_the_place(browser: Any, both: str) -> None:
    page = Page(browser, both)
    assert page.hash() == ""
    page.click("h3", "run2")
    page.press("n", "n")
    page.until(lambda: page.hash() == "#run2-100")
    browser.execute_script("location.hash = '#run1-5'")
    page.until(lambda: page.at("run1") == 5)
    assert page.at("run2") == 100
    for odd in ("#run9-1", "#run1-x", "#part2", "#%3Cimg%20src=x%3E", "#run1-9999"):
        browser.execute_script("location.hash = arguments[0]", odd)
    page.until(lambda: page.at("run1") == 13)
    assert page.at("run2") == 100
    assert not complaints(browser)


@pytest.mark.ci
def test_values_fly_and_it_plays_pauses_and_ends(browser: Any, both: str, mailbox: Animation) -> None:
    landing = next(n for n, m in enumerate(mailbox.moves) if m.action.verb is Verb.FLUSH)
    last = len(mailbox.moves) - 1
    count = "return ['.ghost', '.value.changed.used', '.operation.acting'].map((e) => document.querySelectorAll(e).length)"
    page = Page(browser, f"{both}#run1-{landing - 1}")
    assert page.at() == landing - 1
    assert browser.execute_script("document.querySelector('#run1 [data-do=forward]').click();" + count) == [1, 1, 0]
    page.until(lambda: browser.execute_script(count) == [0, 1, 0])
    speed = "for (const e of document.querySelectorAll('.speed select')) { e.value = '40'; }"
    browser.execute_script(f"{speed} document.querySelector('#run1 .play').click();")
    page.until(lambda: page.at() == last)
    assert browser.find_element("css selector", "#run1 .play").get_attribute("aria-pressed") == "false"
    page.click("h3", "run2")
    page.press(" ")
    page.until(lambda: page.at("run2") >= 3)
    page.press(" ")
    assert browser.find_element("css selector", "#run2 .play").text == "Play"
    assert page.at("run2") < LONG and page.at("run1") == last
    assert not complaints(browser)


def test_type_and_listings(browser: Any, both: str, mailbox: Animation) -> None:
    page = Page(browser, both)
    browser.find_element("id", "size").click()
    assert browser.execute_script("return getComputedStyle(document.documentElement).fontSize") == "20px"
    kept = """
    const done = arguments[arguments.length - 1], make = URL.createObjectURL;
    URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };
    HTMLAnchorElement.prototype.click = function () { this.dataset.clicked = this.download; };
    document.querySelector("[data-do=save]").click();
    """
    assert browser.execute_async_script(kept) == mailbox.program.source
    page.click("h3")
    assert not complaints(browser)


def test_hostile_texts_do_nothing(browser: Any, tmp_path: Path) -> None:
    program = load_program(f"// {BAD}\n{litmus('mailbox-polled').source}", "p.rdma")
    run = animation(replace(program, name=BAD, file=BAD), random_run(program, Random(1), 60), BAD, 1)
    walk = sample(replace(run, notes=tuple(BAD for _ in run.notes)), title=BAD, text=BAD)
    url = saved(walk, tmp_path / "<script>alert(1)<script>.html")
    page = Page(browser, url)
    page.click("h3")
    page.press("n", "n", "n")
    assert page.at() == 3 and page.state()["note"] == BAD
    assert browser.title == BAD and not browser.find_elements("css selector", "img")
    assert [r for r in requests(browser) if not r.startswith(("data:", "about:"))] == [url]
    assert not complaints(browser)


def test_scripts_of_a_drawing_do_not_run(browser: Any, tmp_path: Path, mailbox: Animation) -> None:
    text = walk_page(sample(mailbox)).replace(
        "<rect", "<script>document.title='taken'</script><rect onload=\"document.title='taken'\""
    )
    path = tmp_path / "drawing.html"
    path.write_text(text, encoding="utf-8")
    page = Page(browser, path.as_uri())
    page.click("h3")
    page.press("n")
    assert page.at() == 4 and browser.title == "A walk-through"
    assert complaints(browser), "the browser says that it has refused them"


def test_the_run_of_the_demo_ends_with_the_solution(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    walk = pcp_walk(CLASSIC, Limits())
    run = next(block for section in walk.sections for block in section.blocks if isinstance(block, Animation))
    page = Page(browser, saved(walk, tmp_path / "pcp.html"))
    page.click("h3")
    for step in (0, 100, len(run.moves) // 2):
        browser.execute_script("location.hash = arguments[0]", f"#run1-{step}")
        page.until(lambda step=step: page.at() == step)
        check(page, "run1", run, step)
    guesses = [note.split(":")[1].split(",")[0] for note in run.notes if note.startswith("Guess ")]
    assert guesses == [" 3", " 2", " 3", " 1"]
    page.press(Keys.END)
    check(page, "run1", run, len(run.moves) - 1)
    ended = dict(zip([thread.name for thread in run.program.threads], page.state()["statuses"], strict=True))
    assert ended["Checker"] == "ended"
    assert not complaints(browser)
