"""The documentation opened from the disk, in a real browser: every page, the search, the pictures, light and dark."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sitegen.patterns import PATTERNS
from sitegen.walks import SHOWN
from tests.conftest import ROOT
from tests.support.browser import MISSING, chromium, complaints, requests, show, until

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the site was not tried in a browser"
)
WIDTHS = (1280, 390)
PAGES_OF_SAMPLES = "index tutorial language explain repair safety model theory gallery reference/cli"

OVERFLOWING = """
const width = document.documentElement.clientWidth;
const scrolls = (node) => {
  for (node = node.parentElement; node && node !== document.body; node = node.parentElement) {
    const style = getComputedStyle(node);
    if (/auto|scroll/.test(style.overflowX) || style.position === "fixed") { return true; }
  }
  return false;
};
const found = [...document.querySelectorAll(".md-content *, .rr-page *")].filter((each) => {
  const box = each.getBoundingClientRect();
  const shown = box.width > 1 && box.height > 1 && getComputedStyle(each).visibility !== "hidden";
  return shown && (box.right > width + 1 || (box.left < -1 && box.right > 0)) && !scrolls(each);
});
const wide = document.documentElement.scrollWidth > window.innerWidth ? ["the page"] : [];
return [...wide, ...found.map((each) => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`)];
"""
"""What is cut off at the side of the window, or makes the whole page scroll."""

CUT = r"""
const boxes = [...document.querySelectorAll(".md-content pre > code, .md-content .md-typeset__scrollwrap")];
return boxes.filter((each) => each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.textContent.split("\n").reduce((a, b) => (b.length > a.length ? b : a)));
"""
"""The longest line of each box that has to be scrolled to be read."""


def build(folder: Path) -> Path:
    """Build the site as `make docs` does, but for programs that the gallery shows no run of."""
    (command,) = re.findall(r"-m (mkdocs build .*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "SITE_FEW_PROGRAMS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--site-dir", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all processes that run the tests."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = base / "site.done"
        if not done.exists():
            build(base / "site")
            done.touch()
    return base / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


def resized(browser: Any, width: int) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def look(browser: Any, page: Path) -> None:
    """Hold a page against what every page has to be."""
    complaints(browser)
    requests(browser)
    show(browser, page.as_uri(), width=WIDTHS[0])
    for width in WIDTHS:
        resized(browser, width)
        assert not browser.execute_script(OVERFLOWING), (page, width)
    assert not complaints(browser), page
    assert all(each.startswith(("file:", "data:", "about:", "blob:")) for each in requests(browser)), page


def pages(site: Path) -> tuple[list[Path], list[Path]]:
    """Return the pages of the menu, the programs that the gallery shows and the walk-throughs; and all others."""
    shown = {f"{shelf.first}.rdma.html" for shelf in PATTERNS}
    found = sorted({*site.rglob("*.html")} - {*(site / "playground").rglob("*.html")})  # its workers need http
    first = [each for each in found if "source" not in each.relative_to(site).parts or each.name in shown]
    return first, [each for each in found if each not in first]


@pytest.mark.long
def test_every_page_opened_from_the_disk(browser: Any, site: Path) -> None:
    first, others = pages(site)
    assert len(first) > 45 and len(others) > 300
    for page in (*first, *others[:: len(others) // 8]):
        look(browser, page)


@pytest.mark.long
def test_every_page_of_a_source(browser: Any, site: Path) -> None:
    for page in pages(site)[1]:
        look(browser, page)


@pytest.mark.ci
def test_the_search_works_from_the_disk(browser: Any, site: Path) -> None:
    show(browser, (site / "index.html").as_uri(), width=1280)
    complaints(browser)
    browser.find_element("css selector", ".md-search__input").click()
    browser.find_element("css selector", ".md-search__input").send_keys("undecidability")
    until(browser, "return document.querySelectorAll('.md-search-result__item').length > 1")
    found = browser.execute_script("return [...document.querySelectorAll('.md-search-result__item a')].map((e) => e.href)")
    assert any("/undecidability.html" in each for each in found)
    assert not complaints(browser)


@pytest.mark.ci
def test_samples_and_tables_fit_a_window_of_1280_pixels(browser: Any, site: Path) -> None:
    """All but what is longer than the 110 characters that the command line prints."""
    for name in [
        "index",
        "tutorial",
        "language",
        "explain",
        "repair",
        "safety",
        "model",
        "theory",
        "gallery",
        "reference/cli",
    ]:
        show(browser, (site / f"{name}.html").as_uri(), width=1280)
        cut = [each for each in browser.execute_script(CUT) if len(each) <= 110]
        assert not cut, (name, cut)


@pytest.mark.ci
def test_the_gallery_shows_runs_repairs_and_how_to_explore(browser: Any, site: Path) -> None:
    show(browser, (site / "gallery.html").as_uri(), width=1280)
    script = """
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      patterns: all(".md-content h2").map((each) => each.firstChild.textContent),
      pictures: all(".rr-picture svg").map((each) => each.querySelectorAll(".rr-step").length),
      repairs: all(".highlight").filter((each) => each.querySelector(".gi")).length,
      commands: all(".highlight").map((each) => each.textContent),
      links: all(".md-content h3 a:not(.headerlink)").map((each) => each.href),
      images: all(".md-content img").filter((each) => each.naturalWidth > 0).length,
    };
    """
    found = browser.execute_script(script)
    assert found["patterns"] == [shelf.title for shelf in PATTERNS]
    assert len(found["pictures"]) == len(PATTERNS) and min(found["pictures"]) >= 3
    assert found["repairs"] >= len(PATTERNS) - 2
    assert all(any(f"explore litmus/{shelf.first}.rdma" in each for each in found["commands"]) for shelf in PATTERNS)
    assert all(Path(each.removeprefix("file://")).is_file() for each in found["links"]) and len(found["links"]) == len(
        PATTERNS
    )
    assert found["images"] >= 2


@pytest.mark.ci
def test_walk_throughs_play_within_their_page(browser: Any, site: Path) -> None:
    show(browser, (site / "demos.html").as_uri(), width=1280)
    frames = browser.find_elements("css selector", "iframe.rr-walk")
    assert len(frames) == len(SHOWN)
    browser.execute_script("arguments[0].scrollIntoView()", frames[0])
    browser.switch_to.frame(frames[0])
    until(browser, "return document.querySelector('[data-do=forward]')")
    browser.execute_script("document.querySelector('[data-do=forward]').click()")
    assert browser.execute_script("return document.querySelector('.count b').textContent") == "1"
    browser.switch_to.default_content()


@pytest.mark.ci
def test_drawings_are_light_or_dark_as_the_page_is(browser: Any, site: Path) -> None:
    colour = "return getComputedStyle(document.querySelector('.rr-picture svg text')).fill"
    show(browser, (site / "gallery.html").as_uri(), width=1280)
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    before = browser.execute_script(colour)
    schemes = []
    for _ in range(3):
        browser.execute_script("document.querySelector('form.md-header__option label:not([hidden])').click()")
        scheme = browser.execute_script("return document.body.getAttribute('data-md-color-scheme')")
        schemes.append((scheme, browser.execute_script(colour) == before))
    assert ("slate", False) in schemes and ("default", True) in schemes
