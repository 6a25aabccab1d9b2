"""The pages of `rdma-robust explore` in a browser: a server to look at, and what every test does with its page."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from tests.conftest import COMMAND, ROOT
from tests.support.browser import complaints, requests, show

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


class ExplorerPage:
    """The page as its user sees it, from where it has moves in its `body` and a verdict."""

    body: ClassVar[str]

    def __init__(self, driver: Any, address: str, **how: Any) -> None:
        self.driver = driver
        requests(driver)
        complaints(driver)
        # Another fragment alone would not load the page anew.
        driver.get("about:blank")
        show(driver, address, **how)
        self.until(lambda: self.text("#verdict") != "deciding …" and self.all(f"{self.body} > *"))

    def until(self, met: Callable[[], Any]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415

        WebDriverWait(self.driver, 20, 0.03).until(lambda _: met())

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        return str(self.driver.execute_script("return document.querySelector(arguments[0])?.textContent || ''", selector))
