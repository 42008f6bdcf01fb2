// The check for races. Kernels that are compiled with -fsanitize=thread say of each number where they read or write it
// (shim.h). Of each place in the memory of devices, and in shared memory, it is kept which threads have last read it,
// written it and changed it by an atomic operation. It is an error that two threads of a launch touch a place, one of
// them writes it, and nothing orders them: a barrier orders the threads of a block, __syncwarp those of its mask, and
// nothing orders two blocks. A shuffle orders no memory. Shared memory that nobody in the block has written may not be
// read, either.
#ifndef RELGRAD_CUDA_RACES_H
#define RELGRAD_CUDA_RACES_H

#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace races {

const int THREADS = 1024, LANES = 32;

enum Kind { READ, WRITE, ATOMIC, KINDS };

// Who are the threads that have touched a place in one way: lanes of a warp, or more threads than that.
struct Who {
	uint32_t phase; // 0: nobody
	uint32_t lanes;
	uint32_t clock : 24, warp : 8; // that of the warp, when the last of these lanes was there
};

const unsigned WARPS = 0xfe, BLOCKS = 0xff; // in Who.warp: several warps of a block, several blocks of a launch

// A place is so many bytes as are read and written at once: all of a page have the same number.
struct Place {
	Who who[KINDS];
};

const int PAGE = 12, WIDE = 3; // bits of an address within a page, and within the widest place

struct Page {
	int wide = WIDE;
	std::vector<Place> places = std::vector<Place>(1 << (PAGE - WIDE));
};

// A phase is what runs between two barriers of a block. Blocks run one after the other, so that phases have an order.
uint32_t phase = 0, block = 0, launch = 0; // the current one, and the first ones of the block and of the launch
uint32_t clocks[THREADS / LANES];          // how often lanes of a warp have waited for each other
uint32_t known[THREADS][LANES];            // up to what clock of each lane a thread knows what the lane has done
const char *sharedFrom, *sharedTo;
std::unordered_map<uint64_t, Page> pages;
struct {
	uint64_t number;
	Page *page;
} recent[256]; // of pages, by the last bits of their numbers

// forget drops all that is known of memory: it begins, or ends.
void forget(uint64_t at, size_t bytes)
{
	for (uint64_t p = at >> PAGE; p <= (at + bytes - 1) >> PAGE; p++)
		pages.erase(p);
	memset(recent, 0, sizeof recent);
}

void beginLaunch()
{
	launch = phase + 1;
}

void beginBlock(const char *shared, size_t bytes)
{
	block = ++phase;
	sharedFrom = shared, sharedTo = shared + bytes;
	memset(clocks, 0, sizeof clocks);
	memset(known, 0, sizeof known);
}

// barrier: all threads of the block have come.
void barrier()
{
	phase++;
}

// meet: these lanes of a warp have come.
void meet(int warp, uint32_t mask)
{
	uint32_t now = ++clocks[warp], all[LANES] = {};

	for (int l = 0; l < LANES; l++)
		for (int of = 0; of < LANES; of++)
			if (mask >> l & 1)
				all[of] = mask >> of & 1 ? now : std::max(all[of], known[warp * LANES + l][of]);
	for (int l = 0; l < LANES; l++)
		if (mask >> l & 1)
			memcpy(known[warp * LANES + l], all, sizeof all);
}

// beside are the lanes that have been at a place and that nothing orders before a thread of their warp.
uint32_t beside(const Who &w, int thread)
{
	uint32_t out = 0;

	for (int l = 0; l < LANES; l++)
		if (w.lanes >> l & 1 && l != thread % LANES && known[thread][l] <= w.clock)
			out |= 1u << l;
	return out;
}

// unordered says which threads have been at a place that nothing orders before a thread that is there now; nullptr:
// none. first is the first phase that counts.
const char *unordered(const Who &w, int thread, uint32_t first)
{
	if (w.phase < first)
		return nullptr;
	if (w.warp == BLOCKS || w.phase < block)
		return "another block";
	if (w.phase < phase)
		return nullptr;
	if (w.warp == WARPS || (int) w.warp != thread / LANES)
		return "a thread of another warp";
	return beside(w, thread) ? "another thread of its warp" : nullptr;
}

// enter notes that a thread is at a place.
void enter(Who &w, int thread, uint32_t first)
{
	uint32_t lane = 1u << thread % LANES, clock = clocks[thread / LANES];
	unsigned warp = thread / LANES;

	if (w.phase >= first && (w.warp == BLOCKS || w.phase < block))
		warp = BLOCKS;
	else if (w.phase >= first && w.phase == phase && w.warp != warp)
		warp = WARPS;
	else if (w.phase >= first && w.phase == phase)
		lane |= beside(w, thread);
	w.phase = phase, w.lanes = lane, w.clock = clock, w.warp = warp;
}

// narrow makes a page's places smaller.
void narrow(Page *p, int wide)
{
	std::vector<Place> more(1 << (PAGE - wide));

	for (size_t i = 0; i < more.size(); i++)
		more[i] = p->places[i >> (p->wide - wide)];
	p->places.swap(more), p->wide = wide;
}

// access is what a thread does with bytes of memory. It returns who has been there before and may not have been, and
// what they did; nullptr if nothing is wrong. device tells whether an address is in a device's memory.
const char *access(uint64_t at, size_t bytes, Kind kind, int thread, bool (*device)(uint64_t), Kind *before)
{
	uint64_t number = at >> PAGE, end = (number + 1) << PAGE;

	if (at + bytes > end) {
		if (const char *who = access(end, at + bytes - end, kind, thread, device, before))
			return who;
		bytes = end - at;
	}
	auto &r = recent[number % 256];
	bool shared = (char *) at >= sharedFrom && (char *) at < sharedTo;
	uint32_t first = shared ? block : launch;

	if (r.number != number || shared && !r.page) { // shared memory lies beside other variables
		auto p = pages.find(number);

		if (p == pages.end() && (shared || device(at)))
			p = pages.emplace(number, Page()).first;
		r.number = number, r.page = p == pages.end() ? nullptr : &p->second;
	}
	if (!r.page)
		return nullptr;
	int wide = std::min(WIDE, __builtin_ctzll(at | bytes));

	if (wide < r.page->wide)
		narrow(r.page, wide);
	wide = r.page->wide;
	for (uint64_t i = (at & ((1 << PAGE) - 1)) >> wide, n = bytes >> wide; n; i++, n--) {
		Place &p = r.page->places[i];

		for (int k = 0; k < KINDS; k++)
			if (k != kind || k == WRITE)
				if (const char *who = unordered(p.who[k], thread, first)) {
					*before = (Kind) k;
					return who;
				}
		if (shared && kind == READ && p.who[WRITE].phase < block && p.who[ATOMIC].phase < block) {
			*before = WRITE;
			return "nobody";
		}
		enter(p.who[kind], thread, first);
	}
	return nullptr;
}

} // namespace races
#endif
