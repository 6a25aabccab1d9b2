/* Declarations of ours, for where the system has no <unistd.h>. */
#ifndef RDMA_ROBUST_UNISTD_H
#define RDMA_ROBUST_UNISTD_H
#include <sys/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_ONLN 84
extern char *optarg;
extern int optind, opterr, optopt;
int getopt(int, char *const[], const char *);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
int close(int);
int pipe(int[2]);
int dup(int);
int dup2(int, int);
off_t lseek(int, off_t, int);
unsigned int sleep(unsigned int);
int usleep(useconds_t);
pid_t getpid(void);
pid_t fork(void);
uid_t getuid(void);
int getpagesize(void);
long sysconf(int);
int gethostname(char *, size_t);
int access(const char *, int);
int unlink(const char *);
int ftruncate(int, off_t);
int isatty(int);
_Noreturn void _exit(int);
#endif
