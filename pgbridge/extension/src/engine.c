// The child process: how it is started, spoken to and ended.
//
// It is started at the first use, never when the library is loaded. Any error between a request and its answer ends it,
// because a broken exchange cannot be repaired; the next call starts another. It is also killed and reaped when the
// backend ends, so that neither zombies nor orphans are left.
#include "engine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#define PROGRAM "relgrad-engine"
#define FIRST_MAPPING (UINT64CONST(8) << 20)
#define KEPT_MEMORY (UINT64CONST(64) << 20) // bytes of shared memory that are kept between requests
#define HEADER 5

static RgEngine engines[RG_MAX_NESTED];
static int running; // requests under way
static bool exit_hooked;

static void
forget(RgEngine *e)
{
	if (e->map != NULL)
		munmap(e->map, e->mapped);
	close(e->sock);
	close(e->memory);
	ReleaseExternalFD();
	ReleaseExternalFD();
	e->pid = 0;
	e->map = NULL;
	e->mapped = 0;
	e->rows = NULL;
}

// stop kills and reaps an engine. It raises no error. In a process that has not started the engine (a fork of the
// backend) it only closes its copies of the descriptors.
static void
stop(RgEngine *e)
{
	if (e->pid == 0)
		return;
	if (e->owner == getpid()) {
		kill(e->pid, SIGKILL);
		while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	forget(e);
}

static void
stop_all(int code, Datum arg)
{
	(void) code;
	(void) arg;
	for (int i = 0; i < RG_MAX_NESTED; i++)
		stop(&engines[i]);
}

// close_from closes all descriptors from first on. Before version 16 exec does not close those of a backend.
static void
close_from(int first)
{
	struct rlimit limit;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		limit.rlim_cur = 65536;
	for (int fd = first; fd < (int) Min(limit.rlim_cur, 1 << 20); fd++)
		close(fd);
}

// become_engine is the child between fork and exec: system calls only. It gets a process group of its own, so that
// signals to the backend's group do not reach it.
static void
become_engine(const char *path, char *const *env, pid_t parent, int sock, int memory)
{
	char *argv[] = {PROGRAM, "engine", NULL};
	sigset_t none;
	int score;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	setsid();
	// The engine ends with the backend, however that ends. The backend may have ended already.
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(126);
	// If memory runs out the kernel shall kill the engine, not the server.
	if ((score = open("/proc/self/oom_score_adj", O_WRONLY)) >= 0) {
		if (write(score, "500", 3) < 0)
			score = -1;
	}
	sock = fcntl(sock, F_DUPFD, 10);
	memory = fcntl(memory, F_DUPFD, 10);
	if (sock < 0 || memory < 0 || dup2(sock, 0) < 0 || dup2(sock, 1) < 0 || dup2(memory, 3) < 0 || chdir("/") != 0)
		_exit(126);
	close_from(4);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(path, argv, env);
	_exit(127);
}

// environment is the engine's environment: of the server's variables only those that its libraries and temporary files
// need.
static char **
environment(void)
{
	static const char *const kept[] = {"TMPDIR", "OPENBLAS", "LD_LIBRARY_PATH", "TZ",
									   "RELGRAD_CUDA_DRIVER", "RELGRAD_NVRTC", "RELGRAD_CUBLASLT",
									   "RELGRAD_CUDA_CACHE"};
	char **env = palloc0(sizeof(char *) * (lengthof(kept) + 4));
	int n = 0;

	env[n++] = "PATH=/usr/local/bin:/usr/bin:/bin";
	env[n++] = "LANG=C.UTF-8";
	env[n++] = "HOME=/";
	for (size_t i = 0; i < lengthof(kept); i++)
		if (getenv(kept[i]) != NULL)
			env[n++] = psprintf("%s=%s", kept[i], getenv(kept[i]));
	return env;
}

static void
start(RgEngine *e)
{
	int pair[2] = {-1, -1}, memory = -1, fault = 0;
	char *path = psprintf("%s/" PROGRAM, pkglib_path);
	char **env = environment();
	sigset_t all, before;
	pid_t pid = -1;
	pid_t parent = getpid();

	if (access(path, X_OK) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not execute the engine \"%s\": %m", path),
						errhint("It is a part of the extension: install that again.")));
	if (!exit_hooked) {
		before_shmem_exit(stop_all, (Datum) 0);
		exit_hooked = true;
	}
	ReserveExternalFD();
	ReserveExternalFD();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
		(memory = memfd_create("relgrad", MFD_CLOEXEC | MFD_ALLOW_SEALING)) < 0 ||
		// so that access to mapped memory cannot fail
		fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
		fault = errno;
	if (fault == 0) {
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, &before);
		pid = fork();
		if (pid == 0)
			become_engine(path, env, parent, pair[1], memory);
		fault = pid < 0 ? errno : 0;
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (pair[1] >= 0)
		close(pair[1]);
	if (fault != 0) {
		close(pair[0]);
		close(memory);
		ReleaseExternalFD();
		ReleaseExternalFD();
		errno = fault;
		ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not start the engine: %m")));
	}
	e->pid = pid;
	e->owner = parent;
	e->sock = pair[0];
	e->memory = memory;
}

// rg_engine_begin returns an engine that waits for a request, at the next level.
RgEngine *
rg_engine_begin(void)
{
	RgEngine *e;

	if (running == RG_MAX_NESTED)
		ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
						errmsg("gradient() and its kin are called within one another more than %d deep", RG_MAX_NESTED),
						errdetail("A statement that such a call runs calls the next one.")));
	e = &engines[running];
	if (e->pid != 0 && (e->owner != getpid() || e->busy))
		stop(e);
	if (e->in.data == NULL) {
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		initStringInfo(&e->in);
		initStringInfo(&e->out);
		MemoryContextSwitchTo(old);
	}
	if (e->pid == 0)
		start(e);
	e->rows = NULL;
	e->lost = false;
	e->busy = true;
	running++;
	return e;
}

// shrink frees the memory of a large frame.
static void
shrink(StringInfo s)
{
	if (s->maxlen > 1 << 20) {
		pfree(s->data);
		s->data = MemoryContextAlloc(TopMemoryContext, s->maxlen = 1024);
		resetStringInfo(s);
	}
}

static void
leave(RgEngine *e)
{
	running = e - engines;
	e->rows = NULL;
	shrink(&e->in);
	shrink(&e->out);
}

// rg_engine_end ends a request that was answered. The engine waits for the next one. Pages of large shared memory are
// given back; what is mapped stays readable.
void
rg_engine_end(RgEngine *e)
{
	leave(e);
	e->busy = false;
	if (e->pid != 0 && e->mapped > KEPT_MEMORY)
		(void) fallocate(e->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, KEPT_MEMORY, e->mapped - KEPT_MEMORY);
}

// rg_engine_abandon ends a request that has failed.
void
rg_engine_abandon(RgEngine *e)
{
	bool broken = e->busy;

	rg_engine_end(e);
	if (broken)
		stop(e);
}

// rg_engine_running returns the engine of the innermost request, NULL if there is none.
RgEngine *
rg_engine_running(void)
{
	return running == 0 ? NULL : &engines[running - 1];
}

// rg_fault raises an error about something that no correct engine sends.
void
rg_fault(RgEngine *e, const char *format, ...)
{
	va_list args;
	char text[256];

	e->lost = true;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("the engine sent %s", text),
					errhint("The extension's library and its program relgrad-engine belong to one version: install the extension again.")));
	abort(); // not reached
}

// gone raises an error that says why the other side of the socket is closed.
static void RG_NORETURN_ATTR
gone(RgEngine *e)
{
	int status = 0;
	pid_t pid = 0;

	e->lost = true;
	for (int i = 0; i < 200 && pid == 0; i++) { // a process's descriptors are closed before it can be reaped
		while ((pid = waitpid(e->pid, &status, WNOHANG)) < 0 && errno == EINTR)
			;
		if (pid == 0)
			pg_usleep(1000);
	}
	if (pid == e->pid)
		forget(e);
	ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("the engine ended amid a request"),
					pid <= 0					? errdetail("It closed its connection.")
					: WIFSIGNALED(status)		? errdetail("It was ended by signal %d: %s.", WTERMSIG(status),
															strsignal(WTERMSIG(status)))
					: WEXITSTATUS(status) == 127 ? errdetail("The program could not be executed.")
												: errdetail("It ended with exit status %d.", WEXITSTATUS(status)),
					errhint("The server's log has what it said last. The next call starts another one.")));
	abort(); // not reached
}

// wait_for waits for the socket. A cancelled statement ends here.
static void
wait_for(RgEngine *e, int event)
{
	int what = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | event, e->sock, -1, PG_WAIT_EXTENSION);

	if (what & WL_LATCH_SET) {
		ResetLatch(MyLatch);
		e->lost = true; // in case the check raises an error
		CHECK_FOR_INTERRUPTS();
		e->lost = false;
	}
}

void
rg_begin_frame(RgEngine *e, char kind)
{
	resetStringInfo(&e->out);
	appendStringInfoSpaces(&e->out, HEADER - 1);
	appendStringInfoChar(&e->out, kind);
}

void
rg_put_u8(RgEngine *e, uint8 x)
{
	appendBinaryStringInfo(&e->out, (char *) &x, sizeof x);
}

// little writes the low bytes of x, the lowest first.
static void
little(char *to, uint64 x, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (char) (x >> 8 * i);
}

void
rg_put_u32(RgEngine *e, uint32 x)
{
	char b[4];

	little(b, x, sizeof b);
	appendBinaryStringInfo(&e->out, b, sizeof b);
}

void
rg_put_u64(RgEngine *e, uint64 x)
{
	char b[8];

	little(b, x, sizeof b);
	appendBinaryStringInfo(&e->out, b, sizeof b);
}

void
rg_put_bytes(RgEngine *e, const char *at, uint32 n)
{
	rg_put_u32(e, n);
	appendBinaryStringInfo(&e->out, at, n);
}

void
rg_put_string(RgEngine *e, const char *s)
{
	rg_put_bytes(e, s, strlen(s));
}

void
rg_send_frame(RgEngine *e)
{
	const char *at = e->out.data;
	size_t left = e->out.len;

	little(e->out.data, e->out.len - HEADER, 4);
	while (left > 0) {
		ssize_t n = send(e->sock, at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			left -= n;
		} else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			wait_for(e, WL_SOCKET_WRITEABLE);
		else if (n < 0 && errno != EINTR)
			gone(e);
	}
}

static void
receive(RgEngine *e, char *to, size_t n)
{
	while (n > 0) {
		ssize_t got = recv(e->sock, to, n, MSG_DONTWAIT);

		if (got > 0) {
			to += got;
			n -= got;
		} else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			wait_for(e, WL_SOCKET_READABLE);
		else if (got == 0 || errno != EINTR)
			gone(e);
	}
}

static uint64
from_little(const char *from, int bytes)
{
	uint64 x = 0;

	for (int i = 0; i < bytes; i++)
		x |= (uint64) (uint8) from[i] << 8 * i;
	return x;
}

// rg_receive_frame waits for a frame. Its payload stays until the next one. The buffer grows with the bytes that
// arrive, not with the length that is announced.
RgReader
rg_receive_frame(RgEngine *e)
{
	char header[HEADER];
	RgReader r = {.engine = e};
	uint32 left;

	receive(e, header, HEADER);
	left = from_little(header, 4);
	r.kind = header[4];
	if (left >= MaxAllocSize)
		rg_fault(e, "a frame of %u bytes", left);
	resetStringInfo(&e->in);
	while (left > 0) {
		uint32 n = Min(left, 1 << 20);

		enlargeStringInfo(&e->in, n);
		receive(e, e->in.data + e->in.len, n);
		e->in.len += n;
		left -= n;
	}
	r.at = e->in.data;
	r.end = r.at + e->in.len;
	return r;
}

static const char *
take(RgReader *r, uint64 n)
{
	const char *at = r->at;

	if (n > (uint64) (r->end - r->at))
		rg_fault(r->engine, "a frame %c that is too short", r->kind);
	r->at += n;
	return at;
}

uint8
rg_get_u8(RgReader *r)
{
	return *take(r, 1);
}

uint32
rg_get_u32(RgReader *r)
{
	return from_little(take(r, 4), 4);
}

uint64
rg_get_u64(RgReader *r)
{
	return from_little(take(r, 8), 8);
}

// rg_get_string returns a copy.
char *
rg_get_string(RgReader *r)
{
	uint32 n = rg_get_u32(r);
	const char *s = take(r, n);

	if (memchr(s, 0, n) != NULL || !pg_verify_mbstr(PG_UTF8, s, n, true))
		rg_fault(r->engine, "a frame %c with a text that is not UTF-8", r->kind);
	return pnstrdup(s, n);
}

// rg_get_rest returns a copy of what is left.
bytea *
rg_get_rest(RgReader *r, MemoryContext in)
{
	size_t n = r->end - r->at;
	bytea *b;

	if (n > MaxAllocSize - VARHDRSZ)
		rg_fault(r->engine, "a frame %c that is too long", r->kind);
	b = MemoryContextAlloc(in, n + VARHDRSZ);
	SET_VARSIZE(b, n + VARHDRSZ);
	memcpy(VARDATA(b), take(r, n), n);
	return b;
}

void
rg_get_end(RgReader *r)
{
	if (r->at != r->end)
		rg_fault(r->engine, "a frame %c that is too long", r->kind);
}

static void
map(RgEngine *e, uint64 size)
{
	void *at = e->map == NULL ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, e->memory, 0)
							  : mremap(e->map, e->mapped, size, MREMAP_MAYMOVE);

	if (at == MAP_FAILED)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
						errmsg("could not map " UINT64_FORMAT " bytes shared with the engine: %m", size)));
	e->map = at;
	e->mapped = size;
}

static uint64
size_of(RgEngine *e)
{
	struct stat st;

	if (fstat(e->memory, &st) != 0)
		ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR),
						errmsg("could not find the size of the memory shared with the engine: %m")));
	return st.st_size;
}

// rg_grow makes the shared memory at least this large, in bytes.
void
rg_grow(RgEngine *e, uint64 size)
{
	uint64 has, wanted = Max(e->mapped, FIRST_MAPPING);

	if (size <= e->mapped)
		return;
	while (wanted < size)
		wanted *= 2;
	has = size_of(e);
	if (has < wanted && ftruncate(e->memory, wanted) != 0)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
						errmsg("could not share " UINT64_FORMAT " bytes with the engine: %m", wanted)));
	map(e, Max(has, wanted));
}

// rg_remap maps what the engine has added to the shared memory.
void
rg_remap(RgEngine *e)
{
	uint64 size = size_of(e);

	if (size > e->mapped)
		map(e, size);
}
