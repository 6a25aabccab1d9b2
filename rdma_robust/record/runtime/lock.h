/* What all processes of a recording share, and the lock of it. */
#define RECORD_QPS 256
#define RECORD_CQS 256
#define RECORD_REGIONS 1024
#define RECORD_IDS 512
#define RECORD_REQUESTS 512
#define RECORD_COMPLETIONS 4096
#define RECORD_SGES 16
#define RECORD_INLINE 1024
/* Of linux/prctl.h, whose types are not those of our verbs.h */
int prctl(int option, ...);
#define RECORD_SET_PTRACER 0x59616d61
/* Bytes behind the call of a hook in which the access is: compilers put it there, and no other call between. */
#define RECORD_WINDOW 192

/* The function of the library that one of ours stands in front of */
#define RECORD_NEXT(name) \
	static __typeof__(&name) next; \
	if (!next) \
		next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

struct record_piece { uint64_t address; uint32_t length; };
struct record_request {
	uint64_t id, remote, compare, swap;
	uint32_t opcode, flags, imm, pieces, length, rkey;
	struct record_piece piece[RECORD_SGES];
	unsigned char data[RECORD_INLINE];
};
struct record_receive { uint64_t id; uint32_t pieces; struct record_piece piece[RECORD_SGES]; };
struct record_completion { uint64_t id; uint32_t opcode, length, imm, flags, qp, is_receive; };
struct record_qp {
	int used, pid, all_signaled, send_cq, recv_cq;
	uint32_t peer, srq; /* srq: the number of a shared receive queue, which has the place of a queue pair, or 0 */
	unsigned first, last, first_receive, last_receive; /* requests that wait for a receive; receives that are posted */
	struct record_request request[RECORD_REQUESTS];
	struct record_receive receive[RECORD_REQUESTS];
};
struct record_cq { int used, pid, channel, armed; unsigned first, last; struct record_completion completion[RECORD_COMPLETIONS]; };
struct record_region { int pid, access; uint64_t address, length; };
struct record_id { int pid, channel, peer; uint16_t port; }; /* of a connection; port: of a listener */
struct record_shared {
	volatile uint64_t owner; /* pid << 32 | tid of who has the lock */
	volatile uint64_t number; /* of the last event */
	volatile uint32_t processes, channels, regions, ids;
	volatile uint32_t stopped;
	struct record_region region[RECORD_REGIONS];
	struct record_id id[RECORD_IDS];
	struct record_qp qp[RECORD_QPS];
	struct record_cq cq[RECORD_CQS];
};

struct record_thread {
	int state; /* 0: not begun, 1: ours, -1: ended */
	int pid, tid, file, deep; /* deep: in the recorder itself */
	uint64_t self;
	volatile uintptr_t window; /* where a hook returned to, while the lock is held for the access behind it */
	uintptr_t store, store_pc; /* a store that is about to be made */
	unsigned store_size;
	char store_kind;
	unsigned calls;
	uintptr_t call[256]; /* where functions were called from */
	uintptr_t read, read_pc; /* the last access, if it was a read */
	uint64_t read_value;
	char *text;
	unsigned filled, events;
};
static struct record_shared *record_shared;
static const char *record_folder;
static volatile int record_on; /* 0: not known, 1: recording, -1: not */
static __thread struct record_thread record_me;

static void record_settle(void);

static void record_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void record_write(int file, const char *text, size_t size)
{
	while (size) {
		ssize_t done = syscall(SYS_write, file, text, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done, size -= (size_t)done;
	}
}

/* End the recording with a message: what is wrong is told by `rdma-robust record`. */
static void record_fail(const char *format, ...)
{
	char text[1024], path[4096];
	va_list given;
	va_start(given, format);
	int size = vsnprintf(text, sizeof text - 1, format, given);
	va_end(given);
	size = size < (int)sizeof text - 1 ? size : (int)sizeof text - 2;
	text[size++] = '\n';
	if (record_folder) {
		snprintf(path, sizeof path, "%s/failed", record_folder);
		int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		record_write(file, text, (size_t)size);
	} else {
		record_write(2, "rdma-robust record: ", 20);
		record_write(2, text, (size_t)size);
	}
	syscall(SYS_exit_group, 97);
	for (;;)
		;
}

static void record_pause(long nanoseconds)
{
	struct timespec t = { 0, nanoseconds };
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &t, NULL);
}

/* A thread that holds the lock and waits elsewhere, in code without hooks, is asked: it gives the lock back if it is past its access. */
static void record_asked(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	int before = errno;
	uintptr_t pc = 0;
#if defined(__x86_64__)
	pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#else
#error "the recorder knows x86-64 and arm64"
#endif
	if (record_me.state == 1 && !record_me.deep && record_me.window && (pc < record_me.window || pc > record_me.window + RECORD_WINDOW))
		record_settle();
	errno = before;
}
#define RECORD_SIGNAL (SIGRTMAX - 2)

static void record_take(void)
{
	struct record_thread *me = &record_me;
	uint64_t seen = 0;
	for (unsigned tries = 0;; tries++) {
		uint64_t free_ = 0;
		if (__atomic_compare_exchange_n(&record_shared->owner, &free_, me->self, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
		if (free_ != seen)
			seen = free_, tries = 0;
		if (tries < 100)
			syscall(SYS_sched_yield);
		else {
			record_pause(200000);
			if (tries % 10 == 0)
				syscall(SYS_tgkill, (int)(seen >> 32), (int)(uint32_t)seen, RECORD_SIGNAL);
		}
		if (record_shared->stopped)
			syscall(SYS_exit_group, 97);
	}
}

static void record_leave(void)
{
	__atomic_store_n(&record_shared->owner, 0, __ATOMIC_SEQ_CST);
}

/* Begin to record, once for each process; returns whether it is recorded. */
static pthread_mutex_t record_beginning = PTHREAD_MUTEX_INITIALIZER;
static int record_started(void);
static void record_thread_begins(void);

static inline int record_is_on(void)
{
	if (record_on == 0 && !record_me.deep)
		record_started();
	if (record_on == 1 && record_me.state == 0 && !record_me.deep)
		record_thread_begins();
	return record_on == 1 && record_me.state == 1 && !record_me.deep;
}
