"""Help of commands: long texts, kept apart from the options."""

FMT_HELP = """Format programs: print them in their one layout, comments kept.

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
needs --depth or --max-states; a search that was cut is reported as cut.

\b
Exit codes
  0  every claim of the `outcome` lines holds      3  a claim is undecided because a search was cut
  1  a claim fails                                 2  usage, invalid program      4  internal error
\b
Examples
  rdma-robust outcomes litmus/sb-put-plain.rdma
  rdma-robust outcomes --depth 40 pingpong.rdma
"""

VERIFY_HELP = """Check certificates that `check --certificate` has written, without the engines that found the verdicts.

FILE is a certificate, a directory (every *.json and *.json.gz below it), a glob pattern, or - for standard input. Each
names the file that it is about, relative to its own folder, and holds only for that file's text.

\b
Exit codes (the worst certificate counts)
  0  all valid      1  some invalid      2  usage, or a file that cannot be read      4  internal error
\b
Examples
  rdma-robust check --certificate proofs/ litmus/*.rdma
  rdma-robust verify-certificate proofs/
  rdma-robust verify-certificate sb.rdma.json --input sb.rdma
"""
