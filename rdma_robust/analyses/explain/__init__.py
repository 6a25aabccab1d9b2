"""Why a verdict is what it is, as plain data.

In: an outcome. Out: the machine run of the witness, its graph, what the hardware may reorder by the order table, and
final states that only RDMA reaches. Source: docs/model.md, "Preserved order".
"""
