"""Programs of processes that send and receive messages, `.mp`: commands, front end, certificates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.frame.registry import RUNS, CertificateKind, CommandEntry, FrontEnd, SettingKind, Tool, function_of
from rdma_robust.messages.language.recognised import has_contracts, is_messages

if TYPE_CHECKING:
    from rdma_robust.frame.editor import Editor


MESSAGES_HELP = """Decide programs of processes that send and receive messages, `.mp`, and recorded runs of such programs.

Which receive takes which message may differ from run to run. All of it is decided: whether an assertion can fail, whether
processes can wait forever, which receives race, and that under rendezvous, with unlimited buffers, and where the runtime
may buffer a message or not.

\b
  rdma-robust messages FILE...           the same as: rdma-robust messages check FILE...
  rdma-robust messages COMMAND --help    what it does, its options, exit codes, examples
\b
Examples
  rdma-robust messages check relay.mp
  rdma-robust messages explain relay.mp -o relay.html
"""

CHECK_HELP = """Decide every message program: assertions and faults, deadlock, races, leaks. This is the default command.

FILE is a program `.mp`, a trace `.json`, C with MPI messages, a directory (every *.mp below it), a glob pattern, or - for
standard input. C needs -n, the number of its processes.

\b
Columns
  asserts    hold, or VIOLATED: an assertion is false, or something goes wrong, in some run
  deadlock   no, or the buffers under which processes can wait forever: YES if all that were asked about
  races      receives that can take more than one message; a note, not a mistake
  matchings  in how many ways receives can take messages in complete runs, up to a small number
\b
Buffers
  zero      a send waits until a receive takes its message: rendezvous
  infinite  a send never waits: every message is buffered
  any       the runtime may buffer a message or not: what it may refuse counts as a deadlock
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  asserts hold, no deadlock (--expect: all as expected)   3  unknown: a limit was reached
  1  violated or deadlock (--expect: a mismatch)             4  internal error
  2  usage, or an invalid program                            130  interrupted
\b
Examples
  rdma-robust messages check relay.mp
  rdma-robust messages check --buffer any --deny race,leak src/
  rdma-robust messages check --expect litmus/messages/
  rdma-robust messages check --format json -D N=2..5 ring.mp
  rdma-robust messages check -n 2..4 ring.c
"""

TRACE_HELP = """Run a message program once and write what happened as a trace, or convert a recorded run to one.

A trace says what each process did, and fixes the way through the program; which receive takes which message is open. So
the answers of check, matches and explain about a trace are about all runs in which each process goes that way.

\b
Imports
  mp-trace  the text format of the authors of the method: one task an event a line
  mpi-log   logs of MPI calls as JSON lines, one file for each rank; payloads are what was recorded
\b
Exit codes
  0  written    2  usage, invalid input, a file that is there already    3  a limit    4  internal error
\b
Examples
  rdma-robust messages trace relay.mp --seed 3 -o run.json
  rdma-robust messages trace --import mp-trace figure1.txt -o figure1.json
  rdma-robust messages trace --import mpi-log rank0.jsonl rank1.jsonl -o run.json
"""

RECORD_HELP = """Run a program with MPI, record its calls, and decide the run with every other matching.

A library that is compiled for the MPI of the program, Open MPI or MPICH, is loaded into each of its processes, and writes
down what they call. So any language will do. The run becomes a trace: the same calls of each process, in which other
receives from any may take other messages. Of a run that does not end in time it is decided what was recorded.

\b
Exit codes
  0  nothing is wrong in any of these runs    2  usage, no MPI, what cannot be recorded    4  internal error
  1  something is                             3  unknown: a limit, or a run that was cut
\b
Examples
  rdma-robust messages record -n 4 ./solver input.txt
  rdma-robust messages record -n 4 --run-timeout 10 --out run.json -- ./solver --quick
  rdma-robust messages record --library-only -o librecord.so
"""

MATCHES_HELP = """Say which receive can take which message, in all runs of message programs.

\b
Lists
  pairs      each receive with the sends that it can take, in complete runs or others; more than one is a race
  --count    in how many ways all receives of a complete run can be matched
  --list     these ways one by one
  --effects  what a race can change: nothing, final values, or what goes wrong, with two runs that differ
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all pairs were found        3  a limit was reached: what was found is listed
  2  usage, invalid program      4  internal error
\b
Examples
  rdma-robust messages matches relay.mp
  rdma-robust messages matches --buffer zero --count --list relay.mp
"""

EXPLAIN_HELP = """Draw one run of a message program as a sequence chart, and say why it goes wrong.

Shown is a violated assertion or a fault, else a deadlock with what each process waits for and advice, else a leak, else a
receive that races, else any complete run. Every run that is shown was replayed.

\b
Forms
  text  for the terminal            svg   the chart alone
  html  one page for a browser      dot   the matches for Graphviz
  json  all of it
\b
Exit codes
  0  asserts hold, no deadlock   1  violated or deadlock   2  usage, invalid program   3  unknown   4  internal error
\b
Examples
  rdma-robust messages explain relay.mp
  rdma-robust messages explain --buffer zero relay.mp -o relay.html
"""


def _formatted(text: str, file: str) -> str:
    from rdma_robust.messages.language.message_printer import format_messages  # noqa: PLC0415 - slow

    return format_messages(text, file)


def _written_out(text: str, file: str) -> str:
    from rdma_robust.messages.language.load_messages import load_messages  # noqa: PLC0415 - slow
    from rdma_robust.messages.language.messages_text import program_text  # noqa: PLC0415

    return program_text(load_messages(text, file))


def _defined(text: str, define: Sequence[str], _: str) -> str:
    from rdma_robust.language.defines import with_definitions  # noqa: PLC0415 - slow, and few programs are read so
    from rdma_robust.messages.language.message_words import message_grammar  # noqa: PLC0415

    return with_definitions(text, define, message_grammar())


def _diagnostics(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return what reading a program and its contracts finds: the errors of both, or their warnings."""
    from rdma_robust.contracts.language.load_contracts import load_contracts  # noqa: PLC0415 - slow
    from rdma_robust.messages.language.load_messages import load_messages  # noqa: PLC0415

    try:
        of_contracts = load_contracts(text, file).warnings if has_contracts(text) else ()
        return tuple(dict.fromkeys((*of_contracts, *load_messages(text, file).warnings)))
    except ProgramError as error:
        return error.diagnostics


def _editor() -> Editor:
    from rdma_robust.editing.message_hovers import message_hover, message_offers  # noqa: PLC0415 - slow, and only in editors
    from rdma_robust.frame.editor import Editor  # noqa: PLC0415

    return Editor(_diagnostics, hover=message_hover, completions=message_offers)


TOOL: Final = Tool(
    "messages",
    front_ends=(
        FrontEnd(
            "mp",
            (".mp",),
            is_messages,
            _formatted,
            _written_out,
            defined=_defined,
            default=("messages", "check"),
            editor=_editor,
            elsewhere={
                ".rdma": "this is a message program; `rdma-robust messages check` decides it, `messages explain` draws it"
            },
        ),
    ),
    commands=(
        CommandEntry(
            "messages",
            MESSAGES_HELP,
            rank=240,
            group=("Decide", 90),
            reads=(".mp", ".json"),
            settings=(*RUNS, "timeout", "memory", "deny", "buffer", "loop-bound", "matches", "self-check", "explain"),
            below=(
                CommandEntry("check", CHECK_HELP, function_of("messages check"), reads=(".mp", ".json")),
                CommandEntry("trace", TRACE_HELP, function_of("messages trace"), reads=(".mp", ".txt", ".jsonl")),
                CommandEntry("record", RECORD_HELP, function_of("messages record"), reads=()),
                CommandEntry("matches", MATCHES_HELP, function_of("messages matches"), reads=(".mp", ".json")),
                CommandEntry("explain", EXPLAIN_HELP, function_of("messages explain"), reads=(".mp", ".json")),
            ),
            default="check",
        ),
    ),
    settings=(
        SettingKind("deny", "text", 80),
        SettingKind("buffer", "text", 90),
        SettingKind("loop-bound", "whole", 100),
        SettingKind("matches", "yes or no", 110),
    ),
    certificates=(
        CertificateKind(
            "mp",
            "rdma_robust.certify.checker:verify",
            {
                "holds": "has no false assertion and no fault",
                "violated": "has a false assertion or a fault",
                "deadlock-free": "has no deadlock",
                "deadlocks": "has a deadlock",
            },
        ),
    ),
    reports=("rdma_robust.questions.messages_part:MESSAGES_PART",),
    folders=(".mp",),
    written=(".mp",),
)
