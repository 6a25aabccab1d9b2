"""The explorer in a terminal: the same core and the same states as the page's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, OptionList, Static

from rdma_robust.teaching.explorer.address import ExplorerPlace, Side
from rdma_robust.teaching.explorer.live import Decide, Follow
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.terminal_app import (
    BAD,
    KINDS,
    RDMA,
    SC,
    STATUS_STYLE,
    TerminalExplorer,
    need_terminal,
    run_row,
    value_cells,
)
from rdma_robust.teaching.explorer.view import MoveView, OperationView, ProgramView, SideView, VerdictView, View

SIDES: tuple[Side, Side] = ("rdma", "sc")

NO_WITNESS = {
    None: "The verdict is not known yet.",
    "robust": "There is no counterexample: the program is robust.",
    "unknown": "No counterexample is known: the program is undecided.",
    "not-robust": "The counterexample is too long to step through.",
}


KEYS = (
    ("1 … 9, Enter", "make this move on the active side"),
    ("← →", "one step back, one step forward"),
    ("Tab", "the other side becomes the active one"),
    ("m", "SC follows RDMA, or each on its own"),
    ("w", "the counterexample, if there is one"),
    ("p", "the source, where there is not room for all"),
    ("n", "start again"),
    ("s", "the option that leads to this state"),
    ("?", "this help"),
    ("q", "quit"),
)


class Explorer(TerminalExplorer):
    """Two machines and the source; what can happen next is a list on each side."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "other", "side", priority=True),
        Binding("m", "mode", "mode"),
    ]
    KEYS = KEYS

    session: Session
    verdict: VerdictView | None

    def __init__(self, session: Session, decide: Decide, place: ExplorerPlace, follow: Follow | None = None) -> None:
        super().__init__(decide, follow)
        self.explore(session, place)

    def start(self) -> ExplorerPlace:
        """Return the beginning in the mode of the place."""
        return ExplorerPlace(self.place.mode)

    def compose(self) -> ComposeResult:
        yield Static(id="top", markup=False)
        with Horizontal(id="panes"):
            with VerticalScroll(id="source", classes="pane"):
                yield Static(id="code", markup=False)
            for side in SIDES:
                with Vertical(id=side, classes="pane side"):
                    yield Static(id=f"{side}-head", classes="head", markup=False)
                    yield OptionList(id=f"{side}-moves")
                    with VerticalScroll(can_focus=False):
                        yield Static(id=f"{side}-state", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def unknown(self, why: str) -> VerdictView:
        """Return the verdict that is not known."""
        return VerdictView("unknown", why)

    def draw(self) -> None:
        """Show the place the explorer is at."""
        self.seen = view = self.session.view(self.place)
        self.draw_top()
        self.query_one("#code", Static).update(source_pane(self.about, view))
        for side in SIDES:
            shown = view.rdma if side == "rdma" else view.sc
            self.query_one(f"#{side}-head", Static).update(head(view, side))
            planned = shown.steps[shown.at].choice if shown.at < len(shown.steps) else 0
            by_hand = self.by_hand(side)
            self.list_moves(f"{side}-moves", options(shown) if by_hand else (), planned if by_hand and shown.moves else None)
            self.query_one(f"#{side}-state", Static).update(state(view, side))

    def draw_top(self) -> None:
        self.query_one("#top", Static).update(status_line(self.about, self.seen, self.verdict))

    def by_hand(self, side: Side) -> bool:
        return side == "rdma" or self.place.mode == "free"

    @property
    def active(self) -> Side:
        focused = self.focused
        sc = focused is not None and any(node.id == "sc" for node in focused.ancestors_with_self)
        return "sc" if sc and self.by_hand("sc") else "rdma"

    @property
    def moves(self) -> str:
        """The name of the list of moves of the active side."""
        return f"{self.active}-moves"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        side: Side = "sc" if event.option_list.id == "sc-moves" else "rdma"
        self.to(partial(self.session.step, self.place, side, int(event.option.id or 0)))

    def action_take(self, choice: int) -> None:
        shown = self.seen.sc if self.active == "sc" else self.seen.rdma
        if choice < len(shown.moves):
            self.to(partial(self.session.step, self.place, self.active, choice))

    def go_by(self, by: int) -> None:
        track = self.place.track(self.active)
        if 0 <= track.at + by <= len(track.choices):
            self.to(partial(self.session.go, self.place, self.active, track.at + by))

    def action_other(self) -> None:
        if self.place.mode == "follow":
            self.say("The SC side follows. Press m to step it by hand.")
        else:
            self.focus_moves("rdma-moves" if self.active == "sc" else "sc-moves")

    def action_mode(self) -> None:
        self.to(partial(self.session.switched, self.place, "free" if self.place.mode == "follow" else "follow"))

    def action_witness(self) -> None:
        found = self.verdict
        if found is None or found.address is None:
            self.say(NO_WITNESS[None if found is None else found.verdict])
            return
        self.to(partial(self.session.place, found.address))
        self.say(f"The counterexample has {found.steps} steps: → goes forward.")


def run_terminal(session: Session, decide: Decide, state: str, follow: Follow | None = None) -> None:
    """Let the user explore in the terminal until they quit. Raises UsageError without a terminal."""
    need_terminal()
    Explorer(session, decide, session.place(state), follow).run()


TITLES = {"rdma": "RDMA hardware", "sc": "Sequential consistency"}
VERDICTS = {
    "robust": ("robust", "bold green"),
    "not-robust": ("NOT ROBUST", f"bold {BAD}"),
    "unknown": ("undecided", "yellow"),
}


def who(move: MoveView) -> str:
    if move.agent == "start":
        return "start"
    return f"{move.thread} CPU" if move.agent == "cpu" else f"{move.thread} NIC → {move.remote}"


def phrase(move: MoveView) -> str:
    """Return what a move does, with the number of its operation."""
    return f"#{move.operation} {move.label}" if move.operation is not None and move.agent == "nic" else move.label


def status_line(about: ProgramView, view: View, verdict: VerdictView | None) -> Text:
    word, style = ("deciding …", "dim") if verdict is None else VERDICTS[verdict.verdict]
    mode = "SC follows RDMA" if view.mode == "follow" else "each side on its own"
    return Text.assemble((about.name, "bold"), "  ", (about.file, "dim"), "  ", (word, style), "  ", (mode, "dim"))


def source_pane(about: ProgramView, view: View) -> Text:
    """Return the source with the threads' places, operations under way, and the lines of a cycle."""
    marks: dict[int, list[tuple[str, str]]] = {}
    for side, style in ((view.rdma, RDMA), (view.sc, SC)):
        for thread in side.threads:
            for line in thread.lines:
                marks.setdefault(line, []).append((f" ◂{thread.name}", style))
    for queue in view.rdma.queues:
        for operation in (*queue.pipe, *queue.remote_writes, *queue.local_writes):
            marks.setdefault(operation.line, []).append((f" #{operation.number}", f"bold {RDMA}"))
    cycle = set(view.broken.lines) if view.broken is not None else set()
    lines = []
    for number, pieces in enumerate(about.coloured, 1):
        told = ((text, BAD if number in cycle else KINDS[kind]) for kind, text in pieces)
        row = Text.assemble((f"{number:4} ", "dim"), *told, no_wrap=True)
        lines.append(row + Text.assemble(*marks.get(number, ())))
    return Text("\n").join(lines)


def head(view: View, side: Side) -> Text:
    shown = view.rdma if side == "rdma" else view.sc
    follows = side == "sc" and view.mode == "follow"
    place = (
        f"{shown.at} {'step' if shown.at == 1 else 'steps'}, follows"
        if follows
        else f"step {shown.at} of {len(shown.steps)}"
    )
    title = Text.assemble((TITLES[side], f"bold {RDMA}" if side == "rdma" else f"bold {SC}"), (f"   {place}", "dim"))
    if shown.moves and not follows:
        title.append("\nWhat can happen next", "dim")
    return title


def options(side: SideView) -> list[tuple[int, Text]]:
    """Return the moves that can be made, by their numbers."""
    planned = side.steps[side.at].choice if side.at < len(side.steps) else None
    return [(move.choice, _option(move, move.choice == planned)) for move in side.moves]


def _option(move: MoveView, planned: bool) -> Text:
    line = f"  line {move.line}" if move.line is not None else ""
    more = "".join(f"\n    {each}" for each in (move.then, *move.faults) if each)
    return Text.assemble(
        (f"{move.choice + 1:2} ", "dim"),
        (who(move) + " ", "bold"),
        phrase(move),
        (line, "dim"),
        (" ◂ this run", RDMA) if planned else "",
        (more, "yellow"),
    )


def state(view: View, side: Side) -> Text:
    """Return the state of one machine: banners, threads, memory, queue pairs, the run."""
    shown = view.rdma if side == "rdma" else view.sc
    parts = {
        "Threads": _threads(shown),
        "Memory": _memory(shown),
        "Queue pairs": _queues(shown) if side == "rdma" else Text(),
        "The run": _run(view, side, shown),
    }
    titled = (Text.assemble((f"{title}\n", "dim"), part) for title, part in parts.items() if part.plain)
    return Text("\n\n").join([*_banners(view, side, shown), *titled])


def _banners(view: View, side: Side, shown: SideView) -> Iterable[Text]:
    if view.broken is not None and side == "rdma":
        yield Text(f"From step {view.broken.step} on, no run under sequential consistency has these effects.", BAD)
    elif view.broken is not None and view.mode == "follow":
        why = "".join(f"\n ↻ {link}" for link in view.broken.cycle)
        yield Text.assemble((f"SC cannot follow RDMA step {view.broken.step}:", f"bold {BAD}"), why)
    if shown.ending_text:
        claims = "".join(f"\n line {c.line}: {c.text}: {'holds' if c.holds else 'does not hold'}" for c in shown.claims)
        yield Text.assemble((shown.ending_text, "bold"), claims)
    if shown.faults:
        yield Text("\n".join(shown.faults), "yellow")


def _threads(side: SideView) -> Text:
    rows = []
    for thread in side.threads:
        where = f" line {', '.join(map(str, thread.lines))}" if thread.lines else ""
        row = Text.assemble((thread.name, "bold"), f" on {thread.node}", (f" {thread.status}", STATUS_STYLE[thread.status]))
        row.append(f"{where} {thread.text}" if thread.status != "ended" else "")
        row.append(f"\n  {thread.carries}" if thread.carries else "")
        if thread.registers:
            row += Text.assemble("\n ", *value_cells(thread.registers))
        rows.append(row)
    return Text("\n").join(rows)


def _memory(side: SideView) -> Text:
    rows = [Text.assemble((f"{node.name}:", "bold"), *value_cells(node.cells)) for node in side.nodes if node.cells]
    return Text("\n").join(rows)


def _queues(side: SideView) -> Text:
    rows = []
    for queue in side.queues:
        polls = [f"#{o.number} {'complete' if i < queue.complete else 'open'}" for i, o in enumerate(queue.unpolled)]
        lanes = {
            "pipe": [_operation(o) for o in queue.pipe],
            f"buffer to {queue.remote}": [_operation(o) for o in queue.remote_writes],
            "buffer to own memory": [_operation(o) for o in queue.local_writes],
            "to be polled": polls,
        }
        filled = [f"\n  {name}: {', '.join(items)}" for name, items in lanes.items() if items]
        rows.append(
            Text.assemble((f"{queue.thread} → {queue.remote}", "bold"), "".join(filled), ("" if filled else " empty", "dim"))
        )
    return Text("\n").join(rows)


def _operation(operation: OperationView) -> str:
    if "=" in operation.value:
        return f"#{operation.number} {operation.value}"
    return f"#{operation.number} {operation.text}" + (f" ({operation.value})" if operation.value else "")


def _run(view: View, side: Side, shown: SideView) -> Text:
    broken = view.broken.step if side == "rdma" and view.broken is not None else None
    rows = (
        run_row(number, shown.at, f"{who(step)} {phrase(step)}", wrong=number == broken)
        for number, step in enumerate(shown.steps, 1)
    )
    return Text("\n").join(rows)
