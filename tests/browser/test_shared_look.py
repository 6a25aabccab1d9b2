"""What all pages share, in a real browser: the switch between light and dark, and programs in colours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rdma_robust.reports.batch.html_report import write_html
from rdma_robust.reports.explanation.explanation_html import explanation_html
from rdma_robust.teaching.demos.walk_page import walk_page
from tests.browser.test_explain_page import CONTRAST
from tests.conftest import ROOT
from tests.support import batches, explained
from tests.support.browser import MISSING, chromium, complaints, show, until
from tests.support.explorer_page import serving
from tests.support.shares import share
from tests.support.walks import animation, litmus, random_run, sample

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the pages were not tried in a browser"
)
NAME = "sb-put-plain"
BACKGROUND = "return getComputedStyle(document.body).backgroundColor"
LIGHT = ("rgb(255, 255, 255)", "rgb(246, 248, 250)")
DARK = ("rgb(13, 17, 23)", "rgb(21, 27, 35)")
COLOURS = """
const code = [...document.querySelectorAll("code")].find((each) => each.textContent.includes("thread T1"));
const word = [...code.querySelectorAll("i")].find((each) => each.textContent === "thread");
return [word.className, getComputedStyle(word).color, getComputedStyle(code).color, getComputedStyle(word).fontStyle];
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The address of a page of each kind, all about one program."""
    folder = tmp_path_factory.mktemp("pages")
    program = litmus(NAME)
    texts = {
        "explanation": explanation_html(explained.litmus(NAME), "0"),
        "report": write_html(batches.litmus(NAME, page=True)),
        "demo": walk_page(sample(animation(program, random_run(program, Random(1), 9), "A run", 1))),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    with serving(ROOT / f"litmus/{NAME}.rdma") as explorer:
        yield {name: (folder / f"{name}.html").as_uri() for name in texts} | {"explorer": explorer}


@pytest.mark.parametrize("page", share(["explanation", "report", "demo", "explorer"], 4))
def test_light_and_dark_are_switched_and_kept(browser: Any, addresses: dict[str, str], page: str) -> None:
    def seen() -> tuple[str, str]:
        until(browser, "return document.querySelector('.rr-theme')?.textContent")
        return browser.find_element("css selector", ".rr-theme").text, browser.execute_script(BACKGROUND)

    complaints(browser)
    for dark in (False, True):
        system, other = (DARK, LIGHT) if dark else (LIGHT, DARK)
        show(browser, addresses[page], dark=dark)
        browser.execute_script("localStorage.clear()")
        browser.refresh()
        label, colour = seen()
        assert label == ("Light" if dark else "Dark") and colour in system
        browser.find_element("css selector", ".rr-theme").click()
        label, colour = seen()
        assert label == ("Dark" if dark else "Light") and colour in other
        browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        assert browser.execute_script(BACKGROUND) in LIGHT
        browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
        assert browser.execute_script(BACKGROUND) in other
        # Chromium hands what a page stores to the next one a little later, or much later where others keep it busy.
        for patience in (0.5, 1, 2, 4, 8, 16):
            time.sleep(patience)
            browser.refresh()
            if seen() == (label, colour):
                break
        assert seen() == (label, colour), "the choice is kept"
        ratios = browser.execute_script(CONTRAST, "h1, h2, p, .rr-theme, code, code i, .move .what, .value b, .badge")
        assert ratios and min(ratios) >= 4.5
        browser.find_element("css selector", ".rr-theme").click()
        assert seen()[1] in system
        assert browser.execute_script("return localStorage.length") == 0, "it is as the system is again"
    assert not complaints(browser)


@pytest.mark.parametrize("page", ["explanation", "report", "demo", "explorer"])
def test_programs_have_colours(browser: Any, addresses: dict[str, str], page: str) -> None:
    show(browser, addresses[page])
    until(browser, "return [...document.querySelectorAll('code')].some((each) => each.textContent.includes('thread T1'))")
    kind, colour, plain, style = browser.execute_script(COLOURS)
    assert kind == "rr-t-word" and colour != plain and style == "normal"


@pytest.mark.ci
@pytest.mark.parametrize("width", share([1400, 1100, 390]))
def test_badges_of_the_explorer_hide_no_code(browser: Any, tmp_path: Path, width: int) -> None:
    """Threads with long names that are at the same lines on both sides, with operations under way."""
    text = (ROOT / f"litmus/{NAME}.rdma").read_text()
    file = tmp_path / "long.rdma"
    file.write_text(text.replace("T1", "TheFirstOfTheThreads").replace("T2", "TheOther"))
    hidden = """
    return [...document.querySelectorAll("#code .line")].flatMap((line) => {
      const code = line.querySelector("code").getBoundingClientRect();
      const gutter = line.querySelector(".gutter").getBoundingClientRect();
      const bottom = line.getBoundingClientRect().bottom + 1;
      return [...line.querySelectorAll(".chip")].map((chip) => {
        const box = chip.getBoundingClientRect();
        const inside = box.width > 0 && box.right <= gutter.right && box.bottom <= bottom;
        return [inside && gutter.right <= code.left, chip.textContent];
      });
    });
    """
    with serving(file) as address:
        show(browser, address, width=width)
        until(browser, "return document.querySelector('#rdma .move')")
        if width < 700:
            browser.execute_script("document.querySelector('[data-show=source]').click()")
        for step in range(3):
            until(browser, f"return document.querySelector('#rdma .count').textContent.startsWith('step {step} ')")
            found = browser.execute_script(hidden)
            assert found and all(fine for fine, _ in found), found
            browser.execute_script("document.querySelector('#rdma .move').click()")
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
