! The same of Fortran: statuses that are ignored or not, requests, and a receive from any.
program ring
  use mpi
  implicit none
  integer :: ierr, rank, n, v, st(MPI_STATUS_SIZE), qs(2), i
  integer :: sts(MPI_STATUS_SIZE, 2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  v = rank
  if (rank == 0) then
    do i = 1, n - 1
      call MPI_Recv(v, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
  else
    call MPI_Send(v, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Irecv(v, 1, MPI_INTEGER, mod(rank + n - 1, n), 2, MPI_COMM_WORLD, qs(1), ierr)
  call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, n), 2, MPI_COMM_WORLD, qs(2), ierr)
  call MPI_Waitall(2, qs, MPI_STATUSES_IGNORE, ierr)
  if (rank == 0) call MPI_Send(v, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, ierr)
  if (rank == 1) then
    call MPI_Recv(v, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, st, ierr)
    if (st(MPI_SOURCE) /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
