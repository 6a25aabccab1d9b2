/* Declarations of ours, for where the system has no <sys/types.h>. */
#ifndef RDMA_ROBUST_SYS_TYPES_H
#define RDMA_ROBUST_SYS_TYPES_H
#include <stddef.h>
#include <stdint.h>
typedef long ssize_t;
typedef long off_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int mode_t;
typedef long time_t;
typedef long suseconds_t;
typedef unsigned int useconds_t;
typedef unsigned char u_char;
typedef unsigned int u_int;
typedef unsigned long u_long;
#endif
