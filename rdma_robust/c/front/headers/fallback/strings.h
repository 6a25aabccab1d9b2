/* Declarations of ours, for where the system has no <strings.h>. */
#ifndef RDMA_ROBUST_STRINGS_H
#define RDMA_ROBUST_STRINGS_H
#include <string.h>
void bzero(void *, size_t);
void bcopy(const void *, void *, size_t);
int ffs(int);
#endif
