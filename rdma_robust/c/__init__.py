"""Front ends for C with verbs, OpenSHMEM or MPI: C is read into register code, evaluated, and written as `.rdma` or `.mp`.

In: C files, those with verbs with a harness (`rdma_robust.h`). Out: a program whose executions are those of the C, each
statement with its place in the C and the calls that lead there; or every refusal at once, with its place.
"""
