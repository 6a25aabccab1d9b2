"""The pages of `rdma-robust explore` in a browser: a server to look at, and what every test does with its page."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from tests.conftest import COMMAND, ROOT
from tests.support.browser import BrowserPage, steady

BAD = "<img src=x onerror=document.title='taken'>"
"""A name of a file that is out to do harm."""


@contextmanager
def serving(file: str | Path, *options: str) -> Iterator[str]:
    """Yield the address of the page of a program."""
    process = subprocess.Popen(
        [COMMAND, "explore", str(file), "--no-browser", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("Exploring at ").strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


class ExplorerPage(BrowserPage):
    """The page as its user sees it, from where it has moves in its `body` and a verdict."""

    body: ClassVar[str]

    def __init__(self, driver: Any, address: str, **how: Any) -> None:
        super().__init__(driver, address, **how)
        self.until(lambda: self.text("#verdict") != "deciding …" and self.all(f"{self.body} > *"))

    def text(self, selector: str) -> str:
        return str(self.driver.execute_script("return document.querySelector(arguments[0])?.textContent || ''", selector))

    def click(self, selector: str, label: str = "") -> None:
        """Click the first such element that has this text, and wait until the page has changed."""
        before = self.text("body")
        steady(lambda: next(each for each in self.all(selector) if label in each.text).click())
        self.until(lambda: self.text("body") != before)
