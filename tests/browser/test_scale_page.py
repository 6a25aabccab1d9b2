"""The page of `rdma-robust scale` in a real browser: nothing from the network, no errors, for phones, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_explain_page import CONTRAST, WIDE
from tests.conftest import Cli
from tests.support.browser import MISSING, chromium, complaints, requests, show
from tests.support.rounds import ROUNDS

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"{' and '.join(MISSING)} is not installed: the pages were not tried in a browser"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


@pytest.mark.ci
def test_the_page_stands_alone(browser: Any, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "rounds.rdma").write_text(ROUNDS)
    assert cli("scale", "-D", "ROUNDS=0..8", "-o", "page.html", "rounds.rdma").returncode == 1
    url = (tmp_path / "page.html").as_uri()
    requests(browser)
    for width, dark in ((1200, False), (390, True)):
        show(browser, url, width=width, dark=dark)
        assert not complaints(browser)
        assert [r for r in requests(browser) if not r.startswith("data:")] == [url]
        assert browser.execute_script(WIDE), "the page is wider than the window"
        ratios = browser.execute_script(CONTRAST, "p, td, th, dt, dd, h1, h2, span, svg text")
        assert len(ratios) > 20 and min(ratios) >= 4.5
        rows = browser.find_elements("css selector", "tbody tr")
        assert [row.find_element("css selector", "th").text for row in rows] == [str(value) for value in range(9)]
        assert len(browser.find_elements("css selector", "#states .rr-mark")) == 9
        assert len(browser.find_elements("css selector", "svg[role=img] > title")) == 2
        shapes = "return Array.from(document.querySelectorAll('.rr-mark')).every(m => m.getBoundingClientRect().width > 4)"
        assert browser.execute_script(shapes)
    lead = browser.find_element("css selector", ".lead").text
    assert lead == "Robust up to ROUNDS = 0, not robust from ROUNDS = 1."
