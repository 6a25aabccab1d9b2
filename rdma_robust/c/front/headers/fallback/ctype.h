/* Declarations of ours, for where the system has no <ctype.h>. */
#ifndef RDMA_ROBUST_CTYPE_H
#define RDMA_ROBUST_CTYPE_H
int isalpha(int);
int isdigit(int);
int isalnum(int);
int isspace(int);
int isupper(int);
int islower(int);
int ispunct(int);
int isxdigit(int);
int isprint(int);
int iscntrl(int);
int toupper(int);
int tolower(int);
#endif
