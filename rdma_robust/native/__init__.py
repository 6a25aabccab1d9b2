"""Allocation that is checked, which the compiled kernels share.

In: a block and how much room is needed in it. Out: a block that has it, or a MemoryError (where the interpreter lock is not
held, NULL) with everything as it was. No theorem stands behind it; tests refuse the n-th request for every n.
"""
