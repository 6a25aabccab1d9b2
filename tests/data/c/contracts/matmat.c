/* The product of two matrices, one row of the first one for each process: broadcast, scatter, multiply, gather. */
#include <mpi.h>
#include <stdlib.h>

#define N 2

/*@ \mpi_collective(comm, COL):
  @   requires \valid(b + (0 .. N * N - 1)) && \valid(a + (0 .. N * \mpi_comm_size - 1));
  @   requires \valid(c + (0 .. N * \mpi_comm_size - 1));
  @   assigns b[0 .. N * N - 1], c[0 .. N * \mpi_comm_size - 1];
  @   ensures \forall integer j; 0 <= j < N * N ==> b[j] == \on(0, \old(b[j]));
  @   behavior root:
  @     assumes \mpi_comm_rank == 0;
  @     ensures \forall integer i; 0 <= i < \mpi_comm_size ==> \forall integer j; 0 <= j < N ==>
  @       c[i * N + j] == \sum(0, N - 1, \lambda integer k; a[i * N + k] * b[k * N + j]);
  @     waitsfor \all;
  @*/
void matmat(const int *a, int *b, int *c, MPI_Comm comm)
{
	int own[N], product[N];

	MPI_Bcast(b, N * N, MPI_INT, 0, comm);
	MPI_Scatter(a, N, MPI_INT, own, N, MPI_INT, 0, comm);
	for (int j = 0; j < N; j++) {
		product[j] = 0;
		for (int k = 0; k < N; k++)
			product[j] += own[k] * b[k * N + j];
	}
	MPI_Gather(product, N, MPI_INT, c, N, MPI_INT, 0, comm);
}

/* rdma-robust: expect contract matmat verified */
