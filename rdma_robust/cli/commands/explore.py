"""The `explore` command: step through the machines or the processes of one program, in the browser or in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.option_sets import HardwareOptions, with_option_sets
from rdma_robust.cli.watching import WatchedFiles, changes_of, need_watchfiles
from rdma_robust.errors import InternalError, RdmaRobustError, SizeLimitError, UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.deciding import exit_of_error, message_of
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.apart import each_apart
from rdma_robust.frame.shell.inputs import Missing, Source, expand, read_source
from rdma_robust.frame.shell.stderr import warn, warn_of
from rdma_robust.frame.shell.stop import Stopped
from rdma_robust.guard import Overrun, guarded_by, out_of_memory
from rdma_robust.limits import Limits
from rdma_robust.messages.language.recognised import is_messages
from rdma_robust.options import CheckOptions
from rdma_robust.questions.messages_question import is_trace, read_messages
from rdma_robust.text import one_line, printable
from rdma_robust.value_ranges import file_of, one_value

if TYPE_CHECKING:
    from rdma_robust.messages.language.message_program import MessageProgram
    from rdma_robust.teaching.explorer.live import Decide, Explorable, Follow
    from rdma_robust.teaching.explorer.message_session import MessageSession
    from rdma_robust.teaching.explorer.session import Session
    from rdma_robust.teaching.explorer.view import MessageVerdictView, VerdictView

BufferToExplore = Literal["zero", "infinite", "any"]
ONLY_RDMA = ("ordered_reads", "cpu", "atomics", "order", "recv_depth", "await_loops")
Verdict = TypeVar("Verdict")
Tui = Annotated[bool, typer.Option("--tui", help="Explore in this terminal instead of the browser.")]
Port = Annotated[
    int, typer.Option(metavar="N", min=0, max=65_535, help="Port of the page.", show_default="any that is free")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
State = Annotated[
    str, typer.Option(metavar="STATE", help="Begin with a shared state: what follows # in a link.", show_default=False)
]
DecideTimeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", callback=arguments.seconds, help="Time limit for deciding; 0 for none.", show_default="60"
    ),
]
StartBuffer = Annotated[
    BufferToExplore | None,
    typer.Option(
        "--buffer",
        help="Of message programs, when a send completes at first: zero, at its match; infinite, at once; any, either.",
        show_default="any",
    ),
]


@dataclass(frozen=True, slots=True)
class ExploreRequest:
    """The program to explore, and where to begin. `options` are those of deciding; `port` 0 is any that is free.

    `buffer` is only for message programs, and the options named `about_rdma` were given and are not.
    """

    file: str
    options: CheckOptions
    buffer: BufferToExplore | None = None
    port: int = 0
    browser: bool = True
    tui: bool = False
    state: str = ""
    watch: bool = False
    about_rdma: tuple[str, ...] = ()


@with_option_sets
def explore_command(
    context: typer.Context,
    file: arguments.File,
    *,
    tui: Tui = False,
    port: Port = 0,
    browser: Browser = True,
    state: State = "",
    hardware: HardwareOptions,
    buffer: StartBuffer = None,
    define: arguments.Define = None,
    timeout: DecideTimeout = 60,
    memory: arguments.Memory = None,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    options = CheckOptions(
        **hardware.values(),
        timeout=arguments.limit(timeout),
        memory=arguments.memory_limit(memory),
        define=tuple(define or ()),
    )
    sources = {name: context.get_parameter_source(name) for name in ONLY_RDMA}
    said = tuple(name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE")
    request = ExploreRequest(file, options, buffer, port, browser, tui, state.rpartition("#")[2], watch, said)
    context.obj.append(partial(run_explore, request))


def run_explore(request: ExploreRequest) -> Exit:
    """Let the user explore until Ctrl-C, or the end of the terminal interface. Raises UsageError."""
    one_value(request.options.define, "explore")
    items = expand([request.file], suffixes=registry.folder_suffixes(), define=request.options.define)
    item = items[0]
    if isinstance(item, Missing):
        warn(item.message())
        return Exit.INVALID
    if len(items) > 1:
        raise UsageError(f"explore takes one program, and {printable(request.file)} stands for {len(items)}")
    if request.tui and item.path is None:
        raise UsageError("--tui needs standard input for its keys: give the program as a file")
    if request.watch:
        WatchedFiles([request.file], request.options.define)
        need_watchfiles()
    _need("textual" if request.tui else "uvicorn", *(() if request.tui else ("starlette",)))
    try:
        with guarded_by(request.options.limits()):
            session = open_session(item, request)
        _explore(session, replace(request, state=session.seen(request.state).address if request.state else ""))
    except Stopped as stop:
        if stop.exit is not Exit.INTERRUPTED:
            raise
        warn("stopped")
    except BrokenPipeError:
        raise
    except Exception as error:
        warn(message_of(error, item.name))
        return exit_of_error(error)
    return Exit.OK


def _need(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        names = " and ".join(missing)
        raise UsageError(f"explore needs {names}, which is not installed here: pip install {' '.join(missing)}")


def open_session(item: Source, request: ExploreRequest, *, warnings: bool = True) -> Session | MessageSession:
    """Return an exploration of a program, with its warnings told or not. Raises what reading it does."""
    if is_trace(item):
        return _message_session(item, request, warnings=warnings)
    text, options = read_source(item), request.options
    if is_messages(text, file_of(item.name)):
        return _message_session(item, request, warnings=warnings)
    if request.buffer is not None:
        raise UsageError(f"--buffer is for message programs, and {printable(item.name)} is none")
    from rdma_robust.language.flow.spinning import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415
    from rdma_robust.teaching.explorer.session import Session  # noqa: PLC0415 - slow, and reading may have failed

    program = blocking(load_decidable(text, item.name), options.await_loops)
    warn_of(program.warnings if warnings else (), item.name, text)
    return Session(program, model=options.on(program.hardware).model, await_loops=options.await_loops)


def _message_session(item: Source, request: ExploreRequest, *, warnings: bool) -> MessageSession:
    if request.about_rdma:
        option = request.about_rdma[0].replace("_", "-")
        raise UsageError(f"--{option} is about RDMA, and {printable(item.name)} is a message program")
    from rdma_robust.teaching.explorer.message_session import MessageSession  # noqa: PLC0415 - slow, as above

    program, notes = read_messages(item)
    warn_of(program.warnings if warnings else (), item.name, program.source)
    for note in notes if warnings else ():
        warn(f"{printable(item.name)}: note: {printable(note)}")
    return MessageSession(program, request.buffer or "any")


def _explore(session: Session | MessageSession, request: ExploreRequest) -> None:
    decide = partial(decided_view, request.options)
    follow = partial(_follow, request) if request.watch else None
    if request.tui:
        _in_terminal(session, decide, request, follow)
        return
    from rdma_robust.teaching.explorer.live import Live  # noqa: PLC0415 - slow
    from rdma_robust.teaching.explorer.server import Serving, serve  # noqa: PLC0415 - slow

    live = Live(session, decide, watched=request.watch)
    serve(live, Serving(request.port, request.state, request.browser, _say, follow))


def _in_terminal(session: Session | MessageSession, decide: Decide, request: ExploreRequest, follow: Follow | None) -> None:
    from rdma_robust.teaching.explorer.message_session import MessageSession  # noqa: PLC0415 - loaded if it is one

    if isinstance(session, MessageSession):
        from rdma_robust.teaching.explorer.message_terminal import run_message_terminal  # noqa: PLC0415 - slow

        run_message_terminal(session, decide, request.state, follow)
        return
    from rdma_robust.teaching.explorer.terminal import run_terminal  # noqa: PLC0415 - slow

    run_terminal(session, decide, request.state, follow)


def _follow(request: ExploreRequest, show: Callable[[Explorable | str], None]) -> None:
    """Show the program, or what is wrong with it, whenever its file has changed."""
    define = request.options.define
    for _ in changes_of(request.file, define):
        try:
            show(open_session(Source(request.file, request.file, define=define), request, warnings=False))
        except (RdmaRobustError, OSError) as error:
            show(message_of(error, request.file))


def decided_view(options: CheckOptions, session: Any) -> VerdictView | MessageVerdictView:
    """Return the verdict, decided in another process if there can be one: nothing is printed, the terminal may be in use.

    Raises InternalError.
    """
    from rdma_robust.teaching.explorer.message_session import MessageSession  # noqa: PLC0415 - only where it is wanted

    limits = options.limits()
    if isinstance(session, MessageSession):
        from rdma_robust.teaching.explorer.view import MessageVerdictView  # noqa: PLC0415

        return _apart(limits, partial(decided_messages, session.program, limits), partial(MessageVerdictView, "unknown"))
    from rdma_robust.teaching.explorer.session import session_verdict  # noqa: PLC0415 - slow, and nobody needs it at first
    from rdma_robust.teaching.explorer.view import VerdictView  # noqa: PLC0415 - loaded by then

    return _apart(limits, partial(session_verdict, session, options), partial(VerdictView, "unknown"))


def _apart(limits: Limits, decide: Callable[[], Verdict], unknown: Callable[[str], Verdict]) -> Verdict:
    """Return what `decide` does, in another process; `unknown` of the reason if a limit ends it. Raises InternalError."""

    def answer(_: int) -> Verdict | str:
        try:
            with guarded_by(limits):
                return decide()
        except (Overrun, SizeLimitError) as error:
            return not_known(str(error))
        except MemoryError as error:
            return not_known(out_of_memory(error))
        except Exception as error:
            return str(error) if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"

    def not_known(why: str) -> Verdict:
        return unknown(f"Not known: {one_line(why, 200)}")

    found = each_apart([""], limits, answer, lambda _, why, defect: why if defect else not_known(why))[0]
    if isinstance(found, str):
        raise InternalError(found)
    return found


def _say(url: str) -> None:
    print(f"Exploring at {url}\nCtrl-C ends it.", flush=True)


def decided_messages(program: MessageProgram, limits: Limits) -> MessageVerdictView:
    """Return the verdict under every buffer semantics, each with an equal part of the time that is left.

    Raises InternalError if a run that was found cannot be run.
    """
    from rdma_robust.messages.engines.engine_table import answered  # noqa: PLC0415 - slow, and nobody needs it at first
    from rdma_robust.messages.language.message_program import BUFFERS  # noqa: PLC0415
    from rdma_robust.messages.message_answers import MessageQuestions  # noqa: PLC0415
    from rdma_robust.messages.traces.logged_answers import as_far_as_logged  # noqa: PLC0415
    from rdma_robust.questions.messages_question import as_far_as_read  # noqa: PLC0415
    from rdma_robust.teaching.explorer.message_session import MessageSession, found_runs  # noqa: PLC0415

    answers = []
    for number, buffer in enumerate(BUFFERS):
        part = limits.share(1 / (len(BUFFERS) - number))
        ask = partial(answered, buffer=buffer, questions=MessageQuestions(pairs=False), limits=part)
        answers.append(as_far_as_read(program, as_far_as_logged(program, ask(program), ask)))
    return found_runs(MessageSession(program), answers)
