"""Programs of C: read, evaluated, and written as `.rdma`."""
