/* What the recorder has words for, in one run: messages, waits for one of several, probes, persistent requests, communicators. */
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, size, value = 0, got = 0, flag = 0, index, done, places[4];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm half;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	int inner;
	MPI_Comm_rank(half, &inner);
	if (inner == 0)
		MPI_Send(&rank, 1, MPI_INT, 1, 3, half);
	else
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
	MPI_Barrier(half);
	MPI_Bcast(&value, 1, MPI_INT, 0, half);
	MPI_Request qs[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status ss[4];
	int r[4];
	if (rank == 0) {
		for (int i = 1; i < size; i++)
			MPI_Irecv(&r[i], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &qs[i]);
		MPI_Waitany(4, qs, &index, MPI_STATUS_IGNORE);
		MPI_Waitsome(4, qs, &done, places, ss);
		MPI_Waitall(4, qs, MPI_STATUSES_IGNORE);
		MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, ss);
		MPI_Recv(&value, 1, MPI_INT, ss[0].MPI_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Isend(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &qs[0]);
		while (!flag)
			MPI_Test(&qs[0], &flag, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
	}
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&rank, 1, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, &got, 1, MPI_INT, rank ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Request p[2];
	MPI_Send_init(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &p[0]);
	MPI_Recv_init(&got, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &p[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, p);
		MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&p[0]);
	MPI_Request_free(&p[1]);
	MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Ibarrier(MPI_COMM_WORLD, &p[0]);
	MPI_Wait(&p[0], MPI_STATUS_IGNORE);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
