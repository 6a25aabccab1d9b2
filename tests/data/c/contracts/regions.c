/* Contracts about regions of memory, as the thesis writes them: a broadcast, a reduction, and a local function. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && 0 <= count * \mpi_extent(MPI_INT) && \mpi_agree(count);
  @   requires \mpi_valid(buf, count, MPI_INT);
  @   rdma_bounds count in 0..2;
  @   ensures \mpi_agree(\mpi_region(buf, count, MPI_INT));
  @   ensures \mpi_equals(\mpi_region(buf, count, MPI_INT), \on(root, \old(\mpi_region(buf, count, MPI_INT))));
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
  @     assigns \nothing;
  @   behavior nonroot:
  @     assumes \mpi_comm_rank != root;
  @     assigns \mpi_region(buf, count, MPI_INT);
  @     ensures \absenceof \exit \after \enter \until \enter(root);
  @*/
void broadcast(int *buf, int count, int root, MPI_Comm comm)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank == root) {
		for (int i = 0; i < size; i++)
			if (i != root)
				MPI_Send(buf, count, MPI_INT, i, 0, comm);
	} else {
		MPI_Recv(buf, count, MPI_INT, root, 0, comm, MPI_STATUS_IGNORE);
	}
}

/*@ \mpi_collective(comm, COL):
  @   requires count > 0 && \mpi_agree(count) && \mpi_valid(s, count, MPI_INT) && \mpi_valid(r, count, MPI_INT);
  @   rdma_bounds count in 1..2;
  @   assigns \mpi_region(r, count, MPI_INT);
  @   ensures \mpi_equals(\mpi_region(r, count, MPI_INT), \mpi_reduce(s, count, MPI_INT, MPI_MAX));
  @*/
void most(const int *s, int *r, int count, MPI_Comm comm)
{
	MPI_Allreduce(s, r, count, MPI_INT, MPI_MAX, comm);
}

/*@ requires n >= 1 && \valid(a + (1 .. n));
  @ rdma_bounds n in 1..2;
  @ assigns \mpi_region(\mpi_offset(a, 1, MPI_LONG), n, MPI_LONG);
  @ ensures \forall integer i; 1 <= i <= n ==> a[i] == 0;
  @*/
void clear(long *a, int n)
{
	for (int i = 1; i <= n; i++)
		a[i] = 0;
}

/* rdma-robust: expect contract broadcast verified, contract most verified, contract clear verified */
