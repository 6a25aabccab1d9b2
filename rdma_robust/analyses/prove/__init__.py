"""Safety under SC, TSO, PSO, RMA and RDMA with unbounded data: a program and a model to a proof, a run, or why not.

In: a program and the name of a model. Out: SAFE with an inductive invariant, UNSAFE with a run that the model's machine
has replayed, UNKNOWN with the limit or the trace that could not be decided. A reduction turns the program with its
buffers or pending sets into a transition system (`transition_system.py`); engines search that. Source:
docs/theory-safety.md, "What safe rests on"; Baumann, Dan, Meshman, Hoefler, Vechev (VMCAI 2018); Dan, Meshman, Vechev,
Yahav (SAS 2013), whose Theorem 1 stands behind bounded buffers.
"""
