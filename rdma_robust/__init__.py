"""rdma-robust: decides whether an RDMA program is robust."""

__version__ = "0.1.0"
