"""The page of `rdma-robust explore` for message programs in a real browser: matches by hand, the chart, found runs."""

from __future__ import annotations

from collections.abc import Iterator
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
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a known program whose name and last line are out to do harm."""
    file = tmp_path_factory.mktemp("explore") / f"{BAD}.mp"
    file.write_text((ROOT / "litmus/messages/paper/figure-1.mp").read_text() + f"// </pre>{BAD}\n")
    with serving(file) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


class Walk(ExplorerPage):
    """The page as its user sees it."""

    body = "#run .body"

    def arrows(self) -> list[str]:
        return [each.get_attribute("textContent") for each in self.all("#drawing .rr-message > title")]


@pytest.mark.ci
def test_by_hand_to_the_run_of_the_paper(browser: Any, address: str) -> None:
    page = Walk(browser, address)
    assert page.text("#verdict") == "goes wrong" and page.text("#verdict-text") == "violated under infinite, any"
    page.click("#local")
    assert [each.text for each in page.all("#code .chip.sc")] == ["T0", "T1", "T2"] and not page.arrows()
    page.click(".move.by-grant")
    browser.find_element("css selector", "#auto").click()
    page.until(lambda: page.all(".queue[data-endpoint=T1] .operation.send"))
    page.click(".move", "takes 9 from T2 (line 23)")
    page.click(".move", "takes 1 from T1 (line 18)")
    page.click(".move", "takes 4 from T2 (line 22)")
    assert page.all("[data-ending=complete]") and "assert a == 4" in page.text("[data-violations='1']")
    assert len(page.arrows()) == 3 and "T0 takes 1 from T1 (line 18)" in page.arrows()
    red = "return getComputedStyle(document.querySelector('#drawing .rr-cycle circle')).fill"
    assert browser.execute_script(red) == "rgb(207, 34, 46)", "the styles of the drawing are set"
    shared = browser.current_url
    page.click("[data-key=back]")
    assert [each.text.splitlines()[1] for each in page.all(".move.by-match")] == ["takes 4 from T2 (line 22)"]
    page = Walk(browser, shared)
    assert page.all("[data-ending=complete]") and len(page.arrows()) == 3
    assert not page.all("#code img, #file img, #drawing img") and browser.title.startswith("<img")
    origin = address.rsplit("/", 2)[0]
    assert all(each.startswith(origin) for each in requests(browser) if not each.startswith("about:"))
    assert not complaints(browser)


@pytest.mark.parametrize(("width", "dark"), [(1280, True), (390, False)])
@pytest.mark.ci
def test_the_run_that_was_found(browser: Any, address: str, width: int, dark: bool) -> None:
    page = Walk(browser, address, width=width, dark=dark)
    page.click("[data-run=violation]")
    assert page.text("#run .count").startswith("step 0 of ") and not page.all("[data-violations]")
    page.click("[data-key=last]")
    assert page.all("[data-violations='1']")
    for pane in ("source", "run", "chart"):
        if width < 700:
            browser.find_element("css selector", f"[data-show={pane}]").click()
            assert [each.get_attribute("id") for each in page.all(".pane") if each.is_displayed()] == [pane]
        assert browser.execute_script(WIDE), "the page is wider than the window"
        parts = ("p", "code", "h2", "h3", "h4", "small", "b", "i", ".chip", ".where", ".what", ".tag")
        ratios = browser.execute_script(CONTRAST, ", ".join([".badge", *(f"#{pane} {part}" for part in parts)]))
        assert ratios and min(ratios) >= 4.5
    assert not complaints(browser)


@pytest.mark.ci
def test_a_state_that_is_none_is_told(browser: Any, address: str) -> None:
    page = Walk(browser, f"{address}#nonsense")
    assert "cannot be opened" in page.text("#message-text") and page.text("#run .count") == "step 0 of 0"
    assert all("400" in each for each in complaints(browser))
