/* A scalar product of vectors of which each process has a part: the own part, then the sum of all. */
#include <mpi.h>

/*@ requires n >= 0 && \valid(x + (0 .. n - 1)) && \valid(y + (0 .. n - 1));
  @ rdma_bounds n in 0..2;
  @ assigns \nothing;
  @ ensures \result == \sum(0, n - 1, \lambda integer j; x[j] * y[j]);
  @*/
int seqdot(const int *x, const int *y, int n)
{
	int sum = 0;

	for (int j = 0; j < n; j++)
		sum += x[j] * y[j];
	return sum;
}

/*@ requires n > 0 && \valid(x + (0 .. n - 1)) && \valid(y + (0 .. n - 1));
  @ rdma_bounds n in 1..2;
  @ \mpi_collective(comm, COL):
  @   assigns \nothing;
  @   ensures \result == \sum(0, \mpi_comm_size - 1, \lambda integer t; \on(t, \sum(0, n - 1, \lambda integer j; x[j] * y[j])));
  @   ensures \absenceof \exit \after \enter \until \enter(\all);
  @*/
int dotProd(const int *x, const int *y, int n, MPI_Comm comm)
{
	int own, sum;

	own = seqdot(x, y, n);
	MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
	return sum;
}

/* rdma-robust: expect contract seqdot verified */
/* rdma-robust: expect contract dotProd verified */
