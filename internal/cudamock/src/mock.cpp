// A double of NVIDIA's driver, of its compiler of kernels, and of cuBLASLt (blaslt.h). Kernels are compiled as C++
// (shim.h) and run on the processor, a fibre for each thread, one block after the other. What is asynchronous runs as
// late as it may: when somebody waits.
// It is for tests: it refuses what a device refuses, and what a device leaves undefined it stops with a message.
//
// RELGRAD_MOCK_DEVICES, RELGRAD_MOCK_MEMORY: how many devices there are (2), and their bytes (1 GB).
// RELGRAD_MOCK_SEED: the order of threads, blocks and streams; 0 or none: their own.
// RELGRAD_MOCK_FAIL: "function number code": the call of a function with this number, from 1 on, fails with the code.
// RELGRAD_MOCK_FLAGS: further options for the compiler.
// RELGRAD_MOCK_SANITIZE: those of a sanitizer; by default addresses that are not aligned trap. With -fsanitize=thread
// races are looked for (races.h). With -fsanitize=address libasan must be loaded before: the devices' memory then comes
// from it.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "races.h"

namespace {

struct Place {
	unsigned x, y, z;
};

struct Running {
	Place thread, block, threads, blocks;
	void (*all)();
	void (*warp)(unsigned);
	unsigned long long (*swap)(unsigned, unsigned long long, int);
	void (*access)(const void *, unsigned long, int, const void *);
};

Running running;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// CUresult
enum {
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	NOT_FOUND = 500,
	NOT_READY = 600,
	ILLEGAL_ADDRESS = 700,
	MISALIGNED_ADDRESS = 716,
	LAUNCH_FAILED = 719,
	CAPTURE_UNSUPPORTED = 900,
	CAPTURE_INVALIDATED = 901,
};

const char *value(const char *name, const char *otherwise)
{
	const char *v = getenv(name);

	return v && *v ? v : otherwise;
}

[[noreturn]] void stop(const std::string &why)
{
	fprintf(stderr, "mock of CUDA: %s\n", why.c_str());
	abort();
}

// injected tells the error that a test wants of this call; 0: none.
int injected(const char *function)
{
	static std::string plan;
	static std::map<std::string, int> calls;
	const char *now = value("RELGRAD_MOCK_FAIL", "");
	char name[64];
	int number, code;

	if (plan != now) {
		plan = now;
		calls.clear();
	}
	int n = ++calls[function];

	if (sscanf(now, "%63s %d %d", name, &number, &code) != 3 || strcmp(name, function) || number != n)
		return 0;
	return code;
}

uint64_t drawn = 0;

// draw is a number below n, of the seed's sequence.
unsigned draw(unsigned n)
{
	drawn += 0x9e3779b97f4a7c15u;
	uint64_t x = drawn;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) % n;
}

bool shuffled()
{
	static std::string seed;
	const char *now = value("RELGRAD_MOCK_SEED", "0");

	if (seed != now) {
		seed = now;
		drawn = strtoull(now, nullptr, 10);
	}
	return seed != "0";
}

std::vector<int> order(int n)
{
	std::vector<int> out(n);

	for (int i = 0; i < n; i++)
		out[i] = i;
	if (shuffled())
		for (int i = n - 1; i > 0; i--)
			std::swap(out[i], out[draw(i + 1)]);
	return out;
}

// ---- fibres

extern "C" void rg_switch(void **from, void *to);
#if defined(__x86_64__)
asm(".text\n.globl rg_switch\nrg_switch:\n"
	"pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
	"movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
	"popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
const int SAVED = 6;
#elif defined(__aarch64__)
asm(".text\n.globl rg_switch\nrg_switch:\n"
	"sub sp, sp, #160\nstp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
	"stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
	"stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
	"mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
	"ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
	"ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
	"ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nadd sp, sp, #160\nret\n");
#else
#error "no fibres for this processor"
#endif

enum State { READY, ALL, WARP, DONE };

struct Fibre {
	void *sp;
	State state;
	unsigned mask;
	bool shuffles; // it waits within a shuffle, which orders no memory
	unsigned long long bits;
};

const size_t STACK = 256 << 10; // of a thread that is checked, too
const int MOST = 1024;

struct Function;
Fibre fibres[MOST];
char *stacks;
void *scheduler;
int current, threads;
Function *called;
void **arguments;
std::string wrong; // what a kernel has done
sigjmp_buf fault;
volatile bool inKernel;
volatile int caught; // the signal that has ended a kernel
pthread_t kernelThread;

struct Function {
	std::string name;
	void (*call)(void **);
	int args;
	char *shared;
	size_t sharedBytes;
};

void leave(State s)
{
	fibres[current].state = s;
	rg_switch(&fibres[current].sp, scheduler);
}

void waitAll()
{
	leave(ALL);
}

void waitLanes(unsigned mask, bool shuffles)
{
	fibres[current].mask = mask, fibres[current].shuffles = shuffles;
	leave(WARP);
}

void waitWarp(unsigned mask)
{
	waitLanes(mask, false);
}

unsigned long long swapBits(unsigned mask, unsigned long long bits, int lane)
{
	int of = (current & ~31) + lane;

	if (!(mask >> (current & 31) & 1))
		wrong = "a lane shuffles that its mask does not name";
	if (!(mask >> lane & 1) || of >= threads)
		wrong = "a shuffle reads a lane that its mask does not name";
	fibres[current].bits = bits;
	waitLanes(mask, true);
	bits = fibres[of].bits;
	waitLanes(mask, true);
	return bits;
}

void body()
{
	called->call(arguments);
	leave(DONE);
	stop("a thread goes on behind its end");
}

// unpoison is __asan_unpoison_memory_region where kernels are checked by it.
auto unpoison = (void (*)(const volatile void *, size_t)) dlsym(RTLD_DEFAULT, "__asan_unpoison_memory_region");

void begin(int i)
{
	void **top = (void **) (stacks + (i + 1) * STACK);

	if (unpoison)
		unpoison(stacks + i * STACK, STACK); // what a thread before has left, which did not come to its end
#if defined(__x86_64__)
	*--top = nullptr; // where body would return to
	*--top = (void *) body;
	for (int r = 0; r < SAVED; r++)
		*--top = nullptr;
#else
	top -= 20;
	memset(top, 0, 160);
	top[11] = (void *) body;
#endif
	fibres[i].sp = top;
	fibres[i].state = READY;
}

// released lets threads go on for which all have come; it reports whether there are any.
bool released()
{
	bool any = false;
	int waiting = 0, done = 0;

	for (int i = 0; i < threads; i++) {
		waiting += fibres[i].state == ALL;
		done += fibres[i].state == DONE;
	}
	if (waiting && waiting + done == threads) {
		for (int i = 0; i < threads; i++)
			if (fibres[i].state == ALL)
				fibres[i].state = READY;
		races::barrier();
		return true;
	}
	for (int i = 0; i < threads; i++) {
		if (fibres[i].state != WARP)
			continue;
		unsigned mask = fibres[i].mask;
		bool come = true;

		for (int lane = 0; lane < 32; lane++) {
			int of = (i & ~31) + lane;

			if (!(mask >> lane & 1))
				continue;
			if (of >= threads || fibres[of].state == DONE) {
				wrong = "a warp waits for a lane that has left";
				return false;
			}
			come = come && fibres[of].state == WARP && fibres[of].mask == mask;
		}
		if (!come)
			continue;
		for (int lane = 0; lane < 32; lane++)
			if (mask >> lane & 1)
				fibres[(i & ~31) + lane].state = READY;
		if (!fibres[i].shuffles)
			races::meet(i / 32, mask);
		any = true;
	}
	return any;
}

void runBlock()
{
	for (int i = 0; i < threads; i++)
		begin(i);
	std::vector<int> turn = order(threads);

	for (;;) {
		int left = 0;

		for (int i : turn) {
			if (fibres[i].state != READY)
				continue;
			current = i;
			running.thread.x = i;
			rg_switch(&scheduler, fibres[i].sp);
		}
		for (int i = 0; i < threads; i++)
			left += fibres[i].state != DONE;
		if (!left || !wrong.empty())
			return;
		if (!released()) {
			if (wrong.empty())
				wrong = "threads wait for others that never come";
			return;
		}
	}
}

struct sigaction beforeFault, beforeTrap;

void onSignal(int number, siginfo_t *info, void *context)
{
	struct sigaction &before = number == SIGILL ? beforeTrap : beforeFault;

	if (inKernel && pthread_equal(pthread_self(), kernelThread))
		siglongjmp(fault, caught = number);
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
		signal(number, SIG_DFL);
	else
		before.sa_handler(number);
}

void look(const void *at, unsigned long bytes, int kind, const void *code);

// execute runs a kernel now; it returns the error that sticks, 0 if there is none.
int execute(Function *f, unsigned blocks, unsigned n, void **args)
{
	struct sigaction own = {};
	volatile int error = 0;

	if (!stacks) {
		stacks = (char *) mmap(nullptr, MOST * STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stacks == MAP_FAILED)
			stop("there is no memory for threads");
	}
	called = f, arguments = args, threads = n, wrong.clear();
	running = Running{{}, {}, {n, 1, 1}, {blocks, 1, 1}, waitAll, waitWarp, swapBits, look};
	own.sa_sigaction = onSignal;
	own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	kernelThread = pthread_self();
	sigaction(SIGSEGV, &own, &beforeFault);
	sigaction(SIGILL, &own, &beforeTrap);
	inKernel = true;
	if (sigsetjmp(fault, 1)) {
		bool aligned = caught != SIGILL;

		fprintf(stderr, "mock of CUDA: %s reads or writes %s\n", f->name.c_str(),
			aligned ? "where nothing is" : "at an address that is not aligned");
		error = aligned ? ILLEGAL_ADDRESS : MISALIGNED_ADDRESS;
	} else {
		std::vector<int> turn;

		if (blocks <= 1 << 16)
			turn = order(blocks);
		races::beginLaunch();
		for (unsigned b = 0; b < blocks && wrong.empty(); b++) {
			running.block.x = turn.empty() ? b : turn[b];
			for (size_t i = 0; i < f->sharedBytes; i++) // memset looks between arrays, too, where libasan is loaded
				f->shared[i] = (char) 0xff;
			races::beginBlock(f->shared, f->sharedBytes);
			runBlock();
		}
	}
	inKernel = false;
	sigaction(SIGSEGV, &beforeFault, nullptr);
	sigaction(SIGILL, &beforeTrap, nullptr);
	if (!wrong.empty()) {
		fprintf(stderr, "mock of CUDA: %s: %s\n", f->name.c_str(), wrong.c_str());
		error = LAUNCH_FAILED;
	}
	return error;
}

// ---- devices

struct Memory {
	size_t bytes, mapped;
	char *base;
};

struct Event {
	bool done = true;
};

struct Work {
	std::function<int()> run;    // nil: only the event
	std::shared_ptr<Event> awaits; // it may not run before
	std::shared_ptr<Event> says;   // what has happened behind it
};

struct Graph {
	std::vector<std::function<int()>> launches;
};

struct Stream;

struct Device {
	int number = 0, retained = 0, error = 0; // an error that sticks
	std::map<uint64_t, Memory> memory;
	std::map<char *, size_t> pinned; // the host's
	size_t used = 0;
	std::set<Stream *> streams;
	int modules = 0, graphs = 0, events = 0, products = 0; // products: what cuBLASLt has made and not given back
};

struct Stream {
	Device *device;
	std::vector<Work> work;
	bool captures = false, broken = false;
	pthread_t captor = {}; // the thread that records
	Graph captured;
};

struct Module {
	Device *device;
	void *lib;
	std::map<std::string, Function> functions;
};

struct Executable {
	Device *device;
	Graph graph;
};

struct Mark {
	Device *device;
	std::shared_ptr<Event> last;
};

std::vector<Device> devices;
thread_local Device *context;

// capturing refuses what a thread may not do while it records; other threads may.
int capturing(Device *d)
{
	for (Stream *s : d->streams)
		if (s->captures && pthread_equal(s->captor, pthread_self())) {
			s->broken = true;
			return CAPTURE_UNSUPPORTED;
		}
	return 0;
}

// step runs the first piece of work of a stream, if it may run.
bool step(Stream *s)
{
	if (s->work.empty() || s->work[0].awaits && !s->work[0].awaits->done)
		return false;
	Work w = s->work[0];

	s->work.erase(s->work.begin());
	if (w.run && !s->device->error)
		s->device->error = w.run();
	if (w.says)
		w.says->done = true;
	return true;
}

// drain runs work, of all streams in a drawn order, until those that count have none.
int drain(Device *d, const std::function<bool()> &done)
{
	std::vector<Stream *> all(d->streams.begin(), d->streams.end());

	while (!done()) {
		bool any = false;

		for (int i : order(all.size()))
			if (step(all[i])) {
				any = true;
				break;
			}
		if (!any)
			stop("streams wait for each other");
	}
	return d->error;
}

int drainAll(Device *d)
{
	return drain(d, [d] {
		for (Stream *s : d->streams)
			if (!s->work.empty())
				return false;
		return true;
	});
}

bool within(Device *d, uint64_t at, size_t bytes)
{
	auto m = d->memory.upper_bound(at);

	if (m == d->memory.begin())
		return false;
	--m;
	return at - m->first <= m->second.bytes && bytes <= m->second.bytes - (at - m->first);
}

bool onDevice(uint64_t at)
{
	for (Device &d : devices)
		if (within(&d, at, 1))
			return true;
	return false;
}

// line is the line of a kernel's text, with its number, from which a function has been called that returns to code.
std::string line(const void *code)
{
	Dl_info lib;
	char out[4096] = "", at[32];

	if (!dladdr(code, &lib))
		return "an unknown line";
	snprintf(at, sizeof at, " %#tx", (const char *) code - (const char *) lib.dli_fbase - 1);
	FILE *f = popen(("addr2line -s -e " + std::string(lib.dli_fname) + at).c_str(), "r");

	if (!f || !fgets(out, sizeof out, f))
		strcpy(out, "?");
	if (f)
		pclose(f);
	int number = atoi(strrchr(out, ':') ? strrchr(out, ':') + 1 : "0");
	std::string path = lib.dli_fname;
	FILE *text = fopen((path.substr(0, path.size() - strlen(".so")) + ".cpp").c_str(), "r");

	for (int i = 0; text && i <= number; i++) // line 1 stands behind that which says so
		if (!fgets(out, sizeof out, text))
			break;
	if (text)
		fclose(text);
	out[strcspn(out, "\n")] = 0;
	return "line " + std::to_string(number) + ": " + out;
}

// look stops where what the running thread does with memory is a race.
void look(const void *at, unsigned long bytes, int kind, const void *code)
{
	static const char *const now[] = {"reads", "writes", "changes by an atomic operation"},
		*const then[] = {"read", "written", "changed by an atomic operation"};
	races::Kind before;

	if ((char *) at >= stacks && (char *) at < stacks + MOST * STACK)
		return;
	if (const char *who = races::access((uint64_t) at, bytes, (races::Kind) kind, current, onDevice, &before))
		stop(called->name + ": a race: thread " + std::to_string(current) + " of block " +
			std::to_string(running.block.x) + " " + now[kind] + " what " + who + " has " + then[before] + ", in " +
			line(code));
}

struct Lock {
	Lock() { pthread_mutex_lock(&mutex); }
	~Lock() { pthread_mutex_unlock(&mutex); }
};

#define ENTER \
	Lock lock; \
	if (int e = injected(__func__)) { \
		if (e >= 700 && e < 800 && context) \
			context->error = e; \
		return e; \
	}
#define USE \
	ENTER \
	if (!context) \
		return INVALID_CONTEXT; \
	if (context->error) \
		return context->error;

// add appends work to a stream, or to what it records.
int add(Stream *s, std::function<int()> run)
{
	if (!s->captures)
		s->work.push_back(Work{run, nullptr, nullptr});
	else
		s->captured.launches.push_back(run);
	return 0;
}

uint64_t hash(const std::string &text)
{
	uint64_t h = 14695981039346656037u;

	for (unsigned char c : text)
		h = (h ^ c) * 1099511628211u;
	return h;
}

std::string read(const std::string &path)
{
	std::string out;
	char part[4096];
	size_t n;
	FILE *f = fopen(path.c_str(), "r");

	while (f && (n = fread(part, 1, sizeof part, f)))
		out.append(part, n);
	if (f)
		fclose(f);
	return out;
}

const size_t GUARD = 4096;

} // namespace

extern "C" {

int cuInit(unsigned)
{
	ENTER
	if (devices.empty()) {
		devices.resize(atoi(value("RELGRAD_MOCK_DEVICES", "2")));
		for (size_t i = 0; i < devices.size(); i++)
			devices[i].number = i;
	}
	return 0;
}

int cuGetErrorString(int code, const char **text)
{
	static const std::map<int, const char *> texts = {{INVALID_VALUE, "invalid argument"},
		{OUT_OF_MEMORY, "out of memory"}, {NOT_INITIALIZED, "initialization error"},
		{INVALID_DEVICE, "invalid device ordinal"}, {INVALID_CONTEXT, "invalid device context"},
		{NOT_FOUND, "named symbol not found"}, {ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
		{MISALIGNED_ADDRESS, "misaligned address"},
		{LAUNCH_FAILED, "unspecified launch failure"},
		{CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"},
		{CAPTURE_INVALIDATED, "operation failed due to a previous error during capture"}};
	auto t = texts.find(code);

	*text = t == texts.end() ? "an error of the mock" : t->second;
	return 0;
}

int cuDriverGetVersion(int *version)
{
	ENTER
	*version = 13000;
	return 0;
}

int cuDeviceGetCount(int *n)
{
	ENTER
	*n = devices.size();
	return 0;
}

int cuDeviceGet(int *device, int number)
{
	ENTER
	if (number < 0 || number >= (int) devices.size())
		return INVALID_DEVICE;
	*device = number;
	return 0;
}

int cuDeviceGetName(char *name, int n, int device)
{
	ENTER
	snprintf(name, n, "mock %d", device);
	return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int)
{
	ENTER
	*bytes = strtoull(value("RELGRAD_MOCK_MEMORY", "1073741824"), nullptr, 10);
	return 0;
}

int cuDeviceGetAttribute(int *out, int attribute, int device)
{
	ENTER
	*out = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 4 + 3 * device : 0; // multiprocessors differ
	return 0;
}

int cuDevicePrimaryCtxRetain(void **out, int device)
{
	ENTER
	devices[device].retained++;
	*out = &devices[device];
	return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	ENTER
	Device *d = &devices[device];

	if (--d->retained)
		return 0;
	if (!d->error && (!d->memory.empty() || !d->pinned.empty() || d->modules || d->graphs || d->events || d->products ||
		!d->streams.empty()))
		stop("a context is left with " + std::to_string(d->memory.size()) + " pieces of memory, " +
			std::to_string(d->modules) + " modules, " + std::to_string(d->graphs) + " graphs, " +
			std::to_string(d->events) + " events, " + std::to_string(d->products) + " things of cuBLASLt and " +
			std::to_string(d->streams.size()) + " streams");
	d->error = 0; // the next context is a new one
	return 0;
}

int cuCtxSetCurrent(void *c)
{
	ENTER
	context = (Device *) c;
	return 0;
}

int cuMemGetInfo_v2(size_t *left, size_t *all)
{
	USE
	*all = strtoull(value("RELGRAD_MOCK_MEMORY", "1073741824"), nullptr, 10);
	*left = *all - context->used;
	return 0;
}

int cuMemAlloc_v2(uint64_t *at, size_t bytes)
{
	USE
	if (int e = capturing(context))
		return e;
	if (!bytes)
		return INVALID_VALUE;
	if (bytes > strtoull(value("RELGRAD_MOCK_MEMORY", "1073741824"), nullptr, 10) - context->used)
		return OUT_OF_MEMORY;
	if (unpoison) {
		void *own;

		if (posix_memalign(&own, 256, bytes))
			return OUT_OF_MEMORY;
		*at = (uint64_t) own;
		memset(own, 0xff, bytes);
		context->memory[*at] = Memory{bytes, 0, (char *) own};
		context->used += bytes;
		return 0;
	}
	size_t padded = (bytes + 255) / 256 * 256, pages = (padded + GUARD - 1) / GUARD * GUARD;
	char *base = (char *) mmap(nullptr, pages + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return OUT_OF_MEMORY;
	mprotect(base + pages, GUARD, PROT_NONE);
	*at = (uint64_t) (base + pages - padded);
	memset((void *) *at, 0xff, bytes); // NaN
	memset((char *) *at + bytes, 0xa5, padded - bytes);
	context->memory[*at] = Memory{bytes, pages + GUARD, base};
	context->used += bytes;
	races::forget(*at, bytes);
	return 0;
}

int cuMemFree_v2(uint64_t at)
{
	ENTER
	if (!context)
		return INVALID_CONTEXT;
	if (int e = capturing(context))
		return e;
	auto m = context->memory.find(at);

	if (m == context->memory.end())
		return context->error ? context->error : INVALID_VALUE;
	drainAll(context);
	if (unpoison) {
		free(m->second.base);
	} else {
		for (size_t i = m->second.bytes; i % 256; i++)
			if (((unsigned char *) at)[i] != 0xa5)
				stop("something was written behind the end of " + std::to_string(m->second.bytes) + " bytes");
		munmap(m->second.base, m->second.mapped);
	}
	races::forget(at, m->second.bytes);
	context->used -= m->second.bytes;
	context->memory.erase(m);
	return context->error;
}

int cuMemsetD8Async(uint64_t at, unsigned char x, size_t bytes, void *stream)
{
	USE
	if (!within(context, at, bytes))
		return INVALID_VALUE;
	return add((Stream *) stream, [=] {
		memset((void *) at, x, bytes);
		return 0;
	});
}

int cuMemHostAlloc(void **at, size_t bytes, unsigned)
{
	USE
	if (int e = capturing(context))
		return e;
	if (!bytes)
		return INVALID_VALUE;
	*at = malloc(bytes);
	memset(*at, 0xff, bytes);
	context->pinned[(char *) *at] = bytes;
	return 0;
}

int cuMemFreeHost(void *at)
{
	ENTER
	if (!context)
		return INVALID_CONTEXT;
	if (!context->pinned.count((char *) at))
		return context->error ? context->error : INVALID_VALUE;
	drainAll(context);
	context->pinned.erase((char *) at);
	free(at);
	return context->error;
}

// pageable reports whether memory of the host is not pinned.
static bool pageable(const void *at, size_t bytes)
{
	auto p = context->pinned.upper_bound((char *) at);

	if (p == context->pinned.begin())
		return true;
	p--;
	return (char *) at + bytes > p->first + p->second;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	USE
	if (!within(context, to, bytes))
		return INVALID_VALUE;
	if (((Stream *) stream)->captures && pageable(from, bytes))
		return capturing(context);
	return add((Stream *) stream, [=] {
		memcpy((void *) to, from, bytes);
		return 0;
	});
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
	USE
	if (!within(context, from, bytes))
		return INVALID_VALUE;
	if (((Stream *) stream)->captures && pageable(to, bytes))
		return capturing(context);
	return add((Stream *) stream, [=] {
		memcpy(to, (void *) from, bytes);
		return 0;
	});
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	USE
	if (!within(context, to, bytes) || !within(context, from, bytes))
		return INVALID_VALUE;
	return add((Stream *) stream, [=] {
		memmove((void *) to, (void *) from, bytes);
		return 0;
	});
}

int cuStreamCreate(void **out, unsigned)
{
	USE
	Stream *s = new Stream{context, {}, false, false, {}, {}};

	context->streams.insert(s);
	*out = s;
	return 0;
}

int cuStreamDestroy_v2(void *stream)
{
	ENTER
	Stream *s = (Stream *) stream;

	drainAll(s->device);
	s->device->streams.erase(s);
	delete s;
	return 0;
}

int cuStreamSynchronize(void *stream)
{
	USE
	Stream *s = (Stream *) stream;

	if (s->captures) {
		s->broken = true;
		return CAPTURE_UNSUPPORTED;
	}
	return drain(context, [s] { return s->work.empty(); });
}

int cuModuleLoadData(void **out, const void *code)
{
	USE
	if (int e = capturing(context))
		return e;
	const char *path = (const char *) code;

	if (strncmp(path, "MOCK ", 5))
		return 200; // an invalid image
	Module *m = new Module{context, dlopen(path + 5, RTLD_NOW | RTLD_LOCAL), {}};

	if (!m->lib)
		stop(dlerror());
	auto tell = (void (*)(Running *)) dlsym(m->lib, "rg_module");

	tell(&running);
	context->modules++;
	*out = m;
	return 0;
}

int cuModuleUnload(void *module)
{
	ENTER
	Module *m = (Module *) module;

	drainAll(m->device);
	m->device->modules--;
	dlclose(m->lib);
	delete m;
	return 0;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	USE
	Module *m = (Module *) module;
	Function f{name, (void (*)(void **)) dlsym(m->lib, ("rg_call_" + std::string(name)).c_str()), 0, nullptr, 0};
	auto args = (const int *) dlsym(m->lib, ("rg_args_" + std::string(name)).c_str());
	auto shared = (char **(*)(size_t *)) dlsym(m->lib, "rg_shared_memory");

	if (!f.call || !args)
		return NOT_FOUND;
	f.args = *args;
	f.shared = (char *) shared(&f.sharedBytes);
	m->functions[name] = f;
	*out = &m->functions[name];
	return 0;
}

int cuLaunchKernel(void *function, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz, unsigned,
	void *stream, void **args, void **)
{
	USE
	Function *f = (Function *) function;

	if (!bx || bx > 0x7fffffff || by != 1 || bz != 1 || !tx || tx > (unsigned) MOST || ty != 1 || tz != 1)
		return INVALID_VALUE;
	auto copied = std::make_shared<std::vector<uint64_t>>();

	for (int i = 0; i < f->args; i++)
		copied->push_back(*(uint64_t *) args[i]);
	return add((Stream *) stream, [=] {
		std::vector<uint64_t> own = *copied;
		std::vector<void *> at;

		for (uint64_t &x : own)
			at.push_back(&x);
		return execute(f, bx, tx, at.data());
	});
}

int cuStreamBeginCapture_v2(void *stream, int)
{
	USE
	Stream *s = (Stream *) stream;

	if (s->captures)
		return INVALID_VALUE;
	s->captures = true, s->broken = false, s->captured = Graph{}, s->captor = pthread_self();
	return 0;
}

int cuStreamEndCapture(void *stream, void **out)
{
	Lock lock;
	Stream *s = (Stream *) stream;

	if (!s->captures)
		return INVALID_VALUE;
	s->captures = false; // also where it fails
	*out = nullptr;
	if (int e = injected(__func__))
		return e;
	if (s->broken)
		return CAPTURE_INVALIDATED;
	*out = new Graph(s->captured);
	s->device->graphs++;
	return 0;
}

int cuGraphInstantiateWithFlags(void **out, void *graph, unsigned long long)
{
	USE
	*out = new Executable{context, *(Graph *) graph};
	context->graphs++;
	return 0;
}

int cuGraphLaunch(void *executable, void *stream)
{
	USE
	for (auto &run : ((Executable *) executable)->graph.launches)
		add((Stream *) stream, run);
	return 0;
}

int cuGraphExecDestroy(void *executable)
{
	ENTER
	Executable *x = (Executable *) executable;

	x->device->graphs--;
	delete x;
	return 0;
}

int cuGraphDestroy(void *graph)
{
	ENTER
	if (context)
		context->graphs--;
	delete (Graph *) graph;
	return 0;
}

int cuEventCreate(void **out, unsigned)
{
	USE
	*out = new Mark{context, std::make_shared<Event>()};
	context->events++;
	return 0;
}

int cuEventRecord(void *event, void *stream)
{
	USE
	Mark *m = (Mark *) event;

	m->last = std::make_shared<Event>();
	m->last->done = false;
	((Stream *) stream)->work.push_back(Work{nullptr, nullptr, m->last});
	return 0;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned)
{
	USE
	((Stream *) stream)->work.push_back(Work{nullptr, ((Mark *) event)->last, nullptr});
	return 0;
}

int cuEventQuery(void *event)
{
	USE
	return ((Mark *) event)->last->done ? 0 : NOT_READY;
}

int cuEventSynchronize(void *event)
{
	USE
	auto last = ((Mark *) event)->last;

	return drain(context, [last] { return last->done; });
}

int cuEventDestroy_v2(void *event)
{
	ENTER
	((Mark *) event)->device->events--;
	delete (Mark *) event;
	return 0;
}

// ---- the compiler

struct Program {
	std::string text, code, log;
};

int nvrtcVersion(int *major, int *minor)
{
	*major = 13, *minor = 0;
	return 0;
}

const char *nvrtcGetErrorString(int code)
{
	return code == 6 ? "NVRTC_ERROR_COMPILATION" : "an error of the mock";
}

int nvrtcCreateProgram(void **out, const char *text, const char *, int, const char *const *, const char *const *)
{
	*out = new Program{text, "", ""};
	return 0;
}

int nvrtcDestroyProgram(void **program)
{
	delete (Program *) *program;
	return 0;
}

// wrapped adds to a text how its kernels are called.
static std::string wrapped(std::string text)
{
	std::string calls;

	for (size_t at = 0; (at = text.find("__global__ void", at)) != std::string::npos; at++) {
		size_t from = text.find_first_not_of(" \n", at + strlen("__global__ void"));

		if (!text.compare(from, strlen("__launch_bounds__"), "__launch_bounds__"))
			from = text.find_first_not_of(" \n", text.find(')', from) + 1);
		std::string name = text.substr(from, text.find('(', from) - from);

		calls += "extern \"C\" void rg_call_" + name + "(void **args)\n{\n\trg_call(" + name + ", args);\n}\n" +
			"extern \"C\" const int rg_args_" + name + ";\nconst int rg_args_" + name + " = rg_count(" + name + ");\n";
	}
	return "#line 1 \"relgrad.cu\"\n" + text + "\n" + calls;
}

int nvrtcCompileProgram(void *program, int, const char *const *)
{
	Lock lock;
	Program *p = (Program *) program;
	std::string flags = std::string("-O1 -ffp-contract=off -fno-strict-aliasing -Wno-attributes ") +
		value("RELGRAD_MOCK_SANITIZE", "-fsanitize=alignment -fsanitize-undefined-trap-on-error") + " " +
		value("RELGRAD_MOCK_FLAGS", "");
	char name[64];

	snprintf(name, sizeof name, "/%016llx", (unsigned long long) hash(flags + p->text + read(RG_SHIM)));
	std::string base = std::string(RG_CACHE) + name, lib = base + ".so";

	if (access(lib.c_str(), R_OK)) {
		std::string own = base + "." + std::to_string(getpid()), source = own + ".cpp", made = own + ".so",
			log = own + ".log";
		FILE *f = fopen(source.c_str(), "w");

		if (!f)
			stop("cannot write " + source);
		fputs(wrapped(p->text).c_str(), f);
		fclose(f);
		std::string command = "LD_PRELOAD= g++ -std=c++17 -shared -fPIC -pipe -nostdlib " + flags + " -include " RG_SHIM " -o " + made + " " +
			source + " -lm > " + log + " 2>&1";
		int failed = system(command.c_str());

		p->log = read(log);
		unlink(log.c_str());
		if (failed) {
			unlink(source.c_str());
			return 6;
		}
		rename(source.c_str(), (base + ".cpp").c_str());
		rename(made.c_str(), lib.c_str());
	}
	p->code = "MOCK " + lib;
	p->code.push_back(0);
	return 0;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
	*bytes = ((Program *) program)->code.size();
	return 0;
}

int nvrtcGetCUBIN(void *program, char *out)
{
	memcpy(out, ((Program *) program)->code.data(), ((Program *) program)->code.size());
	return 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
	*bytes = ((Program *) program)->log.size() + 1;
	return 0;
}

int nvrtcGetProgramLog(void *program, char *out)
{
	memcpy(out, ((Program *) program)->log.c_str(), ((Program *) program)->log.size() + 1);
	return 0;
}

} // extern "C"

#include "blaslt.h"
