/* Declarations of ours, for where the system has no <arpa/inet.h>. */
#ifndef RDMA_ROBUST_ARPA_INET_H
#define RDMA_ROBUST_ARPA_INET_H
#include <netinet/in.h>
in_addr_t inet_addr(const char *);
char *inet_ntoa(struct in_addr);
int inet_pton(int, const char *, void *);
const char *inet_ntop(int, const void *, char *, socklen_t);
#endif
