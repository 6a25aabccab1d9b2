"""Questions about a program besides its robustness: is a state reachable, what would repair it, why is the verdict so.

In: a program, often with its outcome. Out: plain data that `reports` writes.
"""
