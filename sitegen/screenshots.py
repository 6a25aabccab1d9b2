"""`make pictures`: takes the pictures of the explorer and of a report anew, light and dark, with a headless Chromium.

They are kept in docs/pictures, so that the site can be built where there is no browser.
"""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from PIL import Image

from tests.support.browser import MISSING, chromium, show

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "docs/pictures"
COMMAND: Final = (sys.executable, "-m", "rdma_robust")
REPORTED: Final = "mailbox-fenced mailbox-plain mailbox-polled mcs-handoff-plain ring-two-slots-polled rpc-herd"
WIDTH: Final = 1360
STEPS: Final = 5
MOST_STEPS: Final = 40
RACE: Final = (
    "return [...document.querySelectorAll('.agent')].some((each) => each.querySelectorAll('.by-match').length === 2)"
)
COLOURS: Final = 128


def main() -> None:
    """Write the pictures. Exits with 2 where there is no browser."""
    if MISSING:
        sys.exit(f"error: {' and '.join(MISSING)} is needed to take pictures; the site uses those that are there")
    PICTURES.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as folder,
        exploring("mailbox-plain.rdma") as explorer,
        exploring("messages/paper/figure-1.mp") as messages,
        chromium() as driver,
    ):
        page = reported(Path(folder) / "report.html")
        show(driver, messages, width=WIDTH, dark=False)
        explore_messages(driver)
        take(driver, "explorer-messages.png")
        for dark in (False, True):
            scheme = "dark" if dark else "light"
            show(driver, explorer, width=WIDTH, dark=dark)
            explore(driver)
            take(driver, f"explorer-{scheme}.png")
            show(driver, page, width=WIDTH, dark=dark)
            driver.execute_script("document.querySelectorAll('.open')[1].click()")
            until(driver, "return document.querySelector('.detail svg')")
            take(driver, f"report-{scheme}.png")


@contextmanager
def exploring(name: str) -> Iterator[str]:
    """Let the explorer serve a program, and yield its address."""
    command = [*COMMAND, "explore", f"litmus/{name}", "--no-browser"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("Exploring at ").strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def reported(file: Path) -> str:
    """Write a report on some programs and return its address."""
    programs = [f"litmus/{name}.rdma" for name in REPORTED.split()]
    command = [*COMMAND, "report", *programs, "-o", str(file), "--quiet"]
    subprocess.run(command, cwd=ROOT, check=False)
    return file.as_uri()


def explore(driver: Any) -> None:
    """Go through the counterexample up to where sequential consistency cannot follow."""
    until(driver, "return !document.querySelector('#witness').hidden")
    driver.execute_script("document.querySelector('#witness').click()")
    until(driver, "return !document.querySelector('#rdma .count').textContent.endsWith(' 0')")
    for step in range(STEPS):
        until(driver, f"return document.querySelector('#rdma .count').textContent.startsWith('step {step} ')")
        driver.execute_script("document.querySelector('#rdma [data-key=forward]').click()")
    until(driver, "return document.querySelector('#sc [data-broken]')")


def explore_messages(driver: Any) -> None:
    """Go through the violation up to where a receive can take one of two messages."""
    until(driver, "return document.querySelector('[data-run=violation]')")
    driver.execute_script("document.querySelector('[data-run=violation]').click()")
    until(driver, "return !document.querySelector('#run .count').textContent.endsWith(' 0')")
    for step in range(MOST_STEPS):
        until(driver, f"return document.querySelector('#run .count').textContent.startsWith('step {step} ')")
        if driver.execute_script(RACE):
            return
        driver.execute_script("document.querySelector('#run [data-key=forward]').click()")


def until(driver: Any, script: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415 - only where there is a browser

    WebDriverWait(driver, 30, 0.05).until(lambda _: driver.execute_script(script))


def take(driver: Any, name: str) -> None:
    """Save what the window shows, in few colours: some 60 kB."""
    time.sleep(0.4)
    picture = Image.open(io.BytesIO(b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])))
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURES / name, optimize=True)


if __name__ == "__main__":
    main()
