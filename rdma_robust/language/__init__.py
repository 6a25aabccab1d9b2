"""From text to what every later room works on.

In: the text of a `.rdma` program. Out: a :class:`~rdma_robust.language.flow.cfg.Program`, one control-flow graph a
thread, or every diagnostic at once. `load` is the way in; `syntax` reads, `check` resolves and lowers, `flow` is the
result. Source: docs/language.md, "The language"; the operations are those of docs/model.md, "Events".
"""
