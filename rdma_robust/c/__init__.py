"""Programs of C with verbs: read into register code, evaluated to automata of threads, written as `.rdma`.

In: C files with a harness (`rdma_robust.h`). Out: a program of `.rdma` whose executions are those of the C, each statement
with its place in the C and the calls that lead there; or every refusal at once, with its place.
"""
