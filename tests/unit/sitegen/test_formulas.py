"""Formulas are MathML, all that the pages have are read, and what is not is an error."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from markdown import markdown

from sitegen.formulas import FormulaError, mathml, with_formulas
from tests.conftest import ROOT


def page_of(text: str) -> str:
    """Return what the site makes of a text, as far as formulas are concerned."""
    extensions = ["tables", "pymdownx.superfences", "pymdownx.arithmatex"]
    configs = {"pymdownx.arithmatex": {"generic": True}}
    return with_formulas(markdown(text, extensions=extensions, extension_configs=configs))


def test_what_stands_at_foot_and_head() -> None:
    read = ET.fromstring(mathml(r"\mathrm{ib}' = (T_S \cup \{a\})^+"))
    (row,) = read
    assert [each.tag for each in row] == ["mi", "mo", "mo", "mo", "msub", "mo", "mo", "mi", "mo", "msup"]
    assert "".join(read.itertext()) == "ib′=(TS∪{a})+"
    assert row[0].get("mathvariant") == "normal"


@pytest.mark.parametrize("formula", [r"a \frac b", "a_", "(a}", "{a", "^", r"a \\ b"])
def test_what_is_not_read_is_an_error(formula: str) -> None:
    with pytest.raises(FormulaError):
        mathml(formula)


def test_pages_show_no_dollars_for_formulas() -> None:
    """Definitions and theorems are there to be read: none is shown as LaTeX, and a shell's `$` stays what it is."""
    found = 0
    for page in sorted((ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if "$" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL):
            continue
        html = page_of(text)
        assert "arithmatex" not in html and "mathrm" not in html
        found += html.count("<math>")
    assert found > 500
    assert "<code>$ ls</code>" in page_of("`$ ls` and `$x$`")
