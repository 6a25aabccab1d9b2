"""One-sided communication of OpenSHMEM and MPI: processes that run one program, their queue pairs, transfers between them.

In: a call with the values of its arguments. Out: statements of `.rdma`.
"""
