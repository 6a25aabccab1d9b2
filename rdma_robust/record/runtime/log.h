/* The log of a thread: a line for each event, `NUMBER KIND what @ where`, places of code outwards. */
#define RECORD_BUFFER 65536
#define RECORD_EVENTS 400000

static void record_flush(void)
{
	record_write(record_me.file, record_me.text, record_me.filled);
	record_me.filled = 0;
}

static void record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void record_say(const char *format, ...)
{
	va_list given;
	va_start(given, format);
	if (record_me.filled > RECORD_BUFFER - 8192)
		record_flush();
	int size = vsnprintf(record_me.text + record_me.filled, RECORD_BUFFER - record_me.filled, format, given);
	va_end(given);
	record_me.filled += (unsigned)size;
}

/* Begin a line; the lock is held. */
static void record_line(const char *kind)
{
	if (++record_me.events > RECORD_EVENTS)
		record_fail("limit: a thread with more than %d recorded events; record a shorter run", RECORD_EVENTS);
	record_me.read = 0;
	record_say("%llu %s", (unsigned long long)++record_shared->number, kind);
}

/* End a line with where it happened: the place itself, 0 if it is none, and the calls outwards. */
static void record_where(uintptr_t pc)
{
	record_say(" @");
	if (pc)
		record_say(" %lx", (unsigned long)pc);
	unsigned deep = record_me.calls < 256 ? record_me.calls : 256;
	for (unsigned i = 0; i < 6 && i < deep; i++)
		record_say(" %lx", (unsigned long)record_me.call[deep - 1 - i]);
	record_say("\n");
}

static void record_copy_file(const char *from, const char *to)
{
	char buffer[4096];
	int in = (int)syscall(SYS_openat, AT_FDCWD, from, O_RDONLY | O_CLOEXEC), out = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (long size; (size = syscall(SYS_read, in, buffer, sizeof buffer)) > 0;)
		record_write(out, buffer, (size_t)size);
	syscall(SYS_close, in), syscall(SYS_close, out);
}

static void record_maps(void)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/maps.%d", record_folder, (int)syscall(SYS_getpid));
	record_copy_file("/proc/self/maps", path);
}

static pthread_key_t record_key;
static void record_thread_ends(void *unused)
{
	(void)unused;
	if (record_me.state != 1)
		return;
	record_settle();
	record_me.deep++;
	record_take(), record_line("Z"), record_where(0), record_leave();
	record_flush();
	record_me.state = -1;
}

static void record_thread_begins(void)
{
	struct record_thread *me = &record_me;
	char path[4096];
	me->deep++;
	me->pid = (int)syscall(SYS_getpid), me->tid = (int)syscall(SYS_gettid);
	me->self = (uint64_t)me->pid << 32 | (uint32_t)me->tid;
	me->text = mmap(NULL, RECORD_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof path, "%s/log.%d.%d", record_folder, me->pid, me->tid);
	int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* Out of the way of programs that count on the numbers of their files. */
	me->file = fcntl(file, F_DUPFD_CLOEXEC, 700);
	if (me->file < 0)
		me->file = file;
	else
		syscall(SYS_close, file);
	if (me->text == MAP_FAILED || me->file < 0)
		record_fail("cannot write the log of a thread, %s: %s", path, strerror(errno));
	me->filled = me->events = 0;
	me->state = 1;
	me->deep--;
	pthread_setspecific(record_key, me);
}

static void record_end(void)
{
	if (record_on != 1)
		return;
	record_settle();
	record_me.deep++;
	record_maps();
	record_flush();
	record_me.deep--;
}

static int record_started(void)
{
	record_me.deep++;
	pthread_mutex_lock(&record_beginning);
	if (record_on == 0) {
		char path[4096];
		record_folder = getenv("RDMA_ROBUST_RECORD");
		if (!record_folder)
			record_on = -1;
		else {
			snprintf(path, sizeof path, "%s/shared", record_folder);
			int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
			void *found = file < 0 || ftruncate(file, sizeof(struct record_shared)) ? MAP_FAILED : mmap(NULL, sizeof(struct record_shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			if (found == MAP_FAILED)
				record_fail("cannot share %s: %s", path, strerror(errno));
			close(file);
			record_shared = found;
			__atomic_fetch_add(&record_shared->processes, 1, __ATOMIC_SEQ_CST);
			prctl(RECORD_SET_PTRACER, -1L, 0, 0, 0);
			struct sigaction asked;
			memset(&asked, 0, sizeof asked);
			asked.sa_sigaction = record_asked, asked.sa_flags = SA_SIGINFO | SA_RESTART;
			sigaction(RECORD_SIGNAL, &asked, NULL);
			pthread_key_create(&record_key, record_thread_ends);
			record_maps();
			atexit(record_end);
			record_on = 1;
		}
	}
	pthread_mutex_unlock(&record_beginning);
	record_me.deep--;
	return record_on == 1;
}
