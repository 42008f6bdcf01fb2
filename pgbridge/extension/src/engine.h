// The engine (the program relgrad-engine) as a child process of a backend. Frames go over a socket, bulk data through
// shared memory.
#ifndef RELGRAD_ENGINE_H
#define RELGRAD_ENGINE_H
#include "postgres.h"

#include "access/tupdesc.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/tuplestore.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#define RG_NORETURN_ATTR __attribute__((noreturn))

// Requests may be nested: a statement that the engine runs may itself call gradient(). Each level has its own engine.
#define RG_MAX_NESTED 4

// Rows from the engine, in results and for relgrad.gen_rows(): checked positions in the shared memory.
typedef struct RgColumn {
	char *name;
	Oid type;
	char kind;
	bool nulls;
	int ndim;
	int dims[MAXDIM];
	uint64 cell; // bytes of a row; 0 for text
	uint64 data_at, nulls_at, extra_at;
} RgColumn;

typedef struct RgBlock {
	uint64 rows;
	uint64 end; // the end of the block in the shared memory
	int ncols;
	RgColumn *cols;
} RgBlock;

typedef struct RgEngine {
	pid_t pid;   // 0: not started
	pid_t owner; // the backend that started it
	int sock, memory;
	char *map; // the shared memory
	uint64 mapped;
	bool busy;	 // in a request: it can be used again only after a proper answer
	bool lost;	 // the exchange of frames is broken, or was interrupted
	StringInfoData in, out;
	RgBlock *rows;	   // of relgrad.gen_rows(); NULL: none
} RgEngine;

// A reader of a frame's payload.
typedef struct RgReader {
	RgEngine *engine;
	char kind;
	const char *at, *end;
} RgReader;

RgEngine *rg_engine_begin(void);
void rg_engine_end(RgEngine *e);
void rg_engine_abandon(RgEngine *e);
RgEngine *rg_engine_running(void);

void rg_begin_frame(RgEngine *e, char kind);
void rg_put_u8(RgEngine *e, uint8 x);
void rg_put_u32(RgEngine *e, uint32 x);
void rg_put_u64(RgEngine *e, uint64 x);
void rg_put_string(RgEngine *e, const char *s);
void rg_put_bytes(RgEngine *e, const char *at, uint32 n);
void rg_send_frame(RgEngine *e);
RgReader rg_receive_frame(RgEngine *e);
uint8 rg_get_u8(RgReader *r);
uint32 rg_get_u32(RgReader *r);
uint64 rg_get_u64(RgReader *r);
char *rg_get_string(RgReader *r);
bytea *rg_get_rest(RgReader *r, MemoryContext in);
void rg_get_end(RgReader *r);

void rg_fault(RgEngine *e, const char *format, ...) pg_attribute_printf(2, 3) RG_NORETURN_ATTR;
void rg_grow(RgEngine *e, uint64 size);
void rg_remap(RgEngine *e);

RgBlock *rg_read_block(RgReader *r);
void rg_check_columns(const RgBlock *b, TupleDesc desc, const char *what);
void rg_store_block(RgEngine *e, const RgBlock *b, TupleDesc desc, Tuplestorestate *store);

DestReceiver *rg_new_sender(RgEngine *e);
void rg_finish_sender(DestReceiver *dest);

// A call of one of relgrad's functions.
typedef struct RgRequest {
	const char *function;
	bool atomic;   // no transaction control
	bool stable;   // runs nothing that writes
	bool fresh;	   // reads see what the request itself has changed and, after a commit, what others have
	char *param_table; // of gradient, else NULL
	char *args;		   // a JSON object
	bytea *message;	   // of gen_member, else NULL
	bytea *reply;	   // to it, in the context reply_in
	MemoryContext reply_in;
	TupleDesc desc;	   // of the result's rows; NULL: it has none
	Tuplestorestate *store;
} RgRequest;

void rg_request(RgRequest *q);
void rg_send_error(RgEngine *e, const ErrorData *error, const char *sql);
void rg_raise(RgReader *r);
void rg_notice(RgReader *r);
void rg_own_context(ErrorData *error, const char *sql);

char *rg_catalog_state(void);
const char *rg_engine_name(void);
void rg_define_settings(void);
int rg_open_settings(void);
List *rg_close_settings(int level);
void rg_make_settings(List *made);
int rg_threads_allowed(void);
int rg_sites_wanted(void);
const char *rg_device_name(void);
int64 rg_memory_allowed(void);
int64 rg_spill_limit(void);
char *rg_spill_dir(void);

#endif
