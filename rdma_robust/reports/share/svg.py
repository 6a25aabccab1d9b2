"""Parts that all drawings share: escaping, the style sheet with its colours for light and dark, text that fits."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rdma_robust.text import printable

CHARACTER = 7.25
"""Width in pixels of a character of the drawings' monospaced 12-pixel font."""

LIGHT = (
    "--rr-bg:#ffffff;--rr-fg:#1f2328;--rr-muted:#59636e;--rr-rule:#d1d9e0;--rr-band:#f6f8fa;--rr-chip:#ffffff;"
    "--rr-cpu:#0550ae;--rr-nic:#6639ba;--rr-cycle:#cf222e;--rr-cycle-bg:#ffebe9;--rr-ok:#1a7f37;--rr-ok-bg:#dafbe1;"
    "--rr-warn:#7d4e00;--rr-warn-bg:#fff8c5;"
    "--rr-po:#59636e;--rr-oppo:#6e7781;--rr-rf:#1a7f37;--rr-mo:#0969da;--rr-rb:#bc4c00;--rr-pf:#8250df;--rr-nfo:#0f766e;"
)
DARK = (
    "--rr-bg:#0d1117;--rr-fg:#e6edf3;--rr-muted:#9198a1;--rr-rule:#3d444d;--rr-band:#151b23;--rr-chip:#0d1117;"
    "--rr-cpu:#79c0ff;--rr-nic:#d2a8ff;--rr-cycle:#ff7b72;--rr-cycle-bg:#3c1618;--rr-ok:#56d364;--rr-ok-bg:#12261e;"
    "--rr-warn:#e3b341;--rr-warn-bg:#2e2a1f;"
    "--rr-po:#9198a1;--rr-oppo:#8b949e;--rr-rf:#56d364;--rr-mo:#79c0ff;--rr-rb:#ffa657;--rr-pf:#d2a8ff;--rr-nfo:#4fd1c5;"
)

SCOPES = (".rr-svg", ".rr-source", ".rr-page")
"""What the colours are defined on: a page that shows a fragment needs no style sheet of its own."""


def themed(scopes: Iterable[str], light: str, dark: str) -> str:
    """Return the rules that give the elements of `scopes` the declarations for light or dark.

    It is as the reader's system is, unless an element around says so by `data-theme`.
    """

    def scoped(prefix: str, declarations: str) -> str:
        return ",".join(f"{prefix}{scope}" for scope in scopes) + "{" + declarations + "}"

    system = scoped("", dark) + scoped("[data-theme=light] ", light)
    return f"{scoped('', light)}@media (prefers-color-scheme:dark){{{system}}}{scoped('[data-theme=dark] ', dark)}"


COLOURS = themed(SCOPES, LIGHT, DARK)

MONO = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
SANS = 'system-ui,-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif'

STYLE = (
    COLOURS
    + f""".rr-svg{{font-family:{MONO};font-size:12px;background:var(--rr-bg)}}
.rr-svg text{{fill:var(--rr-fg)}}.rr-svg .rr-muted{{fill:var(--rr-muted)}}
.rr-svg .rr-head{{font-weight:600}}.rr-svg .rr-sans{{font-family:{SANS}}}
.rr-svg .rr-band{{fill:var(--rr-band)}}.rr-svg .rr-rule{{stroke:var(--rr-rule);fill:none}}
.rr-svg .rr-chip{{fill:var(--rr-chip);stroke:var(--rr-rule)}}
.rr-svg .rr-cpu .rr-chip{{stroke:var(--rr-cpu)}}.rr-svg .rr-nic .rr-chip{{stroke:var(--rr-nic)}}
.rr-svg .rr-faint .rr-chip{{stroke-dasharray:3 3}}
.rr-svg .rr-cycle .rr-chip{{fill:var(--rr-cycle-bg);stroke:var(--rr-cycle);stroke-width:2}}
.rr-svg .rr-pivot .rr-chip{{stroke-width:3.5}}
.rr-svg .rr-op{{stroke:var(--rr-nic);fill:none;stroke-width:1.5}}.rr-svg .rr-flight{{stroke-width:4}}
.rr-svg .rr-done{{stroke-dasharray:1 4}}.rr-svg .rr-call{{stroke:var(--rr-muted);fill:none}}
.rr-svg .rr-tip{{fill:var(--rr-muted);stroke:none}}
.rr-svg .rr-edge{{fill:none;stroke-width:1.4}}.rr-svg .rr-edge-cycle .rr-edge{{stroke-width:2.6}}
.rr-svg .rr-label{{font-size:11px;paint-order:stroke;stroke:var(--rr-bg);stroke-width:4px;stroke-linejoin:round}}
.rr-svg [tabindex]:focus-visible{{outline:2px solid var(--rr-mo);outline-offset:2px}}
.rr-svg .rr-lit .rr-chip{{stroke:var(--rr-mo);stroke-width:3}}""".replace("\n", "")
)


def markup_text(text: str) -> str:
    """Return `text` from outside as character data or attribute value of HTML, SVG and XML."""
    return escape(printable(text), quote=True)


def fitted(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def pixel_width(text: str) -> float:
    """Return the width of `text` in the drawings' font, in pixels. Wide characters count twice."""
    return CHARACTER * sum(2 if ord(c) >= 0x1100 else 1 for c in text)


def number(value: float) -> str:
    """Return a coordinate without needless digits."""
    return f"{value:.1f}".removesuffix(".0")


def svg_image(width: float, height: float, title: str, body: list[str], kind: str) -> str:
    """Return a complete SVG image; it can also stand inside HTML as it is."""
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="rr-svg rr-{kind}" role="img" {size}>'
    return "\n".join([head, f"<title>{markup_text(title)}</title>", f"<style>{STYLE}</style>", *body, "</svg>"]) + "\n"


def arrow_head(x: float, y: float, dx: float, dy: float, size: float = 7) -> str:
    """Return the points of an arrow head whose tip is at (x, y), pointing along (dx, dy)."""
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / length, dy / length
    base = x - ux * size, y - uy * size
    half = size * 0.45
    corners = [(x, y), (base[0] - uy * half, base[1] + ux * half), (base[0] + uy * half, base[1] - ux * half)]
    return " ".join(f"{number(a)},{number(b)}" for a, b in corners)
