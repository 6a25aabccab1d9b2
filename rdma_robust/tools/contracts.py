"""Contracts of functions that pass messages."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import RUNS, CommandEntry, SettingKind, Tool, function_of

CONTRACTS_HELP = """Check the procedures of programs that pass messages, `.mp`, against their contracts.

A contract says what a procedure requires, what it ensures at all processes together, for whom it waits, and when it stays
quiet. Each is checked for n = 1, 2, ... processes and all inputs within its bounds; a violation comes as the chart of a run
that was replayed.

\b
  rdma-robust contracts FILE...           the same as: rdma-robust contracts check FILE...
  rdma-robust contracts COMMAND --help    what it does, its options, exit codes, examples
\b
Examples
  rdma-robust contracts check bcast.mp
  rdma-robust contracts explain bcast.mp -o bcast.html
"""

CHECK_HELP = """Check every function that has a contract, for each number of processes. This is the default command.

FILE is a program `.mp`, a directory (every *.mp below it), a glob pattern, or - for standard input.

\b
Columns
  verdict  verified, VIOLATED with the class of the error, or UNKNOWN with the limit
  n        the numbers of processes that the verdict is about; every: proved for all there are (--any-n)
  mode     modular: against the contracts of what it calls; inlined: with the bodies of what it calls
  bounds   the inputs that were looked at
  runs     runs that were followed, one for each way in which receives take messages
  z3       questions to the solver
\b
Classes of errors
  RTE  something goes wrong in a body
  CCM  processes make different calls
  DL   processes wait forever
  SGV  what is ensured of the state is false
  PGV  what is promised of the order of events is false
  SRV  what a callee requires of the state is false
  PRV  what a callee requires of the order of events is false
  ITF  a receive from any may take a message from outside
  INV  an invariant of a loop is false at its head
\b
Exit codes (the worst file counts, in the order 4, 2, 3, 1)
  0  all verified (--expect: all as expected)     3  unknown: a limit was reached
  1  violated (--expect: a mismatch)              4  internal error
  2  usage, or an invalid program                 130  interrupted
\b
Examples
  rdma-robust contracts check litmus/contracts/
  rdma-robust contracts check --procs 1..6 --only gather,bcast allgather.mp
  rdma-robust contracts check --any-n bcast.mp
  rdma-robust contracts check --expect --format json litmus/contracts/
  rdma-robust contracts check src/ -o contracts.sarif
"""

EXPLAIN_HELP = """Draw the run that violates a contract as a sequence chart, and say what is wrong.

Shown is for each function the violation for the fewest processes: its clause, the inputs, the run event by event, and what
processes have where they pass. Every run that is shown was replayed.

\b
Forms
  text     for the terminal            svg   the chart alone
  html     one page for a browser      json  all of it
  mermaid  a sequenceDiagram, for wikis
\b
Exit codes
  0  all verified   1  violated   2  usage, invalid program   3  unknown   4  internal error
\b
Examples
  rdma-robust contracts explain bcast.mp
  rdma-robust contracts explain --only gather --procs 3 gather.mp -o gather.html
"""

INFER_HELP = """Say what functions can promise of the order of events, and what they have to require of it.

For each function with a contract: the weakest `quiet from` without which a receive from any could take a message from
outside, and the strongest `waitsfor` and `quiet to` that hold, of clauses over PID, NPROCS, neighbours and parameters that
are numbers of processes. Every clause that is printed was verified for all these n and all inputs within the bounds.

\b
Exit codes
  0  found   2  usage, invalid program   3  a limit, or a function that is wrong otherwise   4  internal error
\b
Examples
  rdma-robust contracts infer bcast.mp
  rdma-robust contracts infer --only gather --procs 2..4 gather.mp
"""


TOOL: Final = Tool(
    "contracts",
    commands=(
        CommandEntry(
            "contracts",
            CONTRACTS_HELP,
            rank=250,
            group=("Decide", 100),
            reads=(".mp",),
            settings=(*RUNS, "timeout", "memory", "procs", "mode", "self-check", "explain"),
            below=(
                CommandEntry("check", CHECK_HELP, function_of("contracts check"), reads=(".mp",)),
                CommandEntry("explain", EXPLAIN_HELP, function_of("contracts explain"), reads=(".mp",)),
                CommandEntry("infer", INFER_HELP, function_of("contracts infer"), reads=(".mp",)),
            ),
            default="check",
        ),
    ),
    settings=(
        SettingKind("procs", "text", 60),
        SettingKind("mode", "text", 70),
    ),
    reports=("rdma_robust.questions.contracts_part:CONTRACTS_PART",),
)
