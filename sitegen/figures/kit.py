"""What figures are drawn with: boxes, words and arrows, in the colours of the tool's drawings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.reports.share.svg import MONO, SANS, arrow_head, markup_text, number, svg_image

Point = tuple[float, float]
Place = tuple[float, float, float, float]
"""The top left corner, width and height."""

CODE: Final = 7.3
PROSE: Final = 7.7
"""The widths in pixels that a character takes at most on average, in the fonts that are likely to be there."""

COLOURS: Final = ("cpu", "nic", "cycle", "ok", "warn", "muted", "rf", "mo", "rb", "po")
STYLE: Final = (
    f".rr-figure text{{font:13px {SANS}}}.rr-figure .rr-code{{font:12px {MONO}}}"
    ".rr-figure .rr-box{fill:var(--rr-chip);stroke:var(--rr-muted);stroke-width:1.3}"
    ".rr-figure .rr-group{fill:var(--rr-band);stroke:var(--rr-rule)}"
    ".rr-figure .rr-line{fill:none;stroke:var(--rr-muted);stroke-width:1.6}.rr-figure .rr-point{fill:var(--rr-muted)}"
    ".rr-figure .rr-dashed{stroke-dasharray:5 4}.rr-figure .rr-strong{font-weight:600}.rr-figure .rr-thick{stroke-width:2.8}"
    ".rr-figure .rr-fill-ok{fill:var(--rr-ok-bg)}.rr-figure .rr-fill-cycle{fill:var(--rr-cycle-bg)}"
    ".rr-figure .rr-fill-warn{fill:var(--rr-warn-bg)}"
    + "".join(f".rr-figure .rr-ink-{c}{{fill:var(--rr-{c})}}.rr-figure .rr-by-{c}{{stroke:var(--rr-{c})}}" for c in COLOURS)
)


class Canvas:
    """A figure that is being drawn. `title` is its name for those who cannot see it; the page has a longer text."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.size = (width, height)
        self.title = title
        self.parts: list[str] = [f"<style>{STYLE}</style>"]

    def svg(self) -> str:
        """Return the file."""
        return svg_image(*self.size, self.title, self.parts, "figure")

    def group(self, place: Place, title: str = "") -> None:
        """Draw what boxes stand in, with its title at the top."""
        self._rect(place, "rr-group", 8)
        if title:
            self.text(place[0] + 12, place[1] + 20, title, "strong")

    def box(self, place: Place, text: str = "", look: str = "") -> None:
        """Draw a box with lines of text in its middle. Raises ValueError if they do not fit.

        `look` are words: a colour of the frame, `ok`, `cycle` or `warn` with `filled`, `code` for the text, `dashed`.
        """
        words = look.split()
        colour = next((f" rr-by-{word}" for word in words if word in COLOURS), "")
        filled = (
            next((f" rr-fill-{word}" for word in words if word in ("ok", "cycle", "warn")), "") if "filled" in words else ""
        )
        self._rect(place, f"rr-box{colour}{filled}{' rr-dashed' if 'dashed' in words else ''}", 6)
        x, y, width, height = place
        lines = text.split("\n") if text else []
        for row, line in enumerate(lines):
            wide = len(line) * (CODE if "code" in words else PROSE)
            if wide > width - 6:
                raise ValueError(f"{line!r} takes {wide:.0f} of {width - 6:.0f} pixels")
            middle = y + height / 2 + 4.5 + (row - (len(lines) - 1) / 2) * 17
            self.text(x + width / 2, middle, line, f"middle {'code' if 'code' in words else ''}")

    def text(self, x: float, y: float, text: str, look: str = "") -> None:
        """Write a line. `look`: `middle` or `end` for where (x, y) is, `code`, `strong`, a colour."""
        words = look.split()
        anchor = next((f' text-anchor="{word}"' for word in words if word in ("middle", "end")), "")
        classes = [f"rr-{word}" for word in words if word in ("code", "strong")]
        classes += [f"rr-ink-{word}" if word != "muted" else "rr-muted" for word in words if word in COLOURS]
        named = f' class="{" ".join(classes)}"' if classes else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}"{anchor}{named}>{markup_text(text)}</text>')

    def prose(self, x: float, y: float, lines: Iterable[str], look: str = "") -> None:
        """Write lines below one another."""
        for place, line in enumerate(lines):
            self.text(x, y + 18 * place, line, look)

    def arrow(self, *points: Point, look: str = "", curve: float = 0.0) -> None:
        """Draw an arrow through points; `curve` bends one between two points to its left, in pixels. `look`: a colour,
        `dashed`, `thick`, `plain` for a line without a head."""
        words = look.split()
        colour = next((word for word in words if word in COLOURS), "muted")
        extra = "".join(f" rr-{word}" for word in words if word in ("dashed", "thick"))
        path = " ".join(f"{'M' if not i else 'L'}{number(x)},{number(y)}" for i, (x, y) in enumerate(points))
        (ax, ay), (bx, by) = points[-2], points[-1]
        if curve:
            length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
            middle = ((ax + bx) / 2 + curve * (by - ay) / length, (ay + by) / 2 - curve * (bx - ax) / length)
            path = f"M{number(ax)},{number(ay)} Q{number(middle[0])},{number(middle[1])} {number(bx)},{number(by)}"
            ax, ay = middle
        self.parts.append(f'<path class="rr-line rr-by-{colour}{extra}" d="{path}"/>')
        if "plain" not in words:
            self.parts.append(f'<polygon class="rr-ink-{colour}" points="{arrow_head(bx, by, bx - ax, by - ay, 9)}"/>')

    def dot(self, x: float, y: float, colour: str = "muted", radius: float = 4) -> None:
        self.parts.append(f'<circle class="rr-ink-{colour}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>')

    def area(self, points: Iterable[Point], look: str) -> None:
        """Fill a polygon: `ok`, `cycle` or `warn`."""
        corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.parts.append(f'<polygon class="rr-fill-{look} rr-by-{look}" points="{corners}"/>')

    def _rect(self, place: Place, classes: str, radius: float) -> None:
        x, y, width, height = place
        where = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        self.parts.append(f'<rect class="{classes}" {where} rx="{number(radius)}"/>')
