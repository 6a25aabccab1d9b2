"""Common parts of both explorers in a terminal: they decide beside the user, follow a file, say things, show the keys."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rdma_robust.errors import RdmaRobustError, UsageError
from rdma_robust.reports.share.program_colours import ReportKind
from rdma_robust.teaching.explorer.live import Decide, Follow
from rdma_robust.teaching.explorer.view import ValueView

WIDE: Final = 116
"""Columns from which on there is room for all panes side by side."""


RDMA, SC, BAD = "#c3a6ff", "#79c0ff", "#ff7b72"
"""Colours for the dark background that the interface paints."""

KINDS: dict[ReportKind, str] = {"": "", "word": RDMA, "number": SC, "text": "green", "comment": "dim"}
STATUS_STYLE = {"ready": "green", "waiting": "yellow", "stopped": "yellow", "ended": "dim"}


class Keys(ModalScreen[None]):
    """All keys and what they do, until the next key."""

    CSS = """
    Keys { align: center middle; }
    Keys Static { width: auto; max-width: 100%; height: auto; padding: 1 2; border: round $accent; background: $panel; }
    """

    def __init__(self, keys: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.keys = keys

    def compose(self) -> ComposeResult:
        rows = (Text.assemble((f"{key:14}", "bold"), what) for key, what in self.keys)
        yield Static(Text("\n").join([*rows, Text("\nAny key closes this.", "dim")]), id="keys")

    def on_key(self, event: Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss()


class TerminalExplorer(App[None]):
    """An explorer of a program: `session`, the `place` it is at, and its `verdict` once that is known.

    What explorers do in their own ways is abstract here. As apps of textual have a metaclass of their own, only the checker
    of types sees to it.
    """

    TITLE = "rdma-robust explore"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as the base class declares it
        (0, "-narrow"),
        (WIDE, "-wide"),
    ]
    CSS = """
    #top { height: auto; padding: 0 1; background: $panel; }
    #panes { height: 1fr; }
    .pane { width: 1fr; border: round $surface-lighten-2; padding: 0 1; }
    .pane:focus-within { border: round $accent; }
    #source { width: 0.8fr; }
    .-narrow #source { display: none; }
    .-narrow.show-source #source { display: block; }
    .-narrow.show-source .side { display: none; }
    OptionList { height: auto; max-height: 45%; border: none; padding: 0; margin-bottom: 1; background: transparent; }
    VerticalScroll { height: 1fr; }
    .head { height: auto; }
    #code { width: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step_back", "back", priority=True),
        Binding("right", "step_forward", "forward", priority=True),
        Binding("w", "witness", "counterexample"),
        Binding("p", "program", "source"),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "quit", "quit"),
        Binding("n", "restart", show=False),
        Binding("s", "share", show=False),
        Binding("ctrl+c", "quit", show=False, priority=True),
        *(Binding(str(k), f"take({k - 1})", show=False) for k in range(1, 10)),
    ]
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = ()

    session: Any
    place: Any
    seen: Any
    about: Any
    verdict: Any

    def __init__(self, decide: Decide, follow: Follow | None) -> None:
        super().__init__()
        self.decide = decide
        self.follow = follow

    @abstractmethod
    def unknown(self, why: str) -> Any:
        """Return the verdict that is not known."""

    @abstractmethod
    def start(self) -> Any:
        """Return the beginning, with the settings of the place."""

    @abstractmethod
    def draw(self) -> None:
        """Show the place the explorer is at."""

    @abstractmethod
    def draw_top(self) -> None:
        """Show the program's name and its verdict."""

    @abstractmethod
    def go_by(self, by: int) -> None:
        """Go a step forward, or one back."""

    @property
    @abstractmethod
    def moves(self) -> str:
        """The name of the list of moves that keys are about."""

    def explore(self, session: Any, place: Any) -> None:
        """Begin with a program, at a place of it."""
        self.session = session
        self.place = place
        self.seen = session.view(place)
        self.about = session.about()
        self.verdict = None

    def on_mount(self) -> None:
        self.draw()
        self.focus_moves(self.moves)
        self.begin_to_decide()
        if self.follow is not None:
            Thread(target=self.follow, args=(partial(self._from_thread, self.changed),), daemon=True).start()

    def changed(self, found: Any) -> None:
        """Go on with the changed program, where the place was if there is one like it; a text says what is wrong with it."""
        if isinstance(found, str):
            self.say(found)
            return
        try:
            place = found.place(found.address(self.place))
        except UsageError:
            place = self.start()
        self.explore(found, place)
        self.draw()
        self.focus_moves(self.moves)
        self.begin_to_decide()

    def to(self, way: Callable[[], Any]) -> None:
        """Go to the place that `way` finds; say it if there is none, as where a run has become too long."""
        moves = self.moves
        try:
            self.place = way()
        except UsageError as error:
            self.say(str(error))
            return
        self.draw()
        self.focus_moves(moves)

    def list_moves(self, name: str, options: Iterable[tuple[int, Text]], highlighted: int | None) -> None:
        """Show the moves with their choices in a list; one without a highlighted move is not shown."""
        moves = self.query_one(f"#{name}", OptionList)
        moves.clear_options()
        moves.add_options([Option(text, id=str(choice)) for choice, text in options])
        moves.highlighted = highlighted
        moves.display = highlighted is not None

    def focus_moves(self, name: str) -> None:
        moves = self.query_one(f"#{name}", OptionList)
        if moves.display:
            moves.focus()

    def begin_to_decide(self) -> None:
        # A daemon, because quitting must not wait for it.
        Thread(target=self._decide, args=(self.session,), daemon=True).start()

    def _decide(self, session: object) -> None:
        try:
            found = self.decide(session)
        except RdmaRobustError as error:
            found = self.unknown(f"internal error: {error}")
        self._from_thread(self._decided, session, found)

    def _from_thread(self, what: Callable[..., None], *about: object) -> None:
        # The user may have quit by now.
        with suppress(RuntimeError):
            self.call_from_thread(what, *about)

    def _decided(self, session: object, found: Any) -> None:
        if session is self.session:
            self.verdict = found
            self.draw_top()

    def action_step_back(self) -> None:
        self.go_by(-1)

    def action_step_forward(self) -> None:
        self.go_by(1)

    def action_restart(self) -> None:
        self.to(self.start)

    def action_share(self) -> None:
        self.say(f"--state '{self.session.address(self.place)}'")

    def action_program(self) -> None:
        self.screen.toggle_class("show-source")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - as the base class has it
        """While the help is open, keys close it and do nothing else."""
        return action == "quit" or not isinstance(self.screen, Keys)

    def action_help(self) -> None:
        self.push_screen(Keys(self.KEYS))

    def say(self, text: str) -> None:
        self.notify(text, markup=False, timeout=8)


def need_terminal() -> None:
    """Raise UsageError without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("--tui needs a terminal")


def value_cells(values: Sequence[ValueView]) -> list[str | tuple[str, str]]:
    """Return names with their values, the changed ones reversed."""
    return [(f" {v.name} = {v.value} ", "reverse" if v.changed else "") for v in values]


def run_row(number: int, at: int, told: str, *, wrong: bool) -> Text:
    """Return a step of a run as a row: those behind the place `at` are dim, and what goes wrong before it stands out."""
    style = "dim italic" if number > at else BAD if wrong else "bold" if number == at else ""
    return Text(f"{'▸' if number == at else ' '}{number:3} {told}", style)
