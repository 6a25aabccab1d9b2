/* All to all by scatters, one from each process; only the contract of scatter is needed. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root);
  @   requires \mpi_comm_rank == root ==> \valid(all + (0 .. \mpi_comm_size - 1));
  @   assigns \nothing;
  @   ensures \let me = \mpi_comm_rank; \result == \on(root, all[me]);
  @   ensures \absenceof \exit \after \enter \until \enter(root);
  @*/
int scatter(const int *all, int root, MPI_Comm comm)
{
	int rank, size, own;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank != root) {
		MPI_Recv(&own, 1, MPI_INT, root, 0, comm, MPI_STATUS_IGNORE);
		return own;
	}
	for (int i = 0; i < size; i++)
		if (i != root)
			MPI_Send(all + i, 1, MPI_INT, i, 0, comm);
	return all[root];
}

/*@ \mpi_collective(comm, P2P):
  @   requires \valid(s + (0 .. \mpi_comm_size - 1)) && \valid(r + (0 .. \mpi_comm_size - 1));
  @   assigns r[0 .. \mpi_comm_size - 1];
  @   ensures \let me = \mpi_comm_rank; \forall integer t; 0 <= t < \mpi_comm_size ==> r[t] == \on(t, s[me]);
  @   ensures \absenceof \exit \after \enter \until \enter(\all);
  @*/
void alltoall2(const int *s, int *r, MPI_Comm comm)
{
	int size, one;

	MPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++) {
		one = scatter(s, i, comm);
		r[i] = one;
	}
}

/* rdma-robust: expect contract scatter verified, contract alltoall2 verified */
