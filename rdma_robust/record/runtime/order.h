/* What orders threads beside memory: their creation and end, locks, semaphores, barriers, pipes and sockets. A line comes
   before what lets others go on, and behind what waits. Calls that may wait give the lock of the recording back first. */
/* The library has two versions of these, and dlsym may find the old one. */
#define RECORD_NEXT_OF(name, version) \
	static __typeof__(&name) next; \
	if (!next && !(next = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version))) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void record_event(const char *kind, uint64_t about, long more, uintptr_t pc)
{
	if (!record_enter())
		return;
	record_line(kind);
	record_say(" %llx %ld", (unsigned long long)about, more);
	record_where(pc);
	record_exit();
}
static uint64_t record_at(const volatile void *p) { return (uint64_t)(uintptr_t)p; }

/* Threads */
struct record_start { void *(*function)(void *); void *argument; uint64_t token; };
static struct { pthread_t thread; uint64_t token; } record_created[1024];
static unsigned record_creations;

static void *record_run(void *given)
{
	struct record_start start = *(struct record_start *)given;
	free(given);
	record_event("b", start.token, (long)(uintptr_t)start.function, 0);
	return start.function(start.argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
	RECORD_NEXT(pthread_create);
	uintptr_t pc = RECORD_PC;
	if (!record_is_on())
		return next(thread, attr, function, argument);
	struct record_start *start = malloc(sizeof *start);
	start->function = function, start->argument = argument, start->token = 0;
	if (record_enter()) {
		start->token = record_shared->number + 1;
		record_line("c");
		record_say(" %llx 0", (unsigned long long)start->token);
		record_where(pc);
		record_exit();
	}
	int failed = next(thread, attr, record_run, start);
	unsigned index = __atomic_fetch_add(&record_creations, 1, __ATOMIC_SEQ_CST);
	if (failed)
		record_fail("pthread_create: %s", strerror(failed));
	record_created[index % 1024].thread = *thread, record_created[index % 1024].token = start->token;
	return 0;
}
int pthread_join(pthread_t thread, void **result)
{
	RECORD_NEXT(pthread_join);
	record_settle();
	int failed = next(thread, result);
	unsigned count = record_creations;
	for (unsigned i = 0; !failed && i < count && i < 1024; i++) {
		unsigned index = (count - 1 - i) % 1024;
		if (pthread_equal(record_created[index].thread, thread)) {
			record_event("j", record_created[index].token, 0, RECORD_PC);
			break;
		}
	}
	return failed;
}

/* Locks */
#define RECORD_TAKE(name, type, call, args, kind) \
	int name args \
	{ \
		RECORD_NEXT(name); \
		record_settle(); \
		int failed = next call; \
		if (!failed) \
			record_event(kind, record_at(lock), 0, RECORD_PC); \
		return failed; \
	}
#define RECORD_GIVE(name, type, kind) \
	int name(type lock) \
	{ \
		RECORD_NEXT(name); \
		record_event(kind, record_at(lock), 0, RECORD_PC); \
		return next(lock); \
	}
RECORD_TAKE(pthread_mutex_lock, , (lock), (pthread_mutex_t *lock), "L")
RECORD_TAKE(pthread_mutex_trylock, , (lock), (pthread_mutex_t *lock), "L")
RECORD_TAKE(pthread_mutex_timedlock, , (lock, until), (pthread_mutex_t *lock, const struct timespec *until), "L")
RECORD_GIVE(pthread_mutex_unlock, pthread_mutex_t *, "U")
RECORD_TAKE(pthread_spin_lock, , (lock), (pthread_spinlock_t *lock), "L")
RECORD_TAKE(pthread_spin_trylock, , (lock), (pthread_spinlock_t *lock), "L")
RECORD_GIVE(pthread_spin_unlock, pthread_spinlock_t *, "u")
RECORD_TAKE(pthread_rwlock_rdlock, , (lock), (pthread_rwlock_t *lock), "r")
RECORD_TAKE(pthread_rwlock_tryrdlock, , (lock), (pthread_rwlock_t *lock), "r")
RECORD_TAKE(pthread_rwlock_wrlock, , (lock), (pthread_rwlock_t *lock), "w")
RECORD_TAKE(pthread_rwlock_trywrlock, , (lock), (pthread_rwlock_t *lock), "w")
RECORD_GIVE(pthread_rwlock_unlock, pthread_rwlock_t *, "x")

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	RECORD_NEXT_OF(pthread_cond_wait, "GLIBC_2.3.2");
	record_event("U", record_at(lock), 0, RECORD_PC);
	int failed = next(condition, lock);
	record_event("L", record_at(lock), 0, RECORD_PC);
	return failed;
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
	RECORD_NEXT_OF(pthread_cond_timedwait, "GLIBC_2.3.2");
	record_event("U", record_at(lock), 0, RECORD_PC);
	int failed = next(condition, lock, until);
	record_event("L", record_at(lock), 0, RECORD_PC);
	return failed;
}

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
	RECORD_NEXT(pthread_barrier_init);
	record_event("I", record_at(barrier), (long)count, RECORD_PC);
	return next(barrier, attr, count);
}
int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	RECORD_NEXT(pthread_barrier_wait);
	record_event("B", record_at(barrier), 0, RECORD_PC);
	return next(barrier);
}

/* Semaphores */
int sem_init(sem_t *semaphore, int shared, unsigned value)
{
	RECORD_NEXT(sem_init);
	record_event("N", record_at(semaphore), (long)value, RECORD_PC);
	return next(semaphore, shared, value);
}
int sem_post(sem_t *semaphore)
{
	RECORD_NEXT(sem_post);
	record_event("T", record_at(semaphore), 0, RECORD_PC);
	return next(semaphore);
}
static int record_waited(int failed, sem_t *semaphore, uintptr_t pc)
{
	if (!failed)
		record_event("Y", record_at(semaphore), 0, pc);
	return failed;
}
int sem_wait(sem_t *semaphore)
{
	RECORD_NEXT(sem_wait);
	record_settle();
	return record_waited(next(semaphore), semaphore, RECORD_PC);
}
int sem_trywait(sem_t *semaphore)
{
	RECORD_NEXT(sem_trywait);
	record_settle();
	return record_waited(next(semaphore), semaphore, RECORD_PC);
}
int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	RECORD_NEXT(sem_timedwait);
	record_settle();
	return record_waited(next(semaphore, until), semaphore, RECORD_PC);
}

/* Processes */
pid_t fork(void)
{
	RECORD_NEXT(fork);
	uint64_t token = 0;
	int is_on = record_enter();
	if (is_on) {
		token = record_shared->number + 1;
		record_line("c");
		record_say(" %llx 1", (unsigned long long)token);
		record_where(RECORD_PC);
		record_flush();
		record_exit();
	}
	pid_t child = next();
	if (child == 0 && record_on == 1) {
		unsigned calls = record_me.calls;
		record_me.state = 0, record_me.window = 0, record_me.deep = 0, record_me.store = record_me.read = 0;
		record_me.calls = calls, record_owned = 0, record_creations = 0;
		__atomic_fetch_add(&record_shared->processes, 1, __ATOMIC_SEQ_CST);
		prctl(RECORD_SET_PTRACER, -1L, 0, 0, 0);
		if (is_on)
			record_event("b", token, 0, 0);
		record_maps();
	}
	return child;
}
static pid_t record_reaped(pid_t child, uintptr_t pc)
{
	if (child > 0)
		record_event("y", (uint64_t)child, 0, pc);
	return child;
}
pid_t waitpid(pid_t child, int *status, int options)
{
	RECORD_NEXT(waitpid);
	record_settle();
	return record_reaped(next(child, status, options), RECORD_PC);
}
pid_t wait(int *status)
{
	RECORD_NEXT(wait);
	record_settle();
	return record_reaped(next(status), RECORD_PC);
}
void _exit(int code)
{
	record_end();
	syscall(SYS_exit_group, code);
	for (;;)
		;
}

/* Pipes and sockets: which bytes of a stream a call has written, or read. A stream is named alike at both ends. */
static struct { uint64_t one, other; } record_pairs[256];
static unsigned record_paired;

static int record_address(const struct sockaddr_storage *a, char *text, size_t size)
{
	const unsigned char *b = (const unsigned char *)a;
	unsigned n = a->ss_family == AF_INET ? 8 : a->ss_family == AF_INET6 ? 24 : 0, at = 0;
	for (unsigned i = 2; i < n && at + 3 < size; i++)
		at += (unsigned)snprintf(text + at, size - at, "%02x", b[i]);
	return n != 0;
}
/* Name the stream into which `out` writes, or from which it reads; returns 0 for what is none. */
static int record_stream(int file, int out, char *name, size_t size)
{
	struct stat s;
	if (fstat(file, &s))
		return 0;
	if (S_ISFIFO(s.st_mode))
		return snprintf(name, size, "p%llx.%llx", (unsigned long long)s.st_dev, (unsigned long long)s.st_ino) > 0;
	if (!S_ISSOCK(s.st_mode)) /* files and terminals wait for nobody */
		return (s.st_mode & S_IFMT) == 0 ? snprintf(name, size, "?event") > 0 : 0;
	for (unsigned i = 0; i < record_paired && i < 256; i++) {
		if (record_pairs[i].one == s.st_ino || record_pairs[i].other == s.st_ino) {
			uint64_t other = record_pairs[i].one == s.st_ino ? record_pairs[i].other : record_pairs[i].one;
			return snprintf(name, size, "s%llx", (unsigned long long)(out ? s.st_ino : other)) > 0;
		}
	}
	struct sockaddr_storage mine, theirs;
	socklen_t m = sizeof mine, t = sizeof theirs;
	char a[64], b[64];
	int type = 0;
	socklen_t n = sizeof type;
	getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &n);
	memset(&mine, 0, sizeof mine), memset(&theirs, 0, sizeof theirs);
	if (type == SOCK_STREAM && !getsockname(file, (struct sockaddr *)&mine, &m) && !getpeername(file, (struct sockaddr *)&theirs, &t) && record_address(&mine, a, sizeof a) && record_address(&theirs, b, sizeof b))
		return snprintf(name, size, "t%s-%s", out ? a : b, out ? b : a) > 0;
	return snprintf(name, size, "?socket") > 0;
}
static void record_bytes(const char *kind, int file, int out, long bytes, uintptr_t pc)
{
	char name[160];
	int before = errno;
	if (record_on == 1 && !record_me.deep && record_stream(file, out, name, sizeof name) && record_enter()) {
		record_line(kind);
		record_say(" %s %ld", name, bytes);
		record_where(pc);
		record_exit();
	}
	errno = before;
}
#define RECORD_WRITES(name, params, args) \
	ssize_t name params \
	{ \
		RECORD_NEXT(name); \
		record_bytes(">", file, 1, 0, RECORD_PC); \
		record_settle(); \
		ssize_t done = next args; \
		if (done > 0) \
			record_bytes("+", file, 1, done, RECORD_PC); \
		return done; \
	}
#define RECORD_READS(name, params, args) \
	ssize_t name params \
	{ \
		RECORD_NEXT(name); \
		record_settle(); \
		ssize_t done = next args; \
		if (done > 0) \
			record_bytes("<", file, 0, done, RECORD_PC); \
		return done; \
	}
RECORD_WRITES(write, (int file, const void *data, size_t size), (file, data, size))
RECORD_WRITES(send, (int file, const void *data, size_t size, int flags), (file, data, size, flags))
RECORD_WRITES(sendto, (int file, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length), (file, data, size, flags, to, length))
RECORD_WRITES(sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
RECORD_WRITES(writev, (int file, const struct iovec *pieces, int number), (file, pieces, number))
RECORD_READS(read, (int file, void *data, size_t size), (file, data, size))
RECORD_READS(recv, (int file, void *data, size_t size, int flags), (file, data, size, flags))
RECORD_READS(recvfrom, (int file, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length), (file, data, size, flags, from, length))
RECORD_READS(recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags))
RECORD_READS(readv, (int file, const struct iovec *pieces, int number), (file, pieces, number))

int socketpair(int domain, int type, int protocol, int file[2])
{
	RECORD_NEXT(socketpair);
	struct stat a, b;
	int failed = next(domain, type, protocol, file);
	if (!failed && (type & 0xf) == SOCK_STREAM && !fstat(file[0], &a) && !fstat(file[1], &b)) {
		unsigned index = __atomic_fetch_add(&record_paired, 1, __ATOMIC_SEQ_CST) % 256;
		record_pairs[index].one = a.st_ino, record_pairs[index].other = b.st_ino;
	}
	return failed;
}

/* Calls that only wait */
#define RECORD_WAITS(result, name, params, args) \
	result name params \
	{ \
		RECORD_NEXT(name); \
		record_settle(); \
		return next args; \
	}
RECORD_WAITS(int, usleep, (useconds_t time), (time))
RECORD_WAITS(unsigned, sleep, (unsigned time), (time))
RECORD_WAITS(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
RECORD_WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left), (clock, flags, time, left))
RECORD_WAITS(int, poll, (struct pollfd *files, nfds_t number, int time), (files, number, time))
RECORD_WAITS(int, select, (int number, fd_set *in, fd_set *out, fd_set *other, struct timeval *time), (number, in, out, other, time))
RECORD_WAITS(int, epoll_wait, (int file, struct epoll_event *events, int most, int time), (file, events, most, time))
RECORD_WAITS(int, sched_yield, (void), ())
RECORD_WAITS(int, accept, (int file, struct sockaddr *from, socklen_t *length), (file, from, length))
RECORD_WAITS(int, connect, (int file, const struct sockaddr *to, socklen_t length), (file, to, length))

/* Copies of memory that the compiler leaves to the library; the link says `--wrap` */
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
static int record_copies(const void *to, const void *from, size_t size)
{
	if (record_on != 1 || record_me.deep || !size)
		return 0;
	return (record_is_registered((uintptr_t)to) || (from && record_is_registered((uintptr_t)from))) && record_enter();
}
static void record_copied(const void *to, const void *from, size_t size, uintptr_t pc)
{
	if (from && record_is_registered((uintptr_t)from))
		record_read_line((uintptr_t)from, (unsigned)size, 'm', pc);
	if (record_is_registered((uintptr_t)to))
		record_store_line((uintptr_t)to, (unsigned)size, 'm', pc);
	record_exit();
}
static void *record_moved(void *to, const void *from, size_t size, uintptr_t pc)
{
	int is_on = record_copies(to, from, size);
	if (is_on && record_is_registered((uintptr_t)from) && record_is_registered((uintptr_t)to) && (uintptr_t)to - (uintptr_t)from + size < 2 * size - 1)
		record_fail("a copy of registered memory onto itself is not recorded");
	__real_memmove(to, from, size);
	if (is_on)
		record_copied(to, from, size, pc);
	return to;
}
void *__wrap_memmove(void *to, const void *from, size_t size) { return record_moved(to, from, size, RECORD_PC); }
void *__wrap_memcpy(void *to, const void *from, size_t size) { return record_moved(to, from, size, RECORD_PC); }
void *__wrap_memset(void *to, int value, size_t size)
{
	int is_on = record_copies(to, NULL, size);
	__real_memset(to, value, size);
	if (is_on)
		record_copied(to, NULL, size, RECORD_PC);
	return to;
}
/* clang of newer versions calls these instead */
void *__tsan_memmove(void *to, const void *from, size_t size) { return record_moved(to, from, size, RECORD_PC); }
void *__tsan_memcpy(void *to, const void *from, size_t size) { return record_moved(to, from, size, RECORD_PC); }
void *__tsan_memset(void *to, int value, size_t size) { return __wrap_memset(to, value, size); }
