"""Systems of any number of alike processes beside a finite control; nothing here knows RDMA.

In: a counting system, whose control states and local states are found while it is searched. Out: whether a target can be
reached with some number of processes, with a run of so many, the smallest such number, or an inductive set that excludes
it, or the limit that was reached. No move asks whether a process is absent, so this is coverability: source: German and
Sistla 1992; Karp and Miller 1969; Abdulla, Cerans, Jonsson and Tsay 1996.
"""
