/* Declarations of ours, for where the system has no <signal.h>. */
#ifndef RDMA_ROBUST_SIGNAL_H
#define RDMA_ROBUST_SIGNAL_H
#include <sys/types.h>
typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);
#define SIGINT 2
#define SIGTERM 15
#define SIGALRM 14
#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
sighandler_t signal(int, sighandler_t);
int raise(int);
int kill(pid_t, int);
#endif
