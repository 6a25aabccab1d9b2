/* The recorder: a card in software, and hooks of -fsanitize=thread that write down what threads do with the memory of cards.

   One translation unit, compiled by `rdma-robust record cc` with the compiler and the verbs.h of the program, and linked in
   front of libibverbs instead of libtsan. All processes of a recording share one file, with a lock, the queues of the card
   and the regions of everybody. Whoever does what is recorded holds the lock: a thread from a hook until its next event, for
   the access comes after its hook. So all that is recorded happens one after the other, in the order of its numbers, which is
   a run under sequential consistency. Each thread writes a log of its own. Without the environment variable
   RDMA_ROBUST_RECORD nothing is recorded, and the card does not answer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port
#undef ibv_get_device_list
#include "lock.h"
#include "log.h"
#include "hooks.h"
#include "card.h"
#include "verbs.h"
#include "order.h"
#include "cma.h"
