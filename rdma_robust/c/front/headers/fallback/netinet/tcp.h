/* Declarations of ours, for where the system has no <netinet/tcp.h>. */
#ifndef RDMA_ROBUST_NETINET_TCP_H
#define RDMA_ROBUST_NETINET_TCP_H
#define TCP_NODELAY 1
#endif
