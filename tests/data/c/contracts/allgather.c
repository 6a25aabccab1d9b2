/* Everybody gets the values of all: gather at process 0, then broadcast. Both are used by their contracts. */
#include <mpi.h>

/*@ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && \valid(all + (0 .. \mpi_comm_size - 1));
  @   behavior root:
  @     assumes \mpi_comm_rank == root;
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
	all[root] = value;
	for (int i = 0; i < size; i++)
		if (i != root)
			MPI_Recv(&all[i], 1, MPI_INT, i, 0, comm, MPI_STATUS_IGNORE);
}

/*@ requires count > 0 && \valid(buf + (0 .. count - 1));
  @ rdma_bounds count in 1..1;
  @ \mpi_collective(comm, P2P):
  @   requires 0 <= root < \mpi_comm_size && \mpi_agree(root) && \mpi_agree(count);
  @   assigns buf[0 .. count - 1];
  @   ensures \forall integer i; 0 <= i < count ==> buf[i] == \on(root, \old(buf[i]));
  @   waitsfor root;
  @*/
void bcast(int *buf, int count, int root, MPI_Comm comm)
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

/*@ \mpi_collective(comm, P2P):
  @   requires \valid(all + (0 .. \mpi_comm_size - 1));
  @   assigns all[0 .. \mpi_comm_size - 1];
  @   ensures \forall integer t; 0 <= t < \mpi_comm_size ==> all[t] == \on(t, value);
  @   waitsfor \all if \mpi_comm_rank == 0;
  @*/
void allgather(int value, int *all, MPI_Comm comm)
{
	int size;

	MPI_Comm_size(comm, &size);
	gather(value, all, 0, comm);
	bcast(all, size, 0, comm);
}

/* rdma-robust: expect contract gather verified, contract bcast verified, contract allgather verified */
