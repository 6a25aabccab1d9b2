"""The plots of the pages on benchmarks, from what bench/data holds: drawings that are light or dark as their reader is.

matplotlib lays them out in fixed colours, which then become the variables of the tool's drawings.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from bench.message_tables import PAPER_S, WAYS
from bench.records import Price, Road, Solving, digest, load
from rdma_robust.reports.share.svg import COLOURS, SANS

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs/plots"
INKS: Final[Mapping[str, str]] = {
    "fg": "#1f2328",
    "muted": "#59636e",
    "rule": "#d1d9e0",
    "bg": "#fefefe",
    "cpu": "#0550ae",
    "rb": "#bc4c00",
    "rf": "#1a7f37",
    "nic": "#6639ba",
}
"""What a variable of the drawings is called while matplotlib draws."""

SERIES: Final = ("cpu", "rb", "rf", "nic")
SETTINGS: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rdma-robust",
    "font.size": 11,
    "text.color": INKS["fg"],
    "axes.edgecolor": INKS["muted"],
    "axes.labelcolor": INKS["fg"],
    "axes.facecolor": INKS["bg"],
    "axes.titlesize": 11,
    "xtick.color": INKS["muted"],
    "ytick.color": INKS["muted"],
    "grid.color": INKS["rule"],
    "legend.facecolor": INKS["bg"],
    "legend.edgecolor": INKS["rule"],
    "legend.labelcolor": INKS["fg"],
}
UNFINISHED: Final = "hollow: not finished within the limits"


def write() -> None:
    """Draw all plots anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, (_, draw) in PLOTS.items():
        (FOLDER / f"{name}.svg").write_text(drawn(name, draw), encoding="utf-8")


def mark(name: str) -> str:
    """Return the comment in a plot that tells which data it shows."""
    return f"<!-- data: {digest(PLOTS[name][0])} -->"


def drawn(name: str, draw: Callable[[Figure], None]) -> str:
    """Return a plot as SVG, with names of its own, as several may stand in one page."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(9.2, 4.1), layout="constrained", facecolor=INKS["bg"])
        draw(figure)
        text = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(text, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    for variable, ink in INKS.items():
        svg = svg.replace(ink, f"var(--rr-{variable})")
    svg = re.sub(r"(?<!-)\bid=\"", f'id="{name}-', svg)
    svg = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", svg)
    svg = re.sub(r"<style type=\"text/css\">.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ([0-9.]+)px[^;\"]*", r"font-size: \1px", svg)
    style = f"{COLOURS}.rr-plot{{font-family:{SANS};background:var(--rr-bg)}}.rr-plot *{{stroke-linejoin:round}}"
    return svg.replace("<svg ", '<svg class="rr-svg rr-plot" ', 1).replace(
        "<defs>", f"{mark(name)}\n<style>{style}</style>\n<defs>", 1
    )


def _growth(figure: Figure, families: Mapping[str, str], size: str) -> None:
    """Draw states and times of families by their size: ours, and SPIN's."""
    rows = load("price", Price)
    states, times = figure.subplots(1, 2)
    for ink, (family, label) in zip(SERIES, families.items(), strict=False):
        mine = [row for row in rows if row.family == family]
        numbers = [row.n for row in mine]
        colour = INKS[ink]
        states.plot(numbers, [max(1, row.our_states) for row in mine], "o-", color=colour, label=f"{label}, we")
        states.plot(numbers, [row.spin_states for row in mine], "s--", color=colour, mfc=INKS["bg"], label=f"{label}, SPIN")
        times.plot(numbers, [row.check_s for row in mine], "o-", color=colour)
        times.plot(numbers, [row.spin_s for row in mine], "s--", color=colour, mfc=INKS["bg"])
    for axes, title in ((states, "stored states (none is drawn as 1)"), (times, "processor seconds")):
        axes.set_yscale("log")
        axes.set_title(title)
        axes.set_xlabel(size)
        axes.grid(visible=True)
        axes.xaxis.get_major_locator().set_params(integer=True)
    states.legend(fontsize=9)


def threads(figure: Figure) -> None:
    families = {
        "ring exchange, n threads": "ring exchange",
        "bakery, n threads": "bakery",
        "Szymanski, n threads": "Szymanski",
    }
    _growth(figure, families, "threads")


def clients(figure: Figure) -> None:
    _growth(figure, {"lock server, n clients": "lock server"}, "clients")


def slots(figure: Figure) -> None:
    families = {"3 threads, rings of n slots": "3 threads", "4 threads, rings of n slots": "4 threads"}
    _growth(figure, families, "slots of each ring")


def against_spin(figure: Figure) -> None:
    """Draw each program of tables (a) and (e) by our time and SPIN's, and by states."""
    roads, prices = load("paper", Road), load("price", Price)
    times, states = figure.subplots(1, 2)
    _scatter(times, [(row.command_s, row.spin_s, row.spin_done) for row in roads], "cpu", "(a) paper's instrumentation")
    _scatter(times, [(row.check_s, row.spin_s, row.spin_done) for row in prices], "rb", "(e) plain SC")
    _scatter(states, [(max(1, row.our_states), row.spin_states, row.spin_done) for row in roads], "cpu", "(a)")
    _scatter(states, [(max(1, row.our_states), row.spin_states, row.spin_done) for row in prices], "rb", "(e)")
    for axes, title, unit in ((times, "time", "s"), (states, "stored states (none is drawn as 1)", "states")):
        axes.set_xscale("log")
        axes.set_yscale("log")
        low = min(axes.get_xlim()[0], axes.get_ylim()[0])
        high = max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([low, high], [low, high], color=INKS["muted"], linewidth=1)
        axes.set_title(title)
        axes.set_xlabel(f"we, {unit}")
        axes.set_ylabel(f"SPIN, {unit}")
        axes.grid(visible=True)
    times.legend(fontsize=9, title=UNFINISHED, title_fontsize=8)


def _scatter(axes: Any, points: Sequence[tuple[float, float, bool]], ink: str, label: str) -> None:
    for done in (True, False):
        chosen = [(x, y) for x, y, finished in points if finished == done]
        if chosen:
            face = INKS[ink] if done else INKS["bg"]
            axes.plot(*zip(*chosen, strict=True), "o", color=INKS[ink], mfc=face, ms=5, label=label if done else None)


def message_senders(figure: Figure) -> None:
    """Draw Table I: seconds by senders, for each goal and each way to solve."""
    grid = figure.subplots(1, 4, sharey=True)
    _solvers(grid, ("given", "max", "twice", "sum"), "senders")
    grid[0].plot(list(PAPER_S), list(PAPER_S.values()), "^:", color=INKS["muted"], label="the paper, 2013")
    _labelled(figure, grid)


def message_rounds(figure: Figure) -> None:
    """Draw figures 1 and 8 of the paper: seconds by rounds."""
    grid = figure.subplots(1, 2, sharey=True)
    _solvers(grid, ("figure 8", "figure 1"), "rounds")
    _labelled(figure, grid)


def _solvers(grid: Any, families: Sequence[str], size: str) -> None:
    rows = load("message-solvers", Solving)
    for axes, family in zip(grid, families, strict=True):
        for ink, way in zip(SERIES, WAYS, strict=True):
            mine = [row for row in rows if (row.family, row.way) == (family, way)]
            done = [row for row in mine if row.seconds is not None]
            label = {"paper": "its encoding today", "paper, whole order": "with the whole order"}.get(way, way)
            if mine:
                axes.plot([row.size for row in done], [row.seconds for row in done], "o-", color=INKS[ink], label=label)
            open_ = [row.size for row in mine if row.seconds is None]
            axes.plot(open_, [60] * len(open_), "o", color=INKS[ink], mfc=INKS["bg"])
        axes.set_yscale("log")
        axes.set_title(family)
        axes.set_xlabel(size)
        axes.grid(visible=True)
    grid[0].set_ylabel("processor seconds")


def _labelled(figure: Figure, grid: Any) -> None:
    lines = {line.get_label(): line for axes in grid for line in axes.lines if not line.get_label().startswith("_")}
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=len(lines), fontsize=9, title="hollow: over 60 s")


PLOTS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[Figure], None]]]] = {
    "threads": (("price",), threads),
    "clients": (("price",), clients),
    "slots": (("price",), slots),
    "spin": (("paper", "price"), against_spin),
    "message-senders": (("message-solvers",), message_senders),
    "message-rounds": (("message-solvers",), message_rounds),
}
"""Each plot with the files of bench/data that it shows."""
