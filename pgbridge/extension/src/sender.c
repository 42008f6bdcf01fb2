// Rows of a query on their way to the engine. The executor passes each row to a receiver, which copies it to the shared
// memory, column by column, and sends a block when that has about 4 MB. No row is copied twice.
#include "engine.h"

#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define BLOCK_SIZE (UINT64CONST(4) << 20) // bytes
#define MAX_ROWS (UINT64CONST(1) << 18)	   // of a block

#define HAS_NULLS 1
#define IRREGULAR 2

// A column of the query. Its chunks have the shape of the first row that has one.
typedef struct Out {
	const char *name;
	Oid type;
	char kind;
	FmgrInfo output; // of text
	bool known;		 // the shape is known
	int ndim;
	int dims[MAXDIM];
	uint64 cell; // bytes of a row
	// places in the block
	uint64 data_at, nulls_at;
	bool nulls;
	char why; // why a chunk is irregular; 0: none is
	uint64 odd_row;
	int odd_ndim;
	int odd_dims[MAXDIM];
	StringInfoData text;
} Out;

typedef struct Sender {
	DestReceiver pub;
	RgEngine *e;
	MemoryContext whole, each;
	int ncols; // -1: not started
	Out *cols;
	Datum *values;	// a row's values with detoasted chunks
	bool chunks; // the query has chunks
	bool laid_out, sent;
	uint64 end; // end of the present block in the shared memory
	uint64 rows, room, text;
} Sender;

static char
kind_of(Oid type)
{
	switch (type) {
	case INT2OID:
	case INT4OID:
	case INT8OID:
	case OIDOID:
		return 'i';
	case FLOAT4OID:
		return 'f';
	case FLOAT8OID:
		return 'd';
	case BOOLOID:
		return 'b';
	case FLOAT4ARRAYOID:
		return 'F';
	case FLOAT8ARRAYOID:
		return 'D';
	case INT4ARRAYOID:
	case INT8ARRAYOID:
		return 'I';
	}
	return 't';
}

static uint64
width_of(char kind)
{
	switch (kind) {
	case 'b':
		return 1;
	case 'f':
	case 'F':
		return 4;
	case 't':
		return 0;
	}
	return 8;
}

static bool
is_chunk(const Out *c)
{
	return c->kind == 'F' || c->kind == 'D' || c->kind == 'I';
}

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
	Sender *s = (Sender *) self;
	MemoryContext old = MemoryContextSwitchTo(s->whole);

	(void) operation;
	s->ncols = desc->natts;
	s->cols = palloc0(sizeof(Out) * Max(desc->natts, 1));
	s->values = palloc0(sizeof(Datum) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++) {
		Form_pg_attribute a = TupleDescAttr(desc, i);
		Out *c = &s->cols[i];
		Oid out;
		bool varlena;

		c->name = pstrdup(NameStr(a->attname));
		c->type = a->atttypid;
		c->kind = kind_of(c->type);
		c->cell = width_of(c->kind);
		s->chunks = s->chunks || is_chunk(c);
		if (c->kind == 't') {
			getTypeOutputInfo(c->type, &out, &varlena);
			fmgr_info(out, &c->output);
			initStringInfo(&c->text);
		}
	}
	MemoryContextSwitchTo(old);
}

static uint64
aligned(uint64 at)
{
	return TYPEALIGN64(8, at);
}

// lay_out chooses places for the columns of the next block, after rows that relgrad.gen_rows() still returns.
static void
lay_out(Sender *s)
{
	uint64 row = 0, at = s->e->rows != NULL ? aligned(s->e->rows->end) : 0;

	for (int i = 0; i < s->ncols; i++)
		row += s->cols[i].cell + (s->cols[i].kind == 't' ? 16 : 0) + 1;
	s->rows = s->text = 0;
	s->room = Min(Max(BLOCK_SIZE / Max(row, 1), 1), MAX_ROWS);
	for (int i = 0; i < s->ncols; i++) {
		Out *c = &s->cols[i];

		c->nulls = false;
		c->why = 0;
		c->data_at = at;
		at = aligned(at + (c->kind == 't' ? (s->room + 1) * sizeof(uint32) : s->room * c->cell));
		c->nulls_at = at;
		at = aligned(at + s->room);
		if (c->kind == 't')
			resetStringInfo(&c->text);
	}
	s->end = at;
	s->laid_out = true;
	rg_grow(s->e, at);
}

// describe writes the columns of a block into the frame.
static void
describe(Sender *s)
{
	RgEngine *e = s->e;

	rg_begin_frame(e, 'B');
	rg_put_u64(e, s->rows);
	rg_put_u32(e, s->ncols);
	for (int i = 0; i < s->ncols; i++) {
		Out *c = &s->cols[i];

		rg_put_string(e, c->name);
		rg_put_u32(e, c->type);
		rg_put_u8(e, c->kind);
		rg_put_u8(e, (c->nulls ? HAS_NULLS : 0) | (c->why != 0 ? IRREGULAR : 0));
		rg_put_u8(e, c->ndim);
		for (int d = 0; d < c->ndim; d++)
			rg_put_u32(e, c->dims[d]);
		rg_put_u64(e, c->data_at);
		rg_put_u64(e, c->nulls_at);
		rg_put_u64(e, c->kind == 't' ? s->end : 0);
		if (c->kind == 't')
			s->end = aligned(s->end + c->text.len);
		if (c->why == 0)
			continue;
		rg_put_u64(e, c->odd_row);
		rg_put_u8(e, c->why);
		rg_put_u8(e, c->odd_ndim);
		for (int d = 0; d < c->odd_ndim; d++)
			rg_put_u32(e, c->odd_dims[d]);
	}
}

// flush sends the rows of the present block and waits until the engine has read them.
static void
flush(Sender *s)
{
	uint64 at;
	RgReader r;

	if (!s->laid_out)
		lay_out(s);
	at = s->end;
	describe(s);
	rg_grow(s->e, s->end);
	for (int i = 0; i < s->ncols; i++) {
		Out *c = &s->cols[i];

		if (c->kind != 't')
			continue;
		((uint32 *) (s->e->map + c->data_at))[s->rows] = c->text.len;
		memcpy(s->e->map + at, c->text.data, c->text.len);
		at = aligned(at + c->text.len);
	}
	rg_send_frame(s->e);
	while ((r = rg_receive_frame(s->e)).kind == 'N')
		rg_notice(&r);
	if (r.kind != 'K')
		rg_fault(s->e, "a frame of kind %d in answer to rows", r.kind);
	rg_get_end(&r);
	s->sent = true;
	s->laid_out = false;
}

// irregular notes why a chunk differs from the others of its column, unless an earlier one in the block was noted.
static void
irregular(Sender *s, Out *c, char why, const ArrayType *a)
{
	if (c->why != 0)
		return;
	c->why = why;
	c->odd_row = s->rows;
	c->odd_ndim = ARR_NDIM(a);
	memcpy(c->odd_dims, ARR_DIMS(a), sizeof(int) * ARR_NDIM(a));
}

// fault returns why no column of chunks of one shape can hold a chunk; 0: it can.
static char
fault(ArrayType *a)
{
	if (ARR_NDIM(a) == 0)
		return 'e';
	for (int i = 0; i < ARR_NDIM(a); i++)
		if (ARR_LBOUND(a)[i] != 1)
			return 'l';
	return ARR_HASNULL(a) && array_contains_nulls(a) ? 'n' : 0;
}

// adopt gives a column the shape of its first chunk. A block that began without a shape is sent first.
static void
adopt(Sender *s, Out *c, ArrayType *a)
{
	if (fault(a) != 0)
		return;
	if (s->laid_out && s->rows > 0)
		flush(s);
	s->laid_out = false;
	c->known = true;
	c->ndim = ARR_NDIM(a);
	memcpy(c->dims, ARR_DIMS(a), sizeof(int) * c->ndim);
	c->cell = width_of(c->kind) * ArrayGetNItems(c->ndim, c->dims);
}

// regular reports whether a chunk has the same shape as the others of its column.
static bool
regular(Sender *s, Out *c, ArrayType *a)
{
	char why = fault(a);

	if (why == 0 && c->ndim == ARR_NDIM(a) && memcmp(c->dims, ARR_DIMS(a), sizeof(int) * c->ndim) == 0)
		return true;
	irregular(s, c, why != 0 ? why : 's', a);
	return false;
}

static void
put_chunk(Sender *s, Out *c, const ArrayType *a)
{
	char *to = s->e->map + c->data_at + s->rows * c->cell;

	if (c->type != INT4ARRAYOID)
		memcpy(to, ARR_DATA_PTR(a), c->cell);
	else
		for (uint64 i = 0; i < c->cell / 8; i++)
			((int64 *) to)[i] = ((const int32 *) ARR_DATA_PTR(a))[i];
}

static void
put_text(Sender *s, Out *c, Datum d)
{
	char *text = OutputFunctionCall(&c->output, d);
	int n = strlen(text);

	if (GetDatabaseEncoding() != PG_UTF8)
		pg_verify_mbstr(PG_UTF8, text, n, false);
	appendBinaryStringInfo(&c->text, text, n);
	s->text += n;
}

static void
put(Sender *s, Out *c, Datum d)
{
	char *to = s->e->map + c->data_at + s->rows * c->cell;

	switch (c->kind) {
	case 'i':
		*(int64 *) to = c->type == INT2OID	 ? DatumGetInt16(d)
						: c->type == INT4OID ? DatumGetInt32(d)
						: c->type == OIDOID	 ? (int64) DatumGetObjectId(d)
											 : DatumGetInt64(d);
		break;
	case 'f':
		*(float4 *) to = DatumGetFloat4(d);
		break;
	case 'd':
		*(float8 *) to = DatumGetFloat8(d);
		break;
	case 'b':
		*to = DatumGetBool(d);
		break;
	case 't':
		put_text(s, c, d);
		break;
	default:
		put_chunk(s, c, (ArrayType *) DatumGetPointer(d));
	}
}

// take copies a row to the block.
static bool
take(TupleTableSlot *slot, DestReceiver *self)
{
	Sender *s = (Sender *) self;
	MemoryContext old = MemoryContextSwitchTo(s->each);
	Datum *values = slot->tts_values;

	slot_getallattrs(slot);
	if (s->laid_out && (s->rows == s->room || s->text >= BLOCK_SIZE))
		flush(s);
	if (s->chunks) {
		values = s->values;
		for (int i = 0; i < s->ncols; i++) {
			Out *c = &s->cols[i];

			values[i] = slot->tts_values[i];
			if (!is_chunk(c) || slot->tts_isnull[i])
				continue;
			values[i] = PointerGetDatum(DatumGetArrayTypeP(values[i]));
			if (!c->known)
				adopt(s, c, (ArrayType *) DatumGetPointer(values[i]));
		}
	}
	if (!s->laid_out)
		lay_out(s);
	for (int i = 0; i < s->ncols; i++) {
		Out *c = &s->cols[i];
		bool null = slot->tts_isnull[i];

		s->e->map[c->nulls_at + s->rows] = !null;
		c->nulls = c->nulls || null;
		if (c->kind == 't')
			((uint32 *) (s->e->map + c->data_at))[s->rows] = c->text.len;
		if (!null && (!is_chunk(c) || regular(s, c, (ArrayType *) DatumGetPointer(values[i]))))
			put(s, c, values[i]);
		else
			memset(s->e->map + c->data_at + s->rows * c->cell, 0, c->cell);
	}
	s->rows++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(s->each);
	return true;
}

static void
nothing(DestReceiver *self)
{
	(void) self;
}

// rg_new_sender makes a receiver of rows in the current memory context.
DestReceiver *
rg_new_sender(RgEngine *e)
{
	Sender *s = palloc0(sizeof *s);

	s->pub.receiveSlot = take;
	s->pub.rStartup = start_up;
	s->pub.rShutdown = nothing;
	s->pub.rDestroy = nothing;
	s->pub.mydest = DestNone;
	s->e = e;
	s->whole = CurrentMemoryContext;
	s->each = AllocSetContextCreate(CurrentMemoryContext, "relgrad row", ALLOCSET_DEFAULT_SIZES);
	s->ncols = -1;
	return &s->pub;
}

// rg_finish_sender sends the last block. For a query without rows it sends an empty block, which describes the columns.
void
rg_finish_sender(DestReceiver *dest)
{
	Sender *s = (Sender *) dest;

	if (s->ncols >= 0 && ((s->laid_out && s->rows > 0) || !s->sent))
		flush(s);
}
