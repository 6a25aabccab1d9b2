"""The page of `rdma-robust explain` in a real browser: nothing from the network, no errors, for phones and for keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust.reports.explanation.explanation_html import explanation_html
from tests.support.browser import MISSING, chromium, complaints, requests, show
from tests.support.explained import explained, litmus

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the pages were not tried in a browser"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def page(folder: Path, name: str) -> str:
    path = folder / f"{name}.html"
    path.write_text(explanation_html(litmus(name), "0"), encoding="utf-8")
    return path.as_uri()


WIDE = "return document.documentElement.scrollWidth <= window.innerWidth"
CONTRAST = """
function light(colour) {
  var parts = colour.match(/[0-9.]+/g).slice(0, 3).map(function (v) {
    v = v / 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function behind(node) {
  for (; node; node = node.parentElement) {
    var colour = getComputedStyle(node).backgroundColor;
    if (!/, 0\\)$/.test(colour) && colour !== "transparent") { return colour; }
  }
  return "rgb(255, 255, 255)";
}
return Array.from(document.querySelectorAll(arguments[0])).map(function (node) {
  var style = getComputedStyle(node);
  var ink = node.ownerSVGElement ? style.fill : style.color;
  var a = light(ink), b = light(behind(node));
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
});
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("name", ["sb-put-polled", "mailbox-polled"])
def test_the_page_stands_alone(browser: Any, tmp_path: Path, name: str, width: int, dark: bool) -> None:
    url = page(tmp_path, name)
    requests(browser)
    show(browser, url, width=width, dark=dark)
    assert not complaints(browser)
    assert [r for r in requests(browser) if not r.startswith("data:")] == [url]
    assert browser.execute_script(WIDE), "the page is wider than the window"
    ratios = browser.execute_script(CONTRAST, "p, td, th, dt, dd, h1, h2, code, .rr-badge, label, svg text")
    assert len(ratios) > 20 and min(ratios) >= 4.5
    drawings = browser.execute_script(
        "return Array.from(document.querySelectorAll('svg')).map(function (s) { return s.getBoundingClientRect().height; })"
    )
    assert len(drawings) == (2 if name == "sb-put-polled" else 0) and all(height > 100 for height in drawings)


def test_relations_are_switched_by_keys(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    show(browser, page(tmp_path, "sb-put-polled"))
    shown = "return document.querySelectorAll('.rr-relation:not(.rr-off)').length"
    before = browser.execute_script(shown)
    box = browser.find_element("css selector", "input[data-relation=rf]")
    box.send_keys(Keys.SPACE)
    rf = browser.execute_script("return document.querySelectorAll('.rr-is-rf').length")
    assert rf > 0 and browser.execute_script(shown) == before - rf
    box.send_keys(Keys.SPACE)
    assert browser.execute_script(shown) == before
    assert not complaints(browser)


def test_the_first_tab_skips_to_the_explanation_and_steps_can_be_reached(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

    show(browser, page(tmp_path, "sb-put-polled"))
    browser.find_element("css selector", "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.get_attribute("href").endswith("#main")
    met = set()
    for _ in range(20):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        active = browser.switch_to.active_element
        met |= {active.get_attribute("data-line"), active.get_attribute("data-relation"), active.get_attribute("aria-label")}
    assert met >= {"9", "10", "11", "16", "17", "18", "po", "source", "timeline"}


def test_a_step_lights_up_its_line(browser: Any, tmp_path: Path) -> None:
    show(browser, page(tmp_path, "sb-put-polled"))
    browser.execute_script("document.querySelector('svg [data-line=\"16\"]').focus()")
    lit = "return Array.from(document.querySelectorAll('.rr-source .rr-lit')).map(function (e) { return e.dataset.line; })"
    assert browser.execute_script(lit) == ["16"]
    browser.execute_script("document.activeElement.blur()")
    assert browser.execute_script(lit) == []


def test_hostile_texts_do_nothing(browser: Any, tmp_path: Path) -> None:
    bad = "</title><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">'\"&"
    e = explained(f"// {bad}\n" + litmus("sb-put-polled").source, name=f"{bad}.rdma", final_state_limit=0)
    e = replace(e, program=bad, headline=bad, reason=bad, paragraphs=(bad,))
    path = tmp_path / "bad.html"
    path.write_text(explanation_html(e, bad), encoding="utf-8")
    requests(browser)
    show(browser, path.as_uri())
    assert not complaints(browser)
    assert [r for r in requests(browser) if not r.startswith("data:")] == [path.as_uri()]
    assert browser.title.startswith("</title>") and browser.title != "taken"
    assert bad in browser.find_element("css selector", ".lead").text
