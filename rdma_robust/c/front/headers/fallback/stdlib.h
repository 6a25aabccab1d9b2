/* Declarations of ours, for where the system has no <stdlib.h>. */
#ifndef RDMA_ROBUST_STDLIB_H
#define RDMA_ROBUST_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
typedef struct {
	int quot, rem;
} div_t;
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void *reallocarray(void *, size_t, size_t);
void *aligned_alloc(size_t, size_t);
int posix_memalign(void **, size_t, size_t);
void *memalign(size_t, size_t);
void *valloc(size_t);
void free(void *);
_Noreturn void exit(int);
_Noreturn void _Exit(int);
_Noreturn void abort(void);
int atexit(void (*)(void));
int atoi(const char *);
long atol(const char *);
long long atoll(const char *);
double atof(const char *);
long strtol(const char *, char **, int);
long long strtoll(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
double strtod(const char *, char **);
int abs(int);
long labs(long);
long long llabs(long long);
div_t div(int, int);
int rand(void);
void srand(unsigned int);
int rand_r(unsigned int *);
long random(void);
void srandom(unsigned int);
long lrand48(void);
void srand48(long);
double drand48(void);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
char *getenv(const char *);
int setenv(const char *, const char *, int);
int system(const char *);
#define alloca(size) __builtin_alloca(size)
#endif
