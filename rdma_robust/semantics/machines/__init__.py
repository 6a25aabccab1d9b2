"""The operational machines: sequential consistency, and RDMA with its pipes and write buffers.

In: a program. Out: initial states and moves, searched exhaustively or stepped by hand; the events of a run. Source:
docs/model.md, "The machine".
"""
