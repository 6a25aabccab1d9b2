"""The playground in a browser, as its user sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.browser import BrowserPage, complaints, until


class Playground(BrowserPage):
    """The playground as its user sees it; starting the tool takes many seconds on a machine with other work."""

    def until(self, met: Callable[[], Any]) -> None:
        from selenium.common.exceptions import TimeoutException  # noqa: PLC0415 - slow

        try:
            until(self.driver, met, 240)
        except TimeoutException:
            self.driver.switch_to.default_content()
            shown = {each: self.text(each) for each in ("#state", "#notice", "#badge", "#said")}
            pytest.fail(f"it did not come; the page shows {shown} and says {complaints(self.driver)}")

    def text(self, selector: str) -> str:
        """Return the text in one line: how it is broken depends on the width of the page."""
        return " ".join(super().text(selector).split())

    def answered(self) -> str:
        """Wait for an answer to what is in the editor, and return what is on its badge."""
        self.until(lambda: self.text("#badge") and not self.all("#panel.old"))
        return self.text("#badge")

    def form(self, title: str) -> None:
        """Ask for another form of the answer, which is a drawing."""
        self.driver.find_element("xpath", f"//*[@id='forms']/button[text()='{title}']").click()
        self.answered()
        self.until(lambda: self.all("#drawn svg"))

    def choose(self, path: str) -> None:
        """Choose the first example whose path ends so, and wait for its answer, which the explorer has no badge for."""
        self.driver.execute_script(
            """const select = document.querySelector('#examples');
            select.value = [...select.options].find(each => each.value.endsWith(arguments[0])).value;
            select.dispatchEvent(new Event('change'));""",
            path,
        )
        if not self.all("body.exploring"):
            self.answered()  # another question would end this one, and the worker with it

    def explored(self, at: str, side: str = "#rdma") -> None:
        """Go into the frame of the explorer, and wait until a side of it is so far; another program makes another frame."""

        def there() -> bool:
            self.driver.switch_to.default_content()
            self.driver.switch_to.frame(self.driver.find_element("css selector", "#explorer iframe"))
            return any(each.text == at for each in self.all(f"{side} .count, {side}.badge"))

        self.until(there)

    def ask(self, tab: str) -> str:
        self.click(f"#tab-{tab}")
        return self.answered()

    def write(self, text: str) -> None:
        """Replace the program as a user would: select all, and insert."""
        self.driver.execute_script("document.querySelector('#editor').shadowRoot.querySelector('.cm-content').focus()")
        key = {"type": "keyDown", "key": "a", "code": "KeyA", "modifiers": 2, "commands": ["selectAll"]}
        self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", key)
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    def select(self, selector: str, value: str) -> None:
        from selenium.webdriver.support.ui import Select  # noqa: PLC0415

        Select(self.driver.find_element("css selector", selector)).select_by_value(value)

    def written(self) -> str:
        root = "document.querySelector('#editor').shadowRoot"
        lines = f"return [...{root}.querySelectorAll('.cm-line')].map(each => each.textContent)"
        return "\n".join(self.driver.execute_script(lines))

    def in_editor(self, selector: str) -> int:
        return int(
            self.driver.execute_script(
                "return document.querySelector('#editor').shadowRoot.querySelectorAll(arguments[0]).length", selector
            )
        )
