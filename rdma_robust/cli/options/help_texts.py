"""Help of commands: long texts, kept apart from the options."""

from typing import Final

from rdma_robust.cli.options.contracts_help_text import CONTRACTS_COMMANDS, CONTRACTS_HELP
from rdma_robust.cli.options.messages_help_text import MESSAGES_COMMANDS, MESSAGES_HELP
from rdma_robust.cli.options.models_help_text import MODELS_HELP
from rdma_robust.cli.options.prove_help_text import PROVE_HELP
from rdma_robust.cli.options.scale_help_text import SCALE_HELP
from rdma_robust.cli.options.tool_help_texts import COMPLETION_HELP, EXPLAIN_CODE_HELP, LSP_HELP, NEW_HELP

DEMO_HELP = """Walk through the proofs of the paper as programs that run: without a name, list the demos.

A demo tells what its theorem says, generates the programs of the proof, runs them, and says what to try next. On a
terminal it pauses between sections; --pace 0 does not. Ctrl-C ends it.

\b
Exit codes
  0  told, whatever the answer      2  usage, invalid input      130  interrupted
\b
Examples
  rdma-robust demo
  rdma-robust demo abp
  rdma-robust demo pcp --top a,ab,bba --bottom baa,aa,bb --html pcp.html
"""

FMT_HELP = """Format programs, `.rdma` and `.mp`: print them in their one layout, comments kept.

A program that does not parse is reported and never written.

\b
Exit codes
  0  done (--check: nothing would change)    1  --check: something would change    2  usage, invalid program
\b
Examples
  rdma-robust fmt sb.rdma
  rdma-robust fmt --check litmus/
  rdma-robust fmt --write *.rdma
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

VERIFY_CERTIFICATE_HELP = """\
Check certificates of `check`, `prove`, `cover` or `messages check`, without the engines that found the verdicts.

FILE is a certificate, a directory (every *.json and *.json.gz below it), a glob pattern, or - for standard input. Each
names the file that it is about, relative to its own folder, and holds only for that file's text. With --proven rdma-judge
(in PATH, or what RDMA_ROBUST_JUDGE names), which is extracted from machine-checked proofs, has to agree.

\b
Exit codes (the worst certificate counts)
  0  all valid   1  some invalid   2  usage, unreadable   3  with --proven: not decided   4  internal error
\b
Examples
  rdma-robust check --certificate proofs/ litmus/*.rdma
  rdma-robust verify-certificate proofs/
  rdma-robust verify-certificate sb.rdma.json --input sb.rdma
"""

REACH_HELP = """Ask of every program whether a state is reachable.

FILE is a file, a directory (every *.rdma below it), a glob pattern, or - for standard input.

CONDITION is over `Thread.register` and `Node.variable`, as in outcome lines, and over
`T1 ended`, `T1 at 12` (a statement of line 12 is next), `drained` (no remote operation is under way).

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

COVER_HELP = """Decide coverability of Petri nets in the `.spec` format of mist, QCover and ICover.

FILE is a file, a directory (every *.spec below it), a glob pattern, or - for standard input.

\b
Verdicts
  safe     no initial marking leads to a marking of the target
  UNSAFE   with the firing sequence that covers a target, replayed
  UNKNOWN  a limit was reached, the row says which
  error    the net could not be read, or is no Petri net; the others are still decided
\b
Exit codes (the worst net counts, in the order 4, 2, 3, 1)
  0  all safe (--expect: all as expected)         3  some unknown
  1  some unsafe (--expect: a mismatch)           4  internal error
  2  usage, or an invalid net                     130  interrupted
\b
Examples
  rdma-robust cover mutex.spec
  rdma-robust cover nets/ --timeout 20 --jobs 2 --format jsonl
  rdma-robust cover --markings - < pump.spec
"""

EXPORT_HELP = """Write a program for another tool: SPIN, Petri-net coverability tools, Graphviz.

\b
Forms
  promela   a model for SPIN: pan reports an error iff the program is not robust (a bounded model if it says so)
  spec      a Petri net for mist, QCover and ICover, and for `rdma-robust cover`: coverable iff not robust
  dot       a graph for Graphviz: the control graph of the VASS, or (--of program) of each process
  json      the VASS with its control graph written out, by schema/vass.schema.json
\b
Exit codes
  0  done    2  usage, invalid program, or one that the form cannot express    3  the control graph is too large
\b
Examples
  rdma-robust export --to promela sb.rdma -o sb.pml
  rdma-robust export --to spec --instrumentation pivot ring.rdma
"""

IMPORT_HELP = """Write a program of another tool as an `.rdma` program with the same verdict.

\b
Formats
  trencher  automata over one memory of numbered words, for CPUs with store buffers; `check`, `repair` and the other
            commands read such files as they are, by the name FILE.trencher or by how they begin
\b
Exit codes
  0  done    2  usage, invalid program, or one that the language has no words for    3  what is not decided, or a limit
\b
Examples
  rdma-robust import trencher peterson.trencher -o peterson.rdma
  rdma-robust import trencher --addresses 0..9 stack.txt
"""

SYNTHESISE_HELP = """Find the smallest programs that two hardware settings tell apart by a final state.

Settings are words of a `hardware` line. Listed are all programs of at most N statements, of all threads together, that show
a difference and have no part that does, each once up to the names of threads, nodes, words and values. They are written as
litmus programs with `outcome` lines.

\b
Exit codes
  0  done, whatever was found    2  usage    3  a limit came first: what was found until then is written
\b
Examples
  rdma-robust synthesise --between 'cpu sc' 'cpu tso' --size 4
  rdma-robust synthesise --between 'order default' 'order multipath' --size 3 -o smallest
  rdma-robust synthesise --between 'atomics hca' 'atomics glob' --size 2 --statements store,remote-cas
"""

EXPLAIN_HELP = """Explain the verdict of one program; with --model, the answers of `prove`.

\b
Not robust  what the hardware does, why sequential consistency forbids it, which new final states it leads to; the
            run with the posting and the effects of every remote operation; the execution graph with its cycle
Robust      which accesses the hardware could reorder, and for each pair why no cycle closes
Unknown     the limit that was reached, and what is known all the same
--model     the facts that make it safe and the fences they need, or the run that violates a claim
\b
Forms
  text   for the terminal         json   all of it, by schema/explain.schema.json (--model: schema/prove.schema.json)
  html   one page for a browser   svg    the execution graph, or (--of timeline) the run
  dot    the execution graph for Graphviz
\b
Exit codes
  0  robust   1  not robust   2  usage, invalid program, cannot write   3  unknown   4  internal error
\b
Examples
  rdma-robust explain sb.rdma
  rdma-robust explain sb.rdma -o sb.html
  rdma-robust explain --model tso,pso lock.rdma
"""

REPAIR_HELP = """Make a program robust by a cheapest set of polls, remote fences and flushes.

A flush is a get of any word of the node, polled to completion: it makes earlier puts visible. Every answer is decided
again from its text, and no poll is inserted that could wait for ever. Costs are multiplied by 10 for each loop around an
insertion.

With --goal safe no claim is violated under a memory model: under rdma by the same insertions at the same costs, else by the
fewest `flush` (rma) or `mfence` statements (tso, pso), of cost 1 and once in loops; --sites and --from-full say among which.

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
"""

EXPLORE_HELP = """Step through a program by hand, on RDMA hardware and under sequential consistency side by side.

Serves a page to this machine only, at an address with a secret, and opens it in the browser; Ctrl-C ends it. The page shows
what can happen next, memory, queue pairs and registers, goes back and forward, and leads through the counterexample of a
program that is not robust. --tui does the same in the terminal.

A message program (*.mp), or a recorded run of one (a trace, *.json), goes on step by step and match by match, with its
sequence chart.

\b
Exit codes
  0  ended by Ctrl-C   2  usage, invalid program or state, port in use   4  internal error
\b
Examples
  rdma-robust explore sb.rdma
  rdma-robust explore sb.rdma --no-browser --port 8000
  rdma-robust explore sb.rdma --tui
  rdma-robust explore figure-1.mp --buffer zero
"""

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

See also: rdma-robust outcomes FILE lists the final states that only RDMA reaches; rdma-robust fmt FILE formats.
"""

REPORT_HELP = """Decide many programs in one run and report on all of them.

PATH is a file, a folder (every *.rdma and *.mp below it), a glob pattern, or - for standard input. Answers are kept
between runs, so a run that was interrupted goes on where it stopped, and one after a small change decides only what
changed. Of programs that pass messages, `.mp`, the contracts of functions are checked too, anew in each run.

\b
Formats
  html    one page that works offline: a table to sort and filter, and behind every row the source with the
          lines of the cycle, the timeline, the execution graph and a repair
  md      for the summary of a CI job or a comment        csv     for spreadsheets
  json    for machines, and for `compare`                 jsonl   the results, one a line
  junit   for CI servers                                  sarif   for code scanning
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, an invalid program, or a report that could not be written
  130  interrupted: the report has what was done by then
\b
Examples
  rdma-robust report src/ -o report.html
  rdma-robust report src/ -o reports/ --format html --format sarif --format junit
  rdma-robust report litmus/ --expect --format md >> "$GITHUB_STEP_SUMMARY"
  rdma-robust report src/ -o new.json && rdma-robust compare old.json new.json
"""

COMPARE_HELP = """Compare two JSON reports of `report` or `check`: what got better, what got worse, what came and went.

A program got worse if its verdict was as expected and is not any more; where nothing is expected, if it went towards the end
of robust, not robust, unknown, error.

\b
Exit codes
  0  no verdict got worse (--fail-on changes: none changed; --strict: and no programs are new or missing)
  1  some did      2  usage, an unreadable report
\b
Examples
  rdma-robust compare old.json new.json
  rdma-robust compare --fail-on changes old.json new.json
  rdma-robust compare --format md old.json new.json > comment.md
"""

LINT_HELP = """Warn of what is likely not meant in programs, without deciding them.

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

COMMANDS: Final = {
    "check": CHECK_HELP,
    "models": MODELS_HELP,
    "scale": SCALE_HELP,
    "cover": COVER_HELP,
    "new": NEW_HELP,
    "fmt": FMT_HELP,
    "outcomes": OUTCOMES_HELP,
    "explain": EXPLAIN_HELP,
    "explain-code": EXPLAIN_CODE_HELP,
    "explore": EXPLORE_HELP,
    "verify-certificate": VERIFY_CERTIFICATE_HELP,
    "export": EXPORT_HELP,
    "import": IMPORT_HELP,
    "synthesise": SYNTHESISE_HELP,
    "repair": REPAIR_HELP,
    "report": REPORT_HELP,
    "compare": COMPARE_HELP,
    "reach": REACH_HELP,
    "verify": VERIFY_HELP,
    "prove": PROVE_HELP,
    "lint": LINT_HELP,
    "lsp": LSP_HELP,
    "completion": COMPLETION_HELP,
    "messages": MESSAGES_HELP,
    "contracts": CONTRACTS_HELP,
    "demo": DEMO_HELP,
}
"""All commands, in the order of the help; a first argument that is none of them is a file to check."""

GROUPS: Final = {
    "Decide": ("check", "models", "scale", "verify", "reach", "outcomes", "prove", "cover", "messages", "contracts", "lint"),
    "Understand": ("explain", "explore", "explain-code", "synthesise"),
    "Write and repair": ("new", "fmt", "repair", "import"),
    "Report": ("report", "compare", "verify-certificate", "export"),
    "Theory": ("demo",),
    "Set up": ("completion", "lsp"),
}
"""The commands as the list of commands has them."""

NESTED: Final = {"messages": MESSAGES_COMMANDS, "contracts": CONTRACTS_COMMANDS}
"""The commands with commands of their own of which `check` is the default."""
