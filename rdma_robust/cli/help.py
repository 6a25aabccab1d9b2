"""Help of commands: long texts, kept apart from the options."""

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
