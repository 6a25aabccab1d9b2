"""Formulas of the pages, `$A \\subseteq B$`, as MathML, which browsers set without a script or a font of another host.

A part of LaTeX: letters, digits, signs, `{}`, `_`, `^`, primes, `\\mathrm{name}`, and the words of :data:`SIGNS`.
All else is an error, so that a page never shows what was meant for LaTeX.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Final

SIGNS: Final = {
    "approx": "≈",
    "cap": "∩",
    "cdot": "·",
    "circ": "∘",
    "cup": "∪",
    "dots": "…",
    "emptyset": "∅",
    "ge": "≥",
    "in": "∈",
    "le": "≤",
    "ne": "≠",
    "neg": "¬",
    "notin": "∉",
    "setminus": "∖",
    "sim": "∼",
    "square": "□",
    "subseteq": "⊆",
    "supseteq": "⊇",
    "times": "×",
    "to": "→",
}
"""What stands between or around names, by its word in LaTeX."""

LETTERS: Final = {"alpha": "α", "beta": "β", "pi": "π", "sigma": "σ", "tau": "τ"}
"""Names of one Greek letter."""

SET: Final = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
"""A formula as Markdown's extension leaves it."""

_TOKEN: Final = re.compile(
    r"\s*(\\mathrm\{(?P<name>[^{}]+)\}|\\(?P<word>[a-zA-Z]+)|\\(?P<brace>[{}])|(?P<number>\d+)|(?P<one>\S))"
)


PRIME: Final = '<mo lspace="0" rspace="0">′</mo>'
"""Its glyph stands high by itself: as a head it would stand above the line."""

WIDE: Final = 12
"""A formula of more signs than these scrolls by itself on a phone: browsers do not break it."""


class FormulaError(ValueError):
    """A formula that is not in the part of LaTeX that is read; the message has it."""


def with_formulas(html: str) -> str:
    """Return a page with its formulas as MathML. Raises FormulaError."""
    return SET.sub(lambda found: mathml(unescape(found[1])), html)


def mathml(formula: str) -> str:
    """Return a formula as an element `math`. Raises FormulaError."""
    tokens = list(_TOKEN.finditer(formula.rstrip()))
    if "".join(each[0] for each in tokens) != formula.rstrip():
        raise FormulaError(f"not a formula: ${formula}$")
    reader = _Reader(formula, tokens)
    body = reader.row(closed=False)
    wide = ' class="rr-wide"' if len(tokens) > WIDE else ""
    return f"<math{wide}>{body}</math>"


class _Reader:
    """Reads tokens one after the other."""

    def __init__(self, formula: str, tokens: list[re.Match[str]]) -> None:
        self.formula = formula
        self.tokens = tokens[::-1]

    def row(self, *, closed: bool) -> str:
        """Return what stands up to the end, or if `closed` up to a brace, which is taken."""
        parts = []
        while self.tokens and self.tokens[-1]["one"] != "}":
            parts.append(self._scripted())
        if bool(self.tokens) != closed:
            raise FormulaError(f"a brace has no other one: ${self.formula}$")
        if closed:
            self.tokens.pop()
        return f"<mrow>{''.join(parts)}</mrow>"

    def _scripted(self) -> str:
        """Return what comes next with what stands at its foot and head."""
        base = self._atom()
        foot = head = primes = ""
        while self.tokens and (sign := self.tokens[-1]["one"]) in ("_", "^", "'"):
            self.tokens.pop()
            if sign == "_":
                foot += self._atom()
            elif sign == "^":
                head += self._atom()
            else:
                primes += PRIME
        if foot or head:
            name = "msubsup" if foot and head else "msub" if foot else "msup"
            base = f"<{name}>{base}{''.join(f'<mrow>{each}</mrow>' for each in (foot, head) if each)}</{name}>"
        return base + primes

    def _atom(self) -> str:
        if not self.tokens:
            raise FormulaError(f"something is missing at the end: ${self.formula}$")
        token = self.tokens.pop()
        word, one = token["word"], token["one"]
        if one == "{":
            return self.row(closed=True)
        if token["name"]:
            return f'<mi mathvariant="normal">{escape(token["name"])}</mi>'
        if token["number"]:
            return f"<mn>{token['number']}</mn>"
        if word in LETTERS:
            return f"<mi>{LETTERS[word]}</mi>"
        sign = SIGNS.get(word) if word else token["brace"] or one
        if sign is None or (sign in "_^'}\\" and not token["brace"]):
            raise FormulaError(f"not read in a formula: {token[0].strip()} in ${self.formula}$")
        if sign.isalpha() and word is None:
            return f"<mi>{sign}</mi>"
        return f'<mo stretchy="false">{escape(sign)}</mo>' if sign in "()[]{}" else f"<mo>{escape(sign)}</mo>"
