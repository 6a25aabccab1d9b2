/* Gather in order: the root receives one value after the other, each from the process that it names. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root);
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
  @     requires \valid(all + (0 .. \mpi_comm_size - 1));
  @     assigns all[0 .. \mpi_comm_size - 1];
  @     ensures \forall integer t; 0 <= t < \mpi_comm_size ==> all[t] == \on(t, value);
  @     waitsfor \all;
  @   behavior others:
  @     assumes \mpi_comm_rank != root;
  @     assigns \nothing;
  @*/
void gather(int value, int *all, int root, MPI_Comm comm)
{
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank != root) {
		MPI_Send(&value, 1, MPI_INT, root, 0, comm);
		return;
	}
	for (int i = 0; i < size; i++)
		if (i == root)
			all[i] = value;
		else
			MPI_Recv(&all[i], 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
}

/* rdma-robust: expect contract gather verified */
