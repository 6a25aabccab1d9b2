/* Declarations of ours, for where the system has no <netdb.h>. */
#ifndef RDMA_ROBUST_NETDB_H
#define RDMA_ROBUST_NETDB_H
#include <netinet/in.h>
struct addrinfo {
	int ai_flags, ai_family, ai_socktype, ai_protocol;
	socklen_t ai_addrlen;
	struct sockaddr *ai_addr;
	char *ai_canonname;
	struct addrinfo *ai_next;
};
struct hostent {
	char *h_name;
	char **h_aliases;
	int h_addrtype, h_length;
	char **h_addr_list;
};
#define AI_PASSIVE 1
int getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
void freeaddrinfo(struct addrinfo *);
const char *gai_strerror(int);
struct hostent *gethostbyname(const char *);
#endif
