"""The help of `messages` and of its commands."""

from typing import Final

MESSAGES_HELP = """Decide programs of processes that send and receive messages, `.mp`, and recorded runs of such programs.

Which receive takes which message may differ from run to run. All of it is decided: whether an assertion can fail, whether
processes can wait for ever, which receives race, and that under rendezvous, with unlimited buffers, and where the runtime
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

FILE is a program `.mp`, a trace `.json`, a directory (every *.mp below it), a glob pattern, or - for standard input.

\b
Columns
  asserts    hold, or VIOLATED: an assertion is false, or something goes wrong, in some run
  deadlock   no, or the buffers under which processes can wait for ever: YES if all that were asked about
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

MESSAGES_COMMANDS: Final = {
    "check": CHECK_HELP,
    "trace": TRACE_HELP,
    "matches": MATCHES_HELP,
    "explain": EXPLAIN_HELP,
}
"""All commands of `messages`, in the order of the help."""
