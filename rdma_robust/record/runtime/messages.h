/* The recorder of MPI: a line of JSON for each call of a process, in the log of that process. The wrappers of calls, made from
   the table of MPI, stand behind this, in one translation unit.

   A call that can wait is written before it is made, and its line is ended when it returns: of a run that hangs or crashes the
   last lines have no end. Every line is written at once, so that nothing is lost. What MPI itself calls is not recorded. Ranks
   are those of the world. Communicators are known by the lowest world rank of their group and a number of its. Without the
   environment variable RDMA_ROBUST_RECORD nothing is recorded. In its folder a file `forced` can have lines RANK NTH SOURCE
   TAG: receive NTH of RANK, counted from 0 as it is posted, then takes such a message, where it would take any. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct record_comm {
	MPI_Comm handle;
	char name[40];
	int size, *ranks;
	struct record_comm *next;
};
struct record_request {
	MPI_Request handle;
	const void *at; /* Where the program has it: a library may give several requests one handle. */
	long number;    /* 0: inactive. */
	int receives;
	struct record_comm *comm;
	char *call, *kept; /* Of a persistent one: what each start says. */
	struct record_request *next;
};
struct record_message {
	MPI_Message handle;
	long number;
	struct record_comm *comm;
	struct record_message *next;
};
struct record_window {
	MPI_Win handle;
	struct record_comm *comm;
	struct record_window *next;
};

struct record_forced {
	int source, tag, given;
};

static struct record_comm *record_comms;
static struct record_forced *record_forces;
static size_t record_posted, record_forced_room;
static struct record_request *record_requests;
static struct record_message *record_held;
static struct record_window *record_windows;
static int record_file = -1, record_deep, record_rank, record_silent, record_begun;
static long record_numbers;
static pthread_t record_owner;
static const char *record_call;
static const void *record_from;
static char *record_text;
static size_t record_filled, record_room;

static void record_write(const char *text, size_t size)
{
	while (size > 0) {
		ssize_t written = write(record_file, text, size);
		if (written <= 0)
			return;
		text += written, size -= (size_t)written;
	}
}

static void record_fail(const char *why)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/failed", getenv("RDMA_ROBUST_RECORD"));
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file >= 0 && write(file, why, strlen(why)) >= 0)
		close(file);
	_exit(1);
}

static void record_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void record_say(const char *format, ...)
{
	for (;;) {
		va_list given;
		va_start(given, format);
		int size = vsnprintf(record_text ? record_text + record_filled : NULL, record_room - record_filled, format, given);
		va_end(given);
		if (record_filled + (size_t)size < record_room) {
			record_filled += (size_t)size;
			return;
		}
		record_room = 2 * (record_filled + (size_t)size + 1024);
		record_text = realloc(record_text, record_room);
	}
}

/* Whether a call of the program begins that is recorded. */
static int record_begins(const char *call, const void *from)
{
	if (record_deep++ > 0 || record_file < 0)
		return 0;
	if (!pthread_equal(record_owner, pthread_self()))
		record_fail("two threads call MPI, of which one process is recorded only if one thread does");
	record_call = call, record_from = from, record_filled = 0, record_silent = 0, record_begun = 0;
	return 1;
}

/* Say where in the program's own file a call is, as addr2line asks for it. */
static void record_place(char *place, size_t size)
{
	Dl_info found, own;
	if (!dladdr(record_from, &found) || !dladdr((const void *)getauxval(AT_PHDR), &own) || found.dli_fbase != own.dli_fbase)
		return;
	const ElfW(Ehdr) *head = found.dli_fbase;
	snprintf(place, size, ", \"at\": %lu", (unsigned long)((uintptr_t)record_from - (head->e_type == ET_EXEC ? 0 : (uintptr_t)head)));
}

/* Write what is said up to here: the call may wait now. */
static void record_flush(void)
{
	if (record_silent && !record_begun)
		return;
	if (!record_begun) {
		char head[256], place[64] = "";
		record_place(place, sizeof place);
		int size = snprintf(head, sizeof head, "{\"rank\": %d, \"call\": \"MPI_%s\"%s", record_rank, record_call, place);
		record_write(head, (size_t)size);
	}
	record_begun = 1;
	record_write(record_text, record_filled);
	record_filled = 0;
}

static void record_ends(void)
{
	record_say("}\n");
	record_flush();
}

static struct record_comm *record_known(MPI_Comm comm)
{
	for (struct record_comm *each = record_comms; each; each = each->next)
		if (each->handle == comm)
			return each;
	record_fail("a communicator is used that a call has made which is not recorded");
	return NULL;
}

static void record_new_comm(MPI_Comm comm, const char *name)
{
	static int made;
	MPI_Group world, group;
	struct record_comm *found = calloc(1, sizeof *found);
	PMPI_Comm_group(MPI_COMM_WORLD, &world), PMPI_Comm_group(comm, &group);
	PMPI_Group_size(group, &found->size);
	int *own = malloc(sizeof(int) * (size_t)found->size);
	found->ranks = malloc(sizeof(int) * (size_t)found->size);
	for (int i = 0; i < found->size; i++)
		own[i] = i;
	PMPI_Group_translate_ranks(group, found->size, own, world, found->ranks);
	free(own);
	PMPI_Group_free(&group), PMPI_Group_free(&world);
	found->handle = comm;
	if (name)
		snprintf(found->name, sizeof found->name, "%s", name);
	else {
		snprintf(found->name, sizeof found->name, "c%d_%d", record_rank, ++made);
		PMPI_Bcast(found->name, sizeof found->name, MPI_CHAR, 0, comm);
	}
	found->next = record_comms, record_comms = found;
}

/* A communicator was made: all of its members know its name now. */
static void record_created(MPI_Comm comm)
{
	if (comm == MPI_COMM_NULL)
		return;
	record_new_comm(comm, NULL);
	record_say(", \"newcomm\": \"%s\", \"group\": [", record_comms->name);
	for (int i = 0; i < record_comms->size; i++)
		record_say(i ? ", %d" : "%d", record_comms->ranks[i]);
	record_say("]");
}

static void record_freed(MPI_Comm comm)
{
	for (struct record_comm *each = record_comms; each; each = each->next)
		if (each->handle == comm)
			each->handle = MPI_COMM_NULL;
}

static void record_in(MPI_Comm comm)
{
	if (comm != MPI_COMM_WORLD)
		record_say(", \"comm\": \"%s\"", record_known(comm)->name);
}

static void record_peer(const char *member, int rank, MPI_Comm comm)
{
	struct record_comm *known = record_known(comm);
	if (rank == MPI_ANY_SOURCE)
		record_say(", \"%s\": \"any\"", member);
	else if (rank >= 0 && rank < known->size)
		record_say(", \"%s\": %d", member, known->ranks[rank]);
	else
		record_silent = 1;
}

static void record_tag(const char *member, int tag)
{
	if (tag == MPI_ANY_TAG)
		record_say(", \"%s\": \"any\"", member);
	else
		record_say(", \"%s\": %d", member, tag);
}

/* The basic type of both halves of a predefined type of pairs; other predefined types are themselves. */
static MPI_Datatype record_half(MPI_Datatype type)
{
	const struct {
		MPI_Datatype pair, half;
	} pairs[] = {{MPI_2INT, MPI_INT}, {MPI_2INTEGER, MPI_INTEGER}, {MPI_2REAL, MPI_REAL}, {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION}};
	const MPI_Datatype mixed[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (pairs[i].pair == type)
			return pairs[i].half;
	for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
		if (mixed[i] == type)
			return MPI_DATATYPE_NULL;
	return type;
}

/* The basic type that all elements of a type have, MPI_DATATYPE_NULL if they have several or it is not known. */
static MPI_Datatype record_basic(MPI_Datatype type)
{
	int integers, addresses, types, combiner;
	PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
	if (combiner == MPI_COMBINER_NAMED)
		return record_half(type);
	if (types < 1 || types > 64 || integers > 4096 || addresses > 4096)
		return MPI_DATATYPE_NULL;
	int *numbers = malloc(sizeof(int) * (size_t)(integers + 1));
	MPI_Aint *places = malloc(sizeof(MPI_Aint) * (size_t)(addresses + 1));
	MPI_Datatype within[64], basic = MPI_DATATYPE_NULL;
	PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, within);
	free(numbers), free(places);
	for (int i = 0; i < types; i++) {
		int unused, derived;
		MPI_Datatype found = record_basic(within[i]);
		basic = i == 0 || basic == found ? found : MPI_DATATYPE_NULL;
		PMPI_Type_get_envelope(within[i], &unused, &unused, &unused, &derived);
		if (derived != MPI_COMBINER_NAMED)
			PMPI_Type_free(&within[i]);
	}
	return basic;
}

/* How many elements of which basic type: nothing is said of types that have several. */
static void record_elements(const char *which, const char *count, int number, MPI_Datatype type)
{
	MPI_Datatype basic = type == MPI_DATATYPE_NULL ? type : record_basic(type);
	char name[MPI_MAX_OBJECT_NAME + 1] = "";
	int length, each, all;
	if (basic == MPI_DATATYPE_NULL || basic == MPI_PACKED)
		return;
	PMPI_Type_get_name(basic, name, &length), PMPI_Type_size(basic, &each), PMPI_Type_size(type, &all);
	if (name[0] && each > 0)
		record_say(", \"%s\": \"%s\", \"%s\": %ld", which, name, count, (long)number * all / each);
}

static void record_value(const void *from, int count, MPI_Datatype type)
{
	if (count != 1 || from == NULL)
		return;
	if (type == MPI_INT)
		record_say(", \"value\": %d", *(const int *)from);
	else if (type == MPI_LONG)
		record_say(", \"value\": %ld", *(const long *)from);
	else if (type == MPI_SHORT)
		record_say(", \"value\": %d", *(const short *)from);
	else if (type == MPI_UNSIGNED)
		record_say(", \"value\": %u", *(const unsigned *)from);
}

static void record_send(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
	record_peer("dest", to, comm), record_tag("tag", tag), record_in(comm);
	record_elements("type", "count", count, type), record_value(from, count, type);
}

static void record_receive(int count, MPI_Datatype type, int from, int tag, MPI_Comm comm)
{
	record_peer("source", from, comm), record_tag("tag", tag), record_in(comm);
	record_elements("recvtype", "room", count, type);
}

/* A receive is posted: of a message that it is forced to take, if there is one for it. */
static void record_force(int *source, int *tag, MPI_Comm comm)
{
	size_t nth = record_posted;
	if (*source == MPI_PROC_NULL)
		return;
	record_posted++;
	if (nth >= record_forced_room || !record_forces[nth].given)
		return;
	struct record_comm *known = record_known(comm);
	for (int i = 0; *source == MPI_ANY_SOURCE && i < known->size; i++)
		if (known->ranks[i] == record_forces[nth].source)
			*source = i;
	if (*tag == MPI_ANY_TAG)
		*tag = record_forces[nth].tag;
}

static void record_read_forces(const char *folder)
{
	char path[4096];
	int rank, source, tag;
	size_t nth;
	snprintf(path, sizeof path, "%s/forced", folder);
	FILE *file = fopen(path, "r");
	while (file && fscanf(file, "%d %zu %d %d", &rank, &nth, &source, &tag) == 4) {
		if (rank != record_rank)
			continue;
		if (nth >= record_forced_room) {
			record_forces = realloc(record_forces, (2 * nth + 1) * sizeof *record_forces);
			memset(record_forces + record_forced_room, 0, (2 * nth + 1 - record_forced_room) * sizeof *record_forces);
			record_forced_room = 2 * nth + 1;
		}
		record_forces[nth] = (struct record_forced){source, tag, 1};
	}
	if (file)
		fclose(file);
}

static void record_look(int from, int tag, MPI_Comm comm)
{
	record_peer("source", from, comm), record_tag("tag", tag), record_in(comm);
}

/* Both halves; where one has no partner the call is the other half. */
static void record_both(const void *from, int count, MPI_Datatype type, int to, int sendtag, int room, MPI_Datatype taken, int source,
                        int recvtag, MPI_Comm comm)
{
	if (to == MPI_PROC_NULL) {
		record_call = "Recv";
		record_receive(room, taken, source, recvtag, comm);
		return;
	}
	record_peer("dest", to, comm);
	if (source == MPI_PROC_NULL)
		record_call = "Send", record_tag("tag", sendtag);
	else
		record_tag("sendtag", sendtag), record_peer("source", source, comm), record_tag("recvtag", recvtag);
	record_in(comm);
	record_elements("type", "count", count, type), record_value(from, count, type);
	if (source != MPI_PROC_NULL)
		record_elements("recvtype", "room", room, taken);
}

static void record_took(const MPI_Status *status, struct record_comm *comm)
{
	if (comm && status->MPI_SOURCE >= 0 && status->MPI_SOURCE < comm->size)
		record_say("{\"source\": %d, \"tag\": %d}", comm->ranks[status->MPI_SOURCE], status->MPI_TAG);
	else
		record_say("{}");
}

static void record_status(const MPI_Status *status, MPI_Comm comm)
{
	record_say(", \"status\": "), record_took(status, record_known(comm));
}

static void record_open(MPI_Request handle, const void *at, int receives, MPI_Comm comm)
{
	struct record_request *made = calloc(1, sizeof *made);
	made->handle = handle, made->at = at, made->receives = receives;
	made->comm = comm == MPI_COMM_NULL ? NULL : record_known(comm);
	made->number = record_silent ? 0 : ++record_numbers;
	made->next = record_requests, record_requests = made;
	record_say(", \"request\": %ld", made->number);
}

static void record_forget(struct record_request *request)
{
	struct record_request **at = &record_requests;
	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	free(request->kept), free(request);
}

/* Keep what each start of a persistent request says; it was said of `call`. */
static void record_keep(MPI_Request handle, const void *at, char *call, int receives, MPI_Comm comm)
{
	char *kept = record_silent ? NULL : strdup(record_text);
	record_silent = 0;
	record_open(handle, at, receives, comm);
	record_requests->number = 0, record_requests->call = call, record_requests->kept = kept;
	record_silent = 1;
}

static struct record_request *record_find(MPI_Request handle, const void *at)
{
	struct record_request *found = NULL;
	if (handle == MPI_REQUEST_NULL)
		return NULL;
	for (struct record_request *each = record_requests; each; each = each->next)
		if (each->handle == handle && (found == NULL || each->at == at)) {
			found = each;
			if (each->at == at)
				break;
		}
	return found;
}

static void record_start(MPI_Request handle, const void *at)
{
	struct record_request *found = record_find(handle, at);
	if (found == NULL || found->kept == NULL)
		return;
	found->number = ++record_numbers;
	record_posted += (size_t)found->receives;
	record_call = found->call, record_filled = 0, record_begun = 0;
	record_say("%s, \"request\": %ld", found->kept, found->number);
	record_ends();
	record_filled = 0, record_begun = 0;
}

/* Look requests up before a call that completes them, as it changes them, and say which are active. Without a `member` nothing
   is said. */
static struct record_request **record_among(int count, const MPI_Request *handles, const void *at, size_t width, const char *member)
{
	struct record_request **found = calloc((size_t)count + 1, sizeof *found);
	int active = 0;
	for (int i = 0; i < count; i++) {
		found[i] = record_find(handles[i], (const char *)at + (size_t)i * width);
		if (found[i] == NULL || found[i]->number == 0)
			continue;
		if (member && active++)
			record_say(", %ld", found[i]->number);
		else if (member)
			record_say(", \"%s\": [%ld", member, found[i]->number);
	}
	if (active)
		record_say("]");
	else if (member)
		record_silent = 1;
	return found;
}

/* Requests were completed, those at these places of a list; all of it without places. */
static void record_completed(struct record_request **found, int count, const int *places, const MPI_Status *statuses, int say)
{
	int said = 0;
	for (int turn = say ? 0 : 1; turn < 2; turn++) {
		said = 0;
		for (int i = 0; i < count; i++) {
			struct record_request *each = found[places ? places[i] : i];
			if (each == NULL || each->number == 0)
				continue;
			if (!said++)
				record_say(turn ? ", \"statuses\": [" : ", \"requests\": [");
			else
				record_say(", ");
			if (turn == 0)
				record_say("%ld", each->number);
			else
				record_took(&statuses[i], each->receives ? each->comm : NULL);
		}
		if (said)
			record_say("]");
	}
	if (!said)
		record_silent = 1;
	for (int i = 0; i < count; i++) {
		struct record_request *each = found[places ? places[i] : i];
		if (each && each->call)
			each->number = 0;
		else if (each)
			record_forget(each);
	}
	free(found);
}

static void record_freed_request(MPI_Request handle, const void *at)
{
	struct record_request *found = record_find(handle, at);
	if (found)
		record_forget(found);
	record_silent = 1;
}

static void record_hold(MPI_Message handle, MPI_Comm comm)
{
	struct record_message *made = calloc(1, sizeof *made);
	made->handle = handle, made->comm = record_known(comm), made->number = ++record_numbers;
	made->next = record_held, record_held = made;
	record_say(", \"message\": %ld", made->number);
}

static MPI_Comm record_release(MPI_Message handle)
{
	for (struct record_message **at = &record_held, *found; (found = *at); at = &found->next)
		if (found->handle == handle) {
			MPI_Comm comm = found->comm->handle;
			record_say(", \"message\": %ld", found->number);
			*at = found->next;
			record_posted++;
			free(found);
			return comm;
		}
	record_silent = 1;
	return MPI_COMM_NULL;
}

static void record_operation(MPI_Op op)
{
	const struct {
		MPI_Op op;
		const char *name;
	} known[] = {{MPI_SUM, "sum"}, {MPI_PROD, "prod"}, {MPI_MAX, "max"}, {MPI_MIN, "min"}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].op == op)
			record_say(", \"op\": \"%s\"", known[i].name);
}

static void record_enter(MPI_Comm comm)
{
	if (record_known(comm)->size == 1)
		record_silent = 1;
	record_in(comm);
}

static void record_new_window(MPI_Win handle, MPI_Comm comm)
{
	struct record_window *made = calloc(1, sizeof *made);
	made->handle = handle, made->comm = record_known(comm);
	made->next = record_windows, record_windows = made;
}

static void record_window(MPI_Win handle)
{
	for (struct record_window *each = record_windows; each; each = each->next)
		if (each->handle == handle) {
			if (strcmp(each->comm->name, "MPI_COMM_WORLD") != 0)
				record_say(", \"comm\": \"%s\"", each->comm->name);
			record_silent = each->comm->size == 1;
			return;
		}
	record_fail("a window is used that a call has made which is not recorded");
}

static void record_set_up(void)
{
	const char *folder = getenv("RDMA_ROBUST_RECORD");
	char path[4096];
	int size;
	if (folder == NULL || record_file >= 0)
		return;
	snprintf(path, sizeof path, "%s/log.%d.jsonl", folder, (int)getpid());
	record_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (record_file < 0)
		return;
	record_owner = pthread_self();
	PMPI_Comm_rank(MPI_COMM_WORLD, &record_rank), PMPI_Comm_size(MPI_COMM_WORLD, &size);
	record_new_comm(MPI_COMM_SELF, "MPI_COMM_SELF");
	record_new_comm(MPI_COMM_WORLD, "MPI_COMM_WORLD");
	record_read_forces(folder);
	char first[128];
	int length = snprintf(first, sizeof first, "{\"rank\": %d, \"call\": \"MPI_Init\", \"size\": %d}\n", record_rank, size);
	record_write(first, (size_t)length);
}

/* What Fortran has as numbers. */
static MPI_Request *record_handles(const MPI_Fint *numbers, size_t count)
{
	MPI_Request *made = calloc(count + 1, sizeof *made);
	for (size_t i = 0; i < count; i++)
		made[i] = PMPI_Request_f2c(numbers[i]);
	return made;
}

static int *record_places(const MPI_Fint *numbers, int count)
{
	int *made = calloc((size_t)count + 1, sizeof *made);
	for (int i = 0; i < count; i++)
		made[i] = numbers[i] - 1;
	return made;
}

static void record_statuses(MPI_Status *into, const MPI_Fint *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		PMPI_Status_f2c((MPI_Fint *)words + i * (sizeof *into / sizeof *words), &into[i]);
}

/* What programs with `use mpi_f08` call is named otherwise, and may ignore statuses by another address. */
#ifdef MPICH
/* MPICH 4.2 counts from 0 there. */
#define WHICH_F08 record_fail("which request MPI_Waitany and its like complete is not known with use mpi_f08 of MPICH: use Open MPI");
#define PROFILED_F08(name) pmpir_##name##_f08_
#define IGNORED(given, kind) ((void *)(given) == (void *)MPI_F_##kind##_IGNORE || (void *)(given) == (void *)MPI_F08_##kind##_IGNORE)
#else
#define WHICH_F08
#define PROFILED_F08(name) pmpi_##name##_f08_
#define IGNORED(given, kind) ((void *)(given) == (void *)MPI_F_##kind##_IGNORE)
#endif
#define WAITS record_flush();
#define FOUND(count, handles, at, member) \
	struct record_request **found = record_among(count, handles, at, sizeof *(at), member);
#define OWN(given) \
	MPI_Status own; \
	memset(&own, 0, sizeof own); \
	if (given != MPI_STATUS_IGNORE) \
		own = *given;
#define TELL(given) \
	if (given != MPI_STATUS_IGNORE) \
		*given = own;
#define OWNS(count) MPI_Status *owns = calloc((size_t)(count) + 1, sizeof *owns);
#define TELL_ALL(given, count) \
	if (given != MPI_STATUSES_IGNORE) \
		memcpy(given, owns, (size_t)(count) * sizeof *owns); \
	free(owns);
#define WORDS(count) \
	OWNS(count) \
	MPI_Fint *words = calloc((count) + 1, sizeof *owns);
#define TAKE_WORDS(count) record_statuses(owns, words, count);
#define TELL_WORDS(given, count, kind) \
	if (!IGNORED(given, kind)) \
		memcpy(given, words, (count) * sizeof *owns); \
	free(words), free(owns);
