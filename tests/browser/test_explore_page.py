"""The page of `rdma-robust explore` in a real browser: by clicks, by keys, by shared addresses, on a phone, in the dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_explain_page import CONTRAST, WIDE
from tests.conftest import ROOT
from tests.support.browser import MISSING, chromium, complaints, requests
from tests.support.explorer_page import BAD, ExplorerPage, serving

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the explorer was not tried in a browser"
)


@pytest.fixture(scope="module")
def mailbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a known program whose name and last line are out to do harm."""
    file = tmp_path_factory.mktemp("explore") / f"{BAD}.rdma"
    file.write_text((ROOT / "litmus/mailbox-plain.rdma").read_text() + f"// </pre>{BAD}\n")
    with serving(file) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


class Page(ExplorerPage):
    """The explorer as its user sees it."""

    body = "#rdma .body"

    def at(self, side: str = "rdma") -> str:
        return self.text(f"#{side} .count")

    def press(self, *keys: str) -> None:
        for key in keys:
            before = self.text("body")
            self.driver.switch_to.active_element.send_keys(key)
            self.until(lambda before=before: self.text("body") != before)

    def value(self, side: str, name: str) -> str:
        return self.text(f"#{side} .value[data-name='{name}'] b")


TO_THE_WEAK_OUTCOME = (
    ("Sender CPU", "writes v = 1"),
    ("Sender CPU", "posts put B.d = v"),
    ("Sender CPU", "writes v = 2"),
    ("Sender CPU", "posts put B.f = v"),
    ("Sender NIC to B", "#1 reads v = 2"),
    ("Sender NIC to B", "#1 sends B.d = 2"),
    ("Sender NIC to B", "#2 reads v = 2"),
    ("Sender NIC to B", "#2 sends B.f = 2"),
    ("Sender NIC to B", "#1 writes B.d = 2 in memory"),
    ("Sender NIC to B", "#2 writes B.f = 2 in memory"),
    ("Receiver CPU", "reads f = 2"),
    ("Receiver CPU", "reads d = 2"),
)


def test_clicking_to_the_weak_outcome(browser: Any, mailbox: str) -> None:
    page = Page(browser, mailbox)
    assert page.text("#verdict") == "not robust"
    for agent, label in TO_THE_WEAK_OUTCOME:
        groups = [g for g in page.all("#rdma .agent") if g.find_element("css selector", "h4").text == agent]
        assert len(groups) == 1, (agent, label)
        before = page.at()
        next(m for m in groups[0].find_elements("css selector", ".move") if label in m.text).click()
        page.until(lambda before=before: page.at() != before)
        broken = page.all("#sc [data-broken]")
        assert bool(broken) == (int(page.at().split()[1]) >= 3)
    assert page.all("#rdma [data-ending=final]")
    assert "No run under sequential consistency ends with these values" in page.text("#rdma .banner.warn")
    assert "holds" in page.text("#rdma .claim") and "forbidden under sc" in page.text("#rdma .claim")
    assert page.value("rdma", "r") == "2" and page.value("sc", "v") == "1"
    assert "line 9" in page.text("#sc .reasons") and "line 10" in page.text("#sc .reasons")
    origin = mailbox.rsplit("/", 2)[0]
    assert all(each.startswith(origin) for each in requests(browser) if not each.startswith("about:"))
    assert not complaints(browser)


def test_the_address_is_the_state(browser: Any, mailbox: str) -> None:
    page = Page(browser, mailbox)
    page.press("1", "1", "1")
    shared = browser.current_url
    assert "#p=" in shared and page.at() == "step 3 of 3"
    browser.back()
    page.until(lambda: page.at() == "step 2 of 2")
    browser.forward()
    page.until(lambda: page.at() == "step 3 of 3")
    page = Page(browser, shared)
    assert page.at() == "step 3 of 3" and page.all("#sc [data-broken='3']")
    assert not complaints(browser)


@pytest.mark.parametrize("state", ["nonsense", "p=00000000&mode=follow&rdma=0&at=1", "%3Cimg%20src=x%20onerror=alert(1)%3E"])
def test_a_state_that_is_none_is_told(browser: Any, mailbox: str, state: str) -> None:
    page = Page(browser, f"{mailbox}#{state}")
    assert "cannot be opened" in page.text("#message-text") and page.at() == "step 0 of 0"
    assert "#" not in browser.current_url and not page.all("#message img")
    page.click("#dismiss")
    # The refused request is the one thing that the console notes.
    assert all("400" in each for each in complaints(browser))


def test_the_witness_step_by_step_and_back(browser: Any, mailbox: str) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    page = Page(browser, mailbox)
    page.click("#witness")
    assert page.at() == "step 0 of 6" and len(page.all("#rdma .log li")) == 6
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.at() == "step 3 of 6" and page.all("#rdma .step.breaks[data-step='3']")
    assert [line.get_attribute("data-line") for line in page.all("#code .cycle")] == ["9", "10"]
    page.press(Keys.ARROW_LEFT)
    assert not page.all("[data-broken]") and page.at("sc") == "1 step"
    page.press(Keys.END)
    assert page.at() == "step 6 of 6"
    page.click("#rdma .log [data-step='1'] button")
    assert page.at() == "step 1 of 6"
    page.press("n")
    assert page.at() == "step 0 of 0" and not complaints(browser)


def test_each_side_on_its_own(browser: Any, mailbox: str) -> None:
    page = Page(browser, mailbox)
    page.press("1", "m")
    assert page.at("sc") == "step 1 of 1"
    page.click("#sc .move", "reads v = 1")
    page.click("#sc .move", "writes B.d = 1")
    assert page.value("sc", "d") == "1" and page.value("rdma", "d") == "0" and page.at() == "step 1 of 1"
    assert page.driver.execute_script("return document.activeElement.closest('#sc') !== null"), (
        "the focus stays on this side"
    )
    page.press("m")
    assert page.at("sc") == "1 step" and not complaints(browser)


def test_by_keys_alone(browser: Any, mailbox: str) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    page = Page(browser, mailbox)
    active = "return [document.activeElement.id, document.activeElement.className, document.activeElement.dataset.key || '']"
    browser.find_element("css selector", "body").send_keys(Keys.TAB)
    assert browser.execute_script(active)[0] == "skip"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.execute_script(active)[2] == "move0"
    page.press(Keys.ENTER)
    assert browser.execute_script(active)[2] == "move0" and page.at() == "step 1 of 1"
    assert "RDMA step 1 of 1" in page.text("#live") and "writes v = 1" in page.text("#live")
    browser.switch_to.active_element.send_keys("?")
    assert page.all("dialog[open]")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert not page.all("dialog[open]") and not complaints(browser)


@pytest.mark.parametrize(("width", "dark"), [(1300, False), (900, True), (390, True)])
@pytest.mark.ci
def test_it_fits_and_can_be_read(browser: Any, mailbox: str, width: int, dark: bool) -> None:
    page = Page(browser, mailbox, width=width, dark=dark)
    page.press("1", "1", "1")
    assert page.all("[data-broken]")
    for pane in ("source", "rdma", "sc"):
        if width < 700:
            browser.find_element("css selector", f"[data-show={pane}]").click()
            assert [each.get_attribute("id") for each in page.all(".pane") if each.is_displayed()] == [pane]
        assert browser.execute_script(WIDE), "the page is wider than the window"
        parts = ("p", "code", "h2", "h3", "h4", "small", "b", "i", ".chip", ".where", ".what", ".op", ".tag")
        shown = ", ".join([".badge", *(f"#{pane} {part}" for part in parts)])
        ratios = browser.execute_script(CONTRAST, shown)
        assert len(ratios) > 10 and min(ratios) >= 4.5
    assert not complaints(browser)


def test_hostile_texts_do_nothing(browser: Any, mailbox: str) -> None:
    page = Page(browser, mailbox)
    assert BAD in page.text("#code") and BAD in page.text("#file") and browser.title.startswith("<img")
    assert not page.all("#code img, #file img, h1 img") and not complaints(browser)


@pytest.mark.ci
def test_a_watched_file_that_changes_is_shown(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.rdma"
    text = (ROOT / "litmus/mailbox-plain.rdma").read_text()
    file.write_text(text)
    with serving(file, "--watch") as address:
        page = Page(browser, address)
        assert page.text("#verdict") == "not robust"
        page.click("#rdma .move")
        page.until(lambda: page.at() == "step 1 of 1")
        file.write_text(text.replace("put B.d = v", "putt B.d = v"))
        page.until(lambda: "mine.rdma:9" in page.text("#message-text"))
        assert page.at() == "step 1 of 1"
        file.write_text(text.replace("put B.d = v", "put B.d = v; poll B"))
        page.until(lambda: page.text("#verdict") == "robust")
        assert "poll B" in page.text("#code") and page.at() == "step 0 of 0"
        assert not page.all("#message:not([hidden])")
