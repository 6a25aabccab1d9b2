"""Reductions to RDMA programs: what the hardness proofs construct, as programs that run."""
