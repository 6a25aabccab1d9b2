"""Calls of OpenSHMEM 1.5, and what they mean to evaluation.

In: a call with the values of its arguments. Out: its value, or statements of `.rdma`.
"""
