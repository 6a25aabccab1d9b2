"""Robustness of RDMA programs, `.rdma`, of those of Trencher, and of C: commands, certificates.

More than 400 lines: the help of twelve commands, each beside what registers it, which is the one place that tells of them.
"""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import LIMITS, RUNS, CertificateKind, CommandEntry, SettingKind, Tool, function_of
from rdma_robust.tools._rdma_front_ends import FRONT_ENDS
from rdma_robust.tools.shared import HARDWARE, MACHINE, SEARCH

VERIFY: Final = "rdma_robust.certify.checker:verify"
SAFETY: Final = {"safe": "is safe", "unsafe": "is unsafe"}

CHECK_HELP = """Decide robustness of every program. This is the default command.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input.

\b
Verdicts
  robust       all that RDMA allows, sequential consistency allows too: the search was exhausted
  NOT ROBUST   with a counterexample that the axioms of the model have confirmed
  UNKNOWN      a limit was reached, the row says which; try a larger --timeout, --memory or --max-states
  error        the program could not be read or is invalid; the others are still decided
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, or an invalid program                 130  interrupted
\b
Examples
  rdma-robust check sb.rdma                 one program, explained
  rdma-robust litmus/*.rdma --expect        a suite against its `expect` lines
  rdma-robust src/ --format json -o r.json  a report for machines
  rdma-robust --timeout 5 --max-states 1000000 'protocols/**/*.rdma'
  rdma-robust - < sb.rdma

--expect is about `expect` lines; `needs` lines are compared by rdma-robust needs --expect.

See also: rdma-robust outcomes FILE lists the final states that only RDMA reaches; rdma-robust fmt FILE formats.
"""

MODELS_HELP = """Decide programs on all hardware: with store buffers or without, and with weaker and stronger networks.

The table of a program has the verdict under every setting of --cpu, --atomics, --order and --ordered-reads, the strongest
first. Settings that make no difference to it are left out, and that is said. Beneath it stands which setting is the first
to break it, the one with the fewest steps away from the strongest, and why. Its `hardware` line only marks a row.

\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0    robust under all settings
  1    not robust under some
  2    usage, or an invalid program
  3    some setting is undecided, or the program
  4    internal error
  130  interrupted
\b
Examples
  rdma-robust models mp.rdma
  rdma-robust models litmus/ --format json -o models.json
"""

NEEDS_HELP = """Say what programs rely on: the minimal sets of guarantees of a network under which they are robust.

A guarantee is a cell of the order table that is kept, `nrW nrW` for two puts, a read that pushes writes out, or a rule,
such as that completions give order. Each set is told with the lines that its guarantees order and with what may happen
without one, then which order tables give one of the sets, and what others lack. The order of a `hardware` line is left out;
--order asks about the guarantees of one order: on which of them a program relies there.
--format md and csv write a matrix, programs against tables.
A line `needs nrW nrW, completions order` says that these are enough (`needs nothing`: none is); --expect compares.

\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0    all minimal sets were found (--expect: every `needs` line is enough)
  1    not robust, whatever is kept of the order of a queue pair (--expect: a line is not enough, or there is none)
  2    usage, or an invalid program
  3    something is left open
  4    internal error
  130  interrupted
\b
Examples
  rdma-robust needs ring.rdma
  rdma-robust needs litmus/ --format json -o needs.json
  rdma-robust needs protocols/ -o matrix.md
  rdma-robust needs protocols/ --expect --format sarif -o needs.sarif
"""

RACES_HELP = """Decide whether programs have data races under sequential consistency.

Two accesses of a location race if one writes, the location is not there to synchronise, and in some sequentially consistent
execution nothing orders them: no poll, flush, fence, message, barrier, start or end of a thread, nor a location that
synchronises. Those do that are declared so, `node B { sync flag, data }`; where none is, those that a thread awaits and
those of atomics. Each race is shown with a run up to both accesses, and with what would order them.

\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  none has a race (--expect: all as expected)   3  some unknown
  1  some have (--expect: a mismatch)              4  internal error
  2  usage, or an invalid program                  130  interrupted
\b
Examples
  rdma-robust races mailbox.rdma
  rdma-robust races --order none put-then-flag.rdma
  rdma-robust races litmus/races/ --expect
  rdma-robust races src/ --format sarif -o races.sarif
  rdma-robust races --certificate proofs/ mailbox.rdma

`expect race free` and `expect race` lines say what --expect compares. What cannot be answered within a limit is UNKNOWN.
"""

SCALE_HELP = """Decide one program for many values of a constant, and say how the answer changes and the search grows.

-D NAME=2..8 says for which values. The table has verdict, states, transitions and time of each. Beneath it stands where
the verdict changes, and the law by which the states grow: constant, polynomial or exponential, exactly where it is, else by
least squares on logarithms with how far it is off. Instances that a limit cuts say nothing about growth.

\b
Forms
  text   the table                     html   one page with the table and charts
  json   by scale.schema.json          svg    the chart of the states
  csv    a row for each value
\b
Exit codes (the worst instance counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, or an invalid program                 130  interrupted
\b
Examples
  rdma-robust scale -D N=2..8 ring.rdma
  rdma-robust scale -D N=2..8 -D ROUNDS=1 --timeout 20 ring.rdma -o ring.html
"""

OUTCOMES_HELP = """List the reachable final states of a program under SC and under RDMA side by side.

Final states that only RDMA reaches are marked, and the `outcome` lines of the program are checked. A program with loops
may have infinitely many states: it is searched up to a limit (--under-way, --max-states, --depth), which is reported.
With --models no line is checked: the table says which setting of the hardware is the first to allow each final state.

\b
Exit codes
  0  every claim of the `outcome` lines holds
  1  a claim fails
  2  usage, invalid program
  3  a search was cut: a claim is undecided, or nothing is claimed and the list may be incomplete
  4  internal error
\b
Examples
  rdma-robust outcomes litmus/sb-put-plain.rdma
  rdma-robust outcomes --under-way 8 pingpong.rdma
"""

EXPLAIN_HELP = """Explain the verdict of one program; with --model, the answers of `prove`, with --races those of `races`.

\b
Not robust  what the hardware does, why sequential consistency forbids it, which new final states it leads to; the
            run with the posting and the effects of every remote operation; the execution graph with its cycle
Robust      which accesses the hardware could reorder, and for each pair why no cycle closes
Unknown     the limit that was reached, and what is known all the same
--model     the facts that make it safe and the fences they need, or the run that violates a claim
--races     each data race with the run up to both accesses, and what would order them
\b
Forms
  text   for the terminal         json   all of it, by schema/explain.schema.json (--model: schema/prove.schema.json,
                                         --races: schema/races.schema.json)
  html   one page for a browser   svg    the execution graph, or (--of timeline) the run; --races: that of the first race
  dot    the execution graph for Graphviz
\b
Exit codes
  0  robust   1  not robust   2  usage, invalid program, cannot write   3  unknown   4  internal error
\b
Examples
  rdma-robust explain sb.rdma
  rdma-robust explain sb.rdma -o sb.html
  rdma-robust explain --model tso,pso lock.rdma
  rdma-robust explain --races mailbox.rdma -o mailbox.html
"""

HARDWARE_HELP = """Look at order tables: what networks keep of the order of a queue pair, with their sources.

\b
  hardware list              the tables of the tool
  hardware show TABLE...     cells, rules, sources and reasons, and what decides programs under it
  hardware check TABLE...    what is wrong with a file, and which facts of the proofs the table has
  hardware compare A B       which keeps more, the cells and rules in which they differ, and for each a smallest program
                             that tells A and A with this of B apart

TABLE is a name, FILE.toml or fi(FLAG, ...). --format json writes tables, and what tells them apart, by hardware.schema.json.

\b
Exit codes
  0  done      2  usage, or a file with mistakes
\b
Examples
  rdma-robust hardware show ooo-dp
  rdma-robust hardware compare multipath ooo-dp
  rdma-robust hardware compare relaxed relaxed-mr --up-to 3 -o apart.json
"""

SYNTHESISE_HELP = """Find the smallest programs that two hardware settings tell apart by a final state.

Settings are those of a `hardware` line; `order` takes files and flags of libfabric too. Listed are all programs of at
most N statements, of all threads together, that show a difference and have no part that does, each once up to the names
of threads, nodes, locations and values. They are written as litmus programs with `outcome` lines.

\b
Exit codes
  0  done, whatever was found    2  usage    3  a limit came first: what was found until then is written
\b
Examples
  rdma-robust synthesise --between 'cpu sc' 'cpu tso' --size 4
  rdma-robust synthesise --between 'order default' 'order multipath' --size 3 -o smallest
  rdma-robust synthesise --between 'atomics hca' 'atomics glob' --size 2 --statements store,remote-cas
"""

REPAIR_HELP = """Make a program robust by a cheapest set of polls, remote fences and flushes.

A flush is a get of any location of the node, polled to completion: it makes earlier puts visible. Every repair is decided
again from its text, and no poll is inserted that could wait forever. Costs are multiplied by 10 for each loop around an
insertion.

With --goal safe no claim is violated under a memory model: under rdma by the same insertions at the same costs, else by the
fewest `flush` (rma) or `mfence` statements (tso, pso), of cost 1 and once in loops; --sites and --from-full say among which.

With --for the program is to be robust under several order tables, each of them: one change for all that it runs on.

\b
Exit codes
  0  repaired, or fine already (--remove-needless: done)      3  a limit came first
  1  no repair exists (--remove-needless: not robust, safe)   4  internal error
  2  usage, invalid program, or a file that cannot be written
\b
Examples
  rdma-robust repair mailbox.rdma
  rdma-robust repair --write mailbox.rdma
  rdma-robust repair --diff --cost-flush 20 sb.rdma | patch
  rdma-robust repair --all-minimal --format json ring.rdma
  rdma-robust repair --remove-needless ring-polled.rdma -o ring.rdma
  rdma-robust repair --goal safe --model rma dekker.rdma
  rdma-robust repair --for ooo-dp,srd flag.rdma
"""

VERIFY_HELP = """Check what programs claim: every `assert`, every `outcome` line, and that nothing else goes wrong.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input. The answer says which argument
was used: the program is robust, so that all SC executions are all there is; or all states of the hardware were searched,
which ends for programs without loops; or a run of the hardware was found and confirmed. A thread goes on after an `assert`
that fails.

Every program claims as well that it cannot hang: that no thread comes to wait for what never comes. If one can, the threads
that wait are named, with a run. A claim whose line or final state is never reached is unreachable, and not one that holds.

\b
Forms
  text, json, jsonl  as those of check
  junit              a suite for each program, a test for each claim
  sarif              findings at the lines of the claims
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  every claim holds       2  usage, invalid program
  1  a claim is violated     3  a claim is unknown      4  internal error
\b
Examples
  rdma-robust verify lock.rdma
  rdma-robust verify litmus/ --timeout 10
  rdma-robust verify src/ --jobs 4 -o claims.sarif
  rdma-robust verify --format jsonl protocols/*.rdma
"""

REACH_HELP = """Ask of every program whether a state is reachable.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input.

CONDITION is over `Thread.register` and `Node.variable`, as in outcome lines, and over
`T1 ended`, `T1 at 12` (a statement of line 12 is next), `drained` (no remote operation is in flight).

\b
Answers
  REACHABLE    with a run that was replayed
  unreachable  all states were searched; or, under RDMA, the program is robust and SC does not reach the state;
               or the thread cannot do it whatever it reads: the report says which
  UNKNOWN      a limit was reached; in general the question is undecidable
\b
Forms
  text, json, jsonl  as those of check
  junit              a test for each program, which fails if the state is reachable
  sarif              a finding where a run comes to the state
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  unreachable   1  reachable   2  usage, invalid program or condition   3  unknown   4  internal error
\b
Examples
  rdma-robust reach mailbox.rdma --target 'Receiver.r == 2'
  rdma-robust reach lock.rdma -t 'T1 at 12 && T2 at 20'
  rdma-robust reach src/ --quiet -t 'A.balance == 0' -o reached.json
  rdma-robust reach sb.rdma --model sc -t 'T1 ended && T2 ended && T1.r == 0 && T2.r == 0'
"""

LINT_HELP = """Warn of likely mistakes in programs, without deciding them.

Every warning of `check`, and besides: results that are read before their poll, sources that are overwritten before
theirs, polls that prove less than they seem to, polls that find nothing, fences that order nothing, outcomes that no
execution has, variables that nobody reads. All paths of a thread are followed: what is said is true of the executions
that come there.
`// rdma-robust: ignore RR721` at the end of a line, or on the line before it, ignores a warning there.

\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  no warnings      2  usage, or an invalid program      4  internal error
  1  some warnings    3  a limit was reached
\b
Examples
  rdma-robust lint src/
  rdma-robust lint --needless ring.rdma
  rdma-robust lint --format github src/
"""

IMPORT_HELP = """Write C, or a program of another tool, as an `.rdma` program with the same verdict.

\b
Formats
  c         programs of C with verbs, OpenSHMEM or MPI; it is taken from the name, FILE.c. With one-sided operations they
            become `.rdma`, with the place in the C behind every statement; MPI without these becomes `.mp`
  trencher  automata over one memory of numbered locations, for CPUs with store buffers; `check`, `repair` and the other
            commands read such files as they are, by the name FILE.trencher or by how they begin
\b
Exit codes
  0  done    2  usage, invalid program, or one that the language cannot express    3  what is not decided, or a limit
\b
Examples
  rdma-robust import trencher peterson.trencher -o peterson.rdma
  rdma-robust import trencher --addresses 0..9 stack.txt
  rdma-robust import mailbox.c -o mailbox.rdma
  rdma-robust import --skeleton server.c
"""

EXPORT_HELP = """Write a program for another tool: SPIN, Petri-net coverability tools, Graphviz, a compiler of C.

\b
Forms
  promela   a model for SPIN: pan reports an error iff the program is not robust (a bounded model if it says so)
  spec      a Petri net for mist, QCover and ICover, and for `rdma-robust cover`: coverable iff not robust
  dot       a graph for Graphviz: the control graph of the VASS, or (--of program) of each process
  json      the VASS with its control graph written out, by schema/vass.schema.json
  verbs-c   C with verbs and a harness, which `rdma-robust check` answers as it does the program
  shmem-test, mpi-test
            C that runs the program many times on OpenSHMEM or MPI and compares what it saw with what the standard allows
  verbs-test
            the same on verbs, between processes that find each other over TCP, with what the hardware of the program allows
\b
Exit codes
  0  done    2  usage, invalid program, or one that the form cannot express    3  the control graph is too large
\b
Examples
  rdma-robust export --to promela sb.rdma -o sb.pml
  rdma-robust export --to spec --instrumentation pivot ring.rdma
  rdma-robust export --to verbs-c mailbox.rdma -o mailbox.c
  rdma-robust export --to mpi-test sb.rdma -o sb.c && mpicc -o sb sb.c
"""


TOOL: Final = Tool(
    "rdma",
    front_ends=FRONT_ENDS,
    commands=(
        CommandEntry(
            "check",
            CHECK_HELP,
            function_of("check"),
            rank=10,
            group=("Decide", 10),
            settings=(*LIMITS, *RUNS, "threads", *MACHINE, *SEARCH, "self-check", "explain", "enable", "disable"),
        ),
        CommandEntry(
            "models",
            MODELS_HELP,
            function_of("models"),
            rank=20,
            group=("Decide", 20),
            settings=(*LIMITS, "jobs", "recv-depth", "send-depth", "rnr", "await-loops", "quiet"),
        ),
        CommandEntry(
            "needs",
            NEEDS_HELP,
            function_of("needs"),
            rank=25,
            group=("Decide", 25),
            settings=(*LIMITS, "jobs", "expect", "max-checks", "recv-depth", "send-depth", "rnr", "await-loops", "quiet"),
        ),
        CommandEntry(
            "races",
            RACES_HELP,
            function_of("races"),
            rank=28,
            group=("Decide", 28),
            settings=(*LIMITS, *RUNS, *MACHINE, "explain"),
        ),
        CommandEntry(
            "scale",
            SCALE_HELP,
            function_of("scale"),
            rank=30,
            group=("Decide", 30),
            settings=(*LIMITS, *RUNS, *MACHINE, *SEARCH),
        ),
        CommandEntry(
            "outcomes",
            OUTCOMES_HELP,
            function_of("outcomes"),
            rank=70,
            group=("Decide", 60),
            settings=(*HARDWARE, "timeout", "max-states", "recv-depth", "send-depth", "rnr"),
        ),
        CommandEntry(
            "explain", EXPLAIN_HELP, function_of("explain"), rank=80, group=("Understand", 10), settings=(*LIMITS, *MACHINE)
        ),
        CommandEntry(
            "hardware",
            HARDWARE_HELP,
            function_of("hardware"),
            rank=135,
            group=("Understand", 35),
            reads=(".toml",),
        ),
        CommandEntry(
            "synthesise",
            SYNTHESISE_HELP,
            function_of("synthesise"),
            rank=140,
            group=("Understand", 40),
            settings=("timeout",),
        ),
        CommandEntry(
            "repair",
            REPAIR_HELP,
            function_of("repair"),
            rank=150,
            group=("Write and repair", 30),
            settings=(
                *LIMITS,
                *MACHINE,
                "cost-poll",
                "cost-rfence",
                "cost-flush",
                "cost-order",
                "cost-mfence",
                "loop-weight",
            ),
        ),
        CommandEntry(
            "verify",
            VERIFY_HELP,
            function_of("verify"),
            rank=190,
            group=("Decide", 40),
            settings=(
                *LIMITS,
                *HARDWARE,
                "jobs",
                "threads",
                "recv-depth",
                "send-depth",
                "rnr",
                "explain",
                "quiet",
                "no-hangs",
                "strict",
            ),
        ),
        CommandEntry(
            "reach",
            REACH_HELP,
            function_of("reach"),
            rank=180,
            group=("Decide", 50),
            settings=(*LIMITS, *HARDWARE, "jobs", "threads", "recv-depth", "send-depth", "rnr", "explain", "quiet"),
        ),
        CommandEntry(
            "lint",
            LINT_HELP,
            function_of("lint"),
            rank=210,
            group=("Decide", 110),
            settings=("timeout", "memory", "quiet", "needless", "enable", "disable"),
        ),
        CommandEntry("import", IMPORT_HELP, function_of("import"), rank=130, group=("Write and repair", 40)),
        CommandEntry(
            "export", EXPORT_HELP, function_of("export"), rank=120, group=("Report", 40), settings=(*HARDWARE, "await-loops")
        ),
    ),
    settings=(
        SettingKind("max-checks", "whole", 45),
        SettingKind("ordered-reads", "yes or no", 120),
        SettingKind("cpu", "text", 130),
        SettingKind("atomics", "text", 140),
        SettingKind("order", "text", 150),
        SettingKind("recv-depth", "whole", 160),
        SettingKind("send-depth", "whole", 165),
        SettingKind("rnr", "text", 167),
        SettingKind("await-loops", "yes or no", 170),
        SettingKind("instrumentation", "text", 180),
        SettingKind("engine", "text", 190),
        SettingKind("kernel", "text", 200),
        SettingKind("reductions", "text", 210),
        SettingKind("no-hangs", "yes or no", 250),
        SettingKind("strict", "yes or no", 260),
        SettingKind("needless", "yes or no", 290),
        SettingKind("claims", "number", 300),
        SettingKind("enable", "list", 310),
        SettingKind("disable", "list", 320),
        SettingKind("cost-poll", "whole", 330),
        SettingKind("cost-rfence", "whole", 340),
        SettingKind("cost-flush", "whole", 350),
        SettingKind("cost-order", "whole", 355),
        SettingKind("cost-mfence", "whole", 360),
        SettingKind("loop-weight", "whole", 370),
    ),
    certificates=(
        CertificateKind(
            "rdma",
            VERIFY,
            {
                "robust": "is robust",
                "not-robust": "is not robust",
                "race": "has a data race",
                "race-free": "is race free",
                **SAFETY,
            },
        ),
        CertificateKind("flow-graphs", VERIFY, {}),
    ),
    folders=(".rdma",),
    written=(".rdma",),
)
