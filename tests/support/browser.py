"""A headless Chromium, driven by selenium, that notes what a page complains about and what it tries to load."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
DRIVER = shutil.which("chromedriver")
MISSING = [name for name, found in (("chromium", CHROMIUM), ("chromium-driver", DRIVER)) if found is None]


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser; needs that `MISSING` is empty."""
    from selenium import webdriver  # noqa: PLC0415 - slow
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions"):
        options.add_argument(argument)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield driver
    finally:
        driver.quit()


def show(driver: Any, url: str, *, width: int = 1200, dark: bool = False) -> None:
    """Open a page at a width of `width` pixels."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get(url)


def complaints(driver: Any) -> list[str]:
    """Return what the console has said since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver: Any) -> list[str]:
    """Return the addresses that were asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def until(driver: Any, met: Callable[[], Any] | str, seconds: float = 20) -> None:
    """Wait until something holds, or a script returns it; what the page replaces meanwhile does not hold yet."""
    from selenium.common.exceptions import JavascriptException, StaleElementReferenceException  # noqa: PLC0415 - slow
    from selenium.webdriver.support.ui import WebDriverWait  # noqa: PLC0415 - slow

    def held(driver: Any) -> Any:
        return driver.execute_script(met) if isinstance(met, str) else met()

    WebDriverWait(driver, seconds, 0.03, [JavascriptException, StaleElementReferenceException]).until(held)


def steady(look: Callable[[], T]) -> T:
    """Look again, or click again, when the page replaced what was found before it was looked at."""
    from selenium.common.exceptions import StaleElementReferenceException  # noqa: PLC0415 - slow

    for _ in range(50):
        try:
            return look()
        except StaleElementReferenceException:
            time.sleep(0.05)
    return look()


class BrowserPage:
    """A page that was opened anew, as its user sees it."""

    def __init__(self, driver: Any, address: str, **how: Any) -> None:
        self.driver = driver
        driver.switch_to.default_content()  # the last test may have ended in a frame
        driver.get("about:blank")  # another fragment alone would not load the page anew
        requests(driver)
        complaints(driver)
        show(driver, address, **how)

    def until(self, met: Callable[[], Any]) -> None:
        until(self.driver, met)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        """Return the text of the first such element that can be seen; empty for one that cannot."""
        return steady(lambda: str(self.driver.find_element("css selector", selector).text))

    def click(self, selector: str) -> None:
        steady(lambda: self.driver.find_element("css selector", selector).click())
