"""What OpenSHMEM and MPI have in common: processes that run one program, their queue pairs, transfers between them.

In: a call with the values of its arguments. Out: statements of `.rdma`.
"""
