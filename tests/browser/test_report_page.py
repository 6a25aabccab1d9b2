"""The page of `rdma-robust report` in a real browser: the table, what is behind its rows, phones, dark mode, keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust.reports.batch.batch_view import BatchReport, Page
from rdma_robust.reports.batch.html_report import write_html
from tests.browser.test_explain_page import CONTRAST, WIDE
from tests.conftest import ROBUST
from tests.support.batches import HOSTILE_NAMES, entry, hostile, litmus, report_of
from tests.support.browser import MISSING, chromium, complaints, requests, show

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the pages were not tried in a browser"
)
NAMES = ("mailbox-plain", "mailbox-polled", "sb-put-plain", "spin-cancel-spin", "ring-two-slots-plain")
SHOWN = "return Array.from(document.querySelectorAll('tr.row')).filter(r => !r.hidden).map(r => r.dataset.file)"
OPENED = """
const done = arguments[arguments.length - 1];
const wait = () => document.querySelector('tr.detail .page') ? done(true) : setTimeout(wait, 20);
wait();
"""
BAD = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def saved(report: BatchReport, folder: Path) -> str:
    path = folder / "report.html"
    path.write_text(write_html(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> str:
    report = litmus(*NAMES, page=True)
    bad = entry("bad-syntax.rdma", "node A { x }\nthread T on A { y = 1 }\n")
    repaired = report.entries[0]
    assert repaired.page is not None
    page = replace(repaired.page, repair="@@ -1 +1 @@\n-old\n+poll B\n", repair_note="Insert `poll B`.")
    entries = [replace(repaired, page=page), *report.entries[1:], bad]
    return saved(report_of(entries), tmp_path_factory.mktemp("suite"))


def files(browser: Any) -> list[str]:
    found: list[str] = browser.execute_script(SHOWN)
    return [Path(name).stem for name in found]


def opened(browser: Any, name: str) -> None:
    browser.find_element("css selector", f"tr.row[data-file*='{name}'] .open").click()
    browser.execute_async_script(OPENED)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_stands_alone_and_fits(browser: Any, suite: str, width: int, dark: bool) -> None:
    requests(browser)
    show(browser, suite, width=width, dark=dark)
    assert len(files(browser)) == len(NAMES) + 1
    opened(browser, "mailbox-plain")
    assert browser.execute_script(WIDE), "the page is wider than the window"
    ratios = browser.execute_script(
        CONTRAST, "p, td, th, dt, dd, h1, h2, h3, code, button, .badge, .number, .rr-badge, .diff span, svg text"
    )
    assert len(ratios) > 60
    assert min(ratios) >= 4.5
    assert not complaints(browser)
    assert [r for r in requests(browser) if not r.startswith("data:")] == [suite]
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(13, 17, 23)") is dark


def test_behind_a_row_are_source_timeline_graph_and_repair(browser: Any, suite: str) -> None:
    show(browser, suite)
    opened(browser, "mailbox-plain")
    page = browser.find_element("css selector", "tr.detail .page")
    assert "not robust" in page.find_element("css selector", ".lead").text
    marked = [e.get_attribute("data-line") for e in page.find_elements("css selector", ".rr-line-cycle")]
    assert marked == ["9", "10"]
    sizes = browser.execute_script(
        "return Array.from(document.querySelectorAll('tr.detail svg')).map(s => s.getBoundingClientRect().height)"
    )
    assert len(sizes) == 2
    assert min(sizes) > 100
    assert "reads v = 2" in page.find_element("css selector", ".graph svg").text
    assert page.find_element("css selector", ".diff .added").text == "+poll B"
    browser.find_element("css selector", "tr.row[data-file*='mailbox-plain'] .open").click()
    assert not browser.find_elements("css selector", "tr.detail")
    opened(browser, "bad-syntax")
    assert "unknown name" in browser.find_element("css selector", "tr.detail .diagnostic.error").text


def test_verdicts_families_and_words_filter(browser: Any, suite: str) -> None:
    show(browser, suite)
    browser.find_element("css selector", "[data-filter='not-robust']").click()
    assert files(browser) == ["mailbox-plain", "sb-put-plain", "spin-cancel-spin", "ring-two-slots-plain"]
    assert browser.find_element("id", "status").text == "4 of 6 programs"
    pressed = browser.find_elements("css selector", ".filter[aria-pressed=true]")
    assert [button.get_attribute("data-filter") for button in pressed] == ["not-robust"]
    browser.find_element("id", "search").send_keys("PLAIN ring")
    assert files(browser) == ["ring-two-slots-plain"]
    browser.find_element("css selector", "[data-filter='robust']").click()
    assert files(browser) == []
    browser.find_element("id", "reset").click()
    assert len(files(browser)) == 6
    browser.find_element("css selector", "#family option[value=mailbox]").click()
    assert files(browser) == ["mailbox-plain", "mailbox-polled"]
    browser.find_element("css selector", ".families summary").click()
    browser.find_element("css selector", "[data-only=ring]").click()
    assert files(browser) == ["ring-two-slots-plain"]


def test_claims_are_behind_a_row_and_filtered(browser: Any, tmp_path: Path) -> None:
    violated = "node A { x }\nthread T on A { reg r\n r = x\n assert r == 1 }\n"
    hangs = "node A { x }\nthread T on A {\n await x == 1\n}\n"
    texts = {"bad-claim.rdma": violated, "hanging.rdma": hangs, "calm.rdma": ROBUST}
    report = report_of([entry(name, text, page=True, claims=10) for name, text in texts.items()])
    address = saved(report, tmp_path)
    for width in (1200, 390):
        show(browser, address, width=width)
        browser.find_element("css selector", "[data-filter='violated']").click()
        assert files(browser) == ["bad-claim", "hanging"]
        opened(browser, "bad-claim")
        claims = browser.find_element("css selector", "tr.detail .claims")
        assert "assert r == 1" in claims.text
        assert claims.find_element("css selector", ".badge.not-robust").text == "violated"
        claims.find_element("css selector", "summary").click()
        assert "line 3" in claims.find_element("css selector", "ol").text
        browser.find_element("css selector", "tr.row[data-file*='bad-claim'] .open").click()
        opened(browser, "hanging")
        assert "T waits at line 3 for x == 1" in browser.find_element("css selector", "tr.detail .claims").text
        assert browser.execute_script(WIDE), "the page is wider than the window"
        assert min(browser.execute_script(CONTRAST, ".claims td, .claims th, .claims code, .claims .badge")) >= 4.5
    assert not complaints(browser)


def test_columns_sort_and_details_follow_their_rows(browser: Any, suite: str) -> None:
    show(browser, suite)
    opened(browser, "mailbox-plain")
    browser.find_element("css selector", "[data-sort=states]").click()
    states = [int(r.get_attribute("data-states")) for r in browser.find_elements("css selector", "tr.row")]
    assert states == sorted(states, reverse=True)
    heading = browser.find_element("css selector", "thead [aria-sort]")
    assert (heading.text, heading.get_attribute("aria-sort")) == ("States", "descending")
    before = browser.execute_script("return document.querySelector('tr.detail').previousElementSibling.dataset.file")
    assert before == "litmus/mailbox-plain.rdma"
    browser.find_element("css selector", "[data-sort=file]").click()
    assert files(browser) == sorted(["bad-syntax", *NAMES])
    browser.find_element("css selector", "[data-sort=file]").click()
    assert files(browser) == sorted(["bad-syntax", *NAMES], reverse=True)
    browser.find_element("css selector", "[data-sort=verdict]").click()
    assert files(browser)[0] == "bad-syntax"
    assert files(browser)[-1] == "mailbox-polled"


def test_keys_are_enough(browser: Any, suite: str) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    def press(*keys: str) -> Any:
        for each in keys:
            browser.switch_to.active_element.send_keys(each)
        return browser.switch_to.active_element

    show(browser, suite)
    assert press(Keys.TAB).get_attribute("href").endswith("#programs")
    assert press(Keys.TAB).text == "Dark"
    assert press(Keys.TAB).get_attribute("data-filter") == "all"
    outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    press(Keys.TAB, Keys.SPACE)
    assert files(browser) == ["mailbox-polled"]
    press(Keys.SHIFT + Keys.TAB, Keys.ENTER, "/")
    assert browser.switch_to.active_element.get_attribute("id") == "search"
    assert press(Keys.ARROW_DOWN).text == "litmus/mailbox-plain.rdma"
    assert press(Keys.ARROW_DOWN, Keys.ARROW_DOWN).text == "litmus/sb-put-plain.rdma"
    row = press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert row.get_attribute("aria-expanded") == "false"
    press(Keys.ENTER)
    browser.execute_async_script(OPENED)
    assert row.get_attribute("aria-expanded") == "true"
    assert browser.find_element("id", row.get_attribute("aria-controls")).is_displayed()
    inside = press(Keys.TAB)
    assert inside.get_attribute("aria-label") == "source"
    assert press(Keys.ESCAPE).text == "litmus/mailbox-plain.rdma"
    assert row.get_attribute("aria-expanded") == "false"
    assert not complaints(browser)


def test_an_address_leads_to_a_program(browser: Any, suite: str) -> None:
    show(browser, "about:blank")
    show(browser, f"{suite}#litmus%2Fsb-put-plain.rdma")
    browser.execute_async_script(OPENED)
    assert browser.find_element("css selector", "tr.opened").get_attribute("data-file") == "litmus/sb-put-plain.rdma"
    show(browser, "about:blank")
    show(browser, f"{suite}#%E0%A4%A")
    assert len(files(browser)) == 6
    assert not complaints(browser)


def test_hostile_names_and_texts_do_nothing(browser: Any, tmp_path: Path) -> None:
    report = hostile(page=True)
    text = f"// {BAD}\n{report.entries[1].text}"
    bad = entry(f"{BAD}.rdma", text, page=True)
    plain = Page(headline=BAD, text=(BAD,), repair=f"+{BAD}", repair_note=BAD, problem=BAD)
    url = saved(report_of([*report.entries, bad, replace(bad, page=plain)]), tmp_path)
    requests(browser)
    show(browser, url)
    count = len(HOSTILE_NAMES) + 4
    assert len(files(browser)) == count
    browser.execute_script("document.querySelectorAll('tr.row .open').forEach(each => each.click())")
    wait = f"""
    const done = arguments[arguments.length - 1];
    const wait = () => document.querySelectorAll('tr.detail .page').length === {count} ? done(1) : setTimeout(wait, 20);
    wait();"""
    browser.execute_async_script(wait)
    assert "taken" not in browser.title
    assert browser.execute_script("return document.querySelectorAll('img, iframe, object, tr script').length") == 0
    assert browser.execute_script(WIDE)
    assert not complaints(browser)
    assert [r for r in requests(browser) if not r.startswith("data:")] == [url]
    assert BAD in browser.find_elements("css selector", "tr.detail .lead")[-1].text
