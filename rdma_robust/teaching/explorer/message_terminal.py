"""The explorer of message programs in a terminal: the same session and the same states as the page's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Footer, OptionList, Static

from rdma_robust.messages.language.message_program import BUFFERS
from rdma_robust.teaching.explorer.live import Decide, Follow
from rdma_robust.teaching.explorer.message_session import MessagePlace, MessageSession
from rdma_robust.teaching.explorer.terminal_app import (
    BAD,
    KINDS,
    RDMA,
    SC,
    STATUS_STYLE,
    WIDE,
    TerminalExplorer,
    need_terminal,
    run_row,
    value_cells,
)
from rdma_robust.teaching.explorer.view import (
    EndpointView,
    MessageMoveView,
    MessageProgramView,
    MessageVerdictView,
    MessageView,
    ProcessView,
)


class MessageExplorer(TerminalExplorer):
    """The source, the run with what can happen next, and its sequence chart."""

    CSS = (
        TerminalExplorer.CSS
        + """
    .-narrow #chart { display: none; }
    .-narrow.show-source #chart { display: block; }
    .-narrow.show-source #panes { layout: vertical; }
    .-narrow #source, .-narrow #chart { width: 100%; }
    #chart { overflow-x: auto; }
    #picture { width: auto; }
    """
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "witness", "found run"),
        Binding("l", "local", "local"),
        Binding("a", "auto", "auto"),
        Binding("b", "buffer", "buffer"),
    ]
    KEYS = (
        ("1 … 9, Enter", "make this move"),
        ("← →", "one step back, one step forward"),
        ("l", "let every process run until it waits or has to choose"),
        ("a", "do that after every move, or not"),
        ("b", "the next of zero, infinite and any buffers"),
        ("w", "the counterexample, if there is one; again: the next"),
        ("p", "source and chart, where there is not room for all"),
        ("n", "start again"),
        ("s", "the option that leads to this state"),
        ("?", "this help"),
        ("q", "quit"),
    )

    session: MessageSession
    verdict: MessageVerdictView | None

    def __init__(self, session: MessageSession, decide: Decide, place: MessagePlace, follow: Follow | None = None) -> None:
        super().__init__(decide, follow)
        self.auto = False
        self.explore(session, place)

    def explore(self, session: MessageSession, place: MessagePlace) -> None:
        """Begin with a program, at a place of it."""
        super().explore(session, place)
        self.shown_run = -1

    def start(self) -> MessagePlace:
        """Return the beginning under the buffers of the place."""
        return MessagePlace(self.place.buffer)

    def compose(self) -> ComposeResult:
        yield Static(id="top", markup=False)
        with Horizontal(id="panes"):
            with VerticalScroll(id="source", classes="pane"):
                yield Static(id="code", markup=False)
            with Vertical(id="run", classes="pane side"):
                yield Static(id="head", classes="head", markup=False)
                yield OptionList(id="moves")
                with VerticalScroll(can_focus=False):
                    yield Static(id="state", markup=False)
            with VerticalScroll(id="chart", classes="pane"):
                yield Static(id="picture", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def unknown(self, why: str) -> MessageVerdictView:
        """Return the verdict that is not known."""
        return MessageVerdictView("unknown", why)

    @property
    def moves(self) -> str:
        """The name of the list of moves: there is one."""
        return "moves"

    def draw(self) -> None:
        """Show the place the explorer is at."""
        self.seen = view = self.session.view(self.place, self.chart_width)
        self.draw_top()
        self.query_one("#code", Static).update(message_source(self.about, view))
        self.query_one("#head", Static).update(message_head(view))
        planned = view.steps[view.at].choice if view.at < len(view.steps) else 0
        self.list_moves("moves", message_options(view), planned if view.moves else None)
        self.query_one("#state", Static).update(message_state(view))
        self.query_one("#picture", Static).update(Text(view.chart, no_wrap=True))

    @property
    def chart_width(self) -> int:
        """How wide the pane of the chart is inside, or would be."""
        return max(30, int(self.size.width / 2.8 if self.size.width >= WIDE else self.size.width) - 6)

    def draw_top(self) -> None:
        """Show the program's name and its verdict."""
        self.query_one("#top", Static).update(message_top(self.about, self.seen, self.verdict, auto=self.auto))

    def take(self, choice: int) -> MessagePlace:
        """Return the place after a move, and after local steps if these go by themselves."""
        place = self.session.step(self.place, choice)
        return self.session.local(place) if self.auto else place

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.to(partial(self.take, int(event.option.id or 0)))

    def action_take(self, choice: int) -> None:
        if choice < len(self.seen.moves):
            self.to(partial(self.take, choice))

    def go_by(self, by: int) -> None:
        """Go a step; where local steps go by themselves, to where something was to be chosen."""
        at, steps = self.place.run.at + by, self.seen.steps
        while self.auto and 0 < at < len(steps) and steps[at].local:
            at += by
        if 0 <= at <= len(steps):
            self.to(partial(self.session.go, self.place, at))

    def action_local(self) -> None:
        self.to(partial(self.session.local, self.place))

    def action_auto(self) -> None:
        self.auto = not self.auto
        self.to(partial(self.session.local, self.place) if self.auto else lambda: self.place)

    def action_buffer(self) -> None:
        buffer = BUFFERS[(BUFFERS.index(self.place.buffer) + 1) % len(BUFFERS)]
        self.to(partial(self.session.buffered, self.place, buffer))

    def action_witness(self) -> None:
        runs = () if self.verdict is None else self.verdict.runs
        if not runs:
            self.say("The verdict is not known yet." if self.verdict is None else "There is no run to show.")
            return
        self.shown_run = (self.shown_run + 1) % len(runs)
        found = runs[self.shown_run]
        self.to(partial(self.session.place, found.address))
        self.say(f"{found.text}: a run of {found.steps} steps: → goes forward.")


def run_message_terminal(session: MessageSession, decide: Decide, state: str, follow: Follow | None = None) -> None:
    """Let the user explore in the terminal until they quit. Raises UsageError without a terminal."""
    need_terminal()
    MessageExplorer(session, decide, session.place(state), follow).run()


VERDICTS: Final = {"fine": ("OK", "bold green"), "wrong": ("GOES WRONG", f"bold {BAD}"), "unknown": ("undecided", "yellow")}
ENDS: Final = {
    "complete": ("Complete.", "bold green"),
    "deadlock": ("Deadlock.", f"bold {BAD}"),
    "stopped": ("Stopped.", "bold yellow"),
}


def message_top(about: MessageProgramView, view: MessageView, verdict: MessageVerdictView | None, *, auto: bool) -> Text:
    """Return the line at the top."""
    word, style = ("deciding …", "dim") if verdict is None else VERDICTS[verdict.verdict]
    why = "" if verdict is None else f" {verdict.text}"
    steps = "  local steps by themselves" if auto else ""
    return Text.assemble(
        (about.name, "bold"),
        "  ",
        (about.file, "dim"),
        "  ",
        (word, style),
        (why, "dim"),
        f"  buffer {view.buffer}",
        (steps, "dim"),
    )


def message_source(about: MessageProgramView, view: MessageView) -> Text:
    """Return the source with the processes' places."""
    marks: dict[int, list[tuple[str, str]]] = {}
    for process in view.processes:
        if process.line is not None:
            style = SC if process.status == "waiting" else RDMA
            marks.setdefault(process.line, []).append((f" ◂{process.name}", style))
    lines = []
    for number, pieces in enumerate(about.coloured, 1):
        row = Text.assemble((f"{number:4} ", "dim"), *((text, KINDS[kind]) for kind, text in pieces), no_wrap=True)
        lines.append(row + Text.assemble(*marks.get(number, ())))
    return Text("\n").join(lines)


def message_head(view: MessageView) -> Text:
    title = Text.assemble(("Run", f"bold {RDMA}"), (f"   step {view.at} of {len(view.steps)}", "dim"))
    if view.moves:
        title.append("\nWhat can happen next", "dim")
    return title


def message_options(view: MessageView) -> list[tuple[int, Text]]:
    """Return the moves that can be made, by their numbers."""
    planned = view.steps[view.at].choice if view.at < len(view.steps) else None
    return [(move.choice, _option(move, move.choice == planned)) for move in view.moves]


def _option(move: MessageMoveView, planned: bool) -> Text:
    return Text.assemble(
        (f"{move.choice + 1:2} ", "dim"),
        (f"{move.process} ", "bold"),
        _plain(move.label),
        (f"  line {move.line}" if move.line is not None else "", "dim"),
        (" ◂ this run", RDMA) if planned else "",
        (f"\n    {_plain(move.hint)}" if move.hint else "", "dim"),
        ("".join(f"\n    {each}" for each in move.faults), BAD),
    )


def _plain(text: str) -> str:
    return text.replace("`", "")


def message_state(view: MessageView) -> Text:
    """Return how the run stands: the end, what went wrong, processes, what is not matched, the run."""
    parts = {
        "Processes": Text("\n").join(map(_process, view.processes)),
        "Not matched yet": Text("\n").join(map(_endpoint, view.endpoints)),
        "The run": Text("\n").join(_run(view)),
    }
    titled = (Text.assemble((f"{title}\n", "dim"), part) for title, part in parts.items() if part.plain)
    return Text("\n\n").join([*_message_banners(view), *titled])


def _message_banners(view: MessageView) -> Iterable[Text]:
    if view.end.kind:
        word, style = ENDS[view.end.kind]
        reasons = "".join(f"\n {each}" for each in view.end.reasons)
        advice = f"\n{_plain(view.end.advice)}" if view.end.advice else ""
        yield Text.assemble((word, style), f" {view.end.text}", reasons, (advice, "dim"))
    if view.violations:
        yield Text("\n".join(map(_plain, view.violations)), BAD)


def _process(process: ProcessView) -> Text:
    where = f" line {process.line}" if process.line is not None else ""
    text = "" if process.status in ("ended", "stopped") else f" {process.text}"
    row = Text.assemble(
        (process.name, "bold"),
        " (daemon)" if process.daemon else "",
        (f" {process.status}", STATUS_STYLE[process.status]),
        f"{where}{text}",
        (f"\n  {process.note}" if process.note else "", "yellow"),
    )
    for values in (process.registers, process.requests):
        if values:
            row += Text.assemble("\n ", *value_cells(values))
    return row


def _endpoint(endpoint: EndpointView) -> Text:
    row = Text.assemble(("to ", "dim"), (endpoint.name, "bold"))
    for title, items in (("messages", endpoint.sends), ("receives", endpoint.receives)):
        if items:
            row.append(f"\n  {title}: {', '.join(each.text for each in items)}")
    return row


def _run(view: MessageView) -> Iterable[Text]:
    for number, step in enumerate(view.steps, 1):
        yield run_row(number, view.at, f"{step.process} {_plain(step.label)}", wrong=bool(step.faults))
