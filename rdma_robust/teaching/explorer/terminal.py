"""The explorer in a terminal: the same core and the same states as the page's."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, OptionList, Static

from rdma_robust.teaching.explorer.address import ExplorerPlace, Side
from rdma_robust.teaching.explorer.live import Decide, Follow
from rdma_robust.teaching.explorer.panes import head, options, source_pane, state, status_line
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.terminal_app import TerminalExplorer, need_terminal
from rdma_robust.teaching.explorer.view import VerdictView

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

    def action_step_back(self) -> None:
        self._go(-1)

    def action_step_forward(self) -> None:
        self._go(1)

    def _go(self, by: int) -> None:
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
