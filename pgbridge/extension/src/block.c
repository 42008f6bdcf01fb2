// Rows that the engine has put into the shared memory. All that it says about them is checked before it is used: a
// wrong offset is an error, never a crash. (The memory cannot shrink: see engine.c.)
#include "engine.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define NULLS 1 // flags of a column

// fits reports whether a kind can hold a type. width gets the bytes of an element.
static bool
fits(char kind, Oid type, uint64 *width)
{
	*width = 8;
	switch (kind) {
	case 'i':
		return type == INT8OID || type == INT4OID || type == INT2OID || type == OIDOID;
	case 'd':
		return type == FLOAT8OID;
	case 'D':
		return type == FLOAT8ARRAYOID;
	case 'I':
		return type == INT8ARRAYOID || type == INT4ARRAYOID;
	case 'f':
	case 'F':
		*width = 4;
		return type == (kind == 'f' ? FLOAT4OID : FLOAT4ARRAYOID);
	case 'b':
		*width = 1;
		return type == BOOLOID;
	case 't':
		*width = 0;
		return true;
	}
	return false;
}

static bool
is_chunk(char kind)
{
	return kind == 'F' || kind == 'D' || kind == 'I';
}

// extent checks that rows × bytes at an offset are inside the shared memory.
static void
extent(RgEngine *e, RgBlock *b, uint64 at, uint64 rows, uint64 bytes, const RgColumn *c)
{
	uint64 n;

	if (at % 8 != 0 || __builtin_mul_overflow(rows, bytes, &n) || __builtin_add_overflow(n, at, &n) || n > e->mapped)
		rg_fault(e,
				 "column %.64s at " UINT64_FORMAT ", " UINT64_FORMAT " rows of " UINT64_FORMAT
				 " bytes, outside the " UINT64_FORMAT " bytes of the shared memory",
				 c->name, at, rows, bytes, e->mapped);
	b->end = Max(b->end, n);
}

static void
read_shape(RgReader *r, RgColumn *c, uint64 width)
{
	uint64 cell = width;

	c->ndim = rg_get_u8(r);
	if (c->ndim > MAXDIM || (c->ndim > 0 && !is_chunk(c->kind))) // chunks have no shape if all are NULL
		rg_fault(r->engine, "column %.64s of kind %c with %d dimensions", c->name, c->kind, c->ndim);
	for (int i = 0; i < c->ndim; i++) {
		uint32 n = rg_get_u32(r);

		if (n == 0 || __builtin_mul_overflow(cell, n, &cell) || cell > MaxAllocSize / 2)
			rg_fault(r->engine, "column %.64s with a chunk that is empty or too large", c->name);
		c->dims[i] = n;
	}
	c->cell = cell;
}

// rg_read_block reads and checks a description of rows, which stay in the shared memory.
RgBlock *
rg_read_block(RgReader *r)
{
	RgEngine *e = r->engine;
	RgBlock *b = palloc0(sizeof *b);
	uint64 width;

	rg_remap(e);
	b->rows = rg_get_u64(r);
	b->ncols = rg_get_u32(r);
	if (b->rows > PG_UINT32_MAX || b->ncols < 1 || b->ncols > MaxTupleAttributeNumber)
		rg_fault(e, UINT64_FORMAT " rows of %d columns", b->rows, b->ncols);
	b->cols = palloc0(sizeof(RgColumn) * b->ncols);
	for (int i = 0; i < b->ncols; i++) {
		RgColumn *c = &b->cols[i];
		uint8 flags;

		c->name = rg_get_string(r);
		c->type = rg_get_u32(r);
		c->kind = rg_get_u8(r);
		flags = rg_get_u8(r);
		if (!fits(c->kind, c->type, &width) || (flags & ~NULLS) != 0)
			rg_fault(e, "column %.64s of kind %d, type %u and flags %d", c->name, c->kind, c->type, flags);
		c->nulls = flags & NULLS;
		read_shape(r, c, width);
		c->data_at = rg_get_u64(r);
		c->nulls_at = rg_get_u64(r);
		c->extra_at = rg_get_u64(r);
		if (c->kind == 't')
			extent(e, b, c->data_at, b->rows + 1, sizeof(uint32), c);
		else
			extent(e, b, c->data_at, b->rows, c->cell, c);
		if (c->nulls)
			extent(e, b, c->nulls_at, b->rows, 1, c);
		if (c->kind == 't') {
			uint32 last = *(volatile uint32 *) (e->map + c->data_at + b->rows * sizeof(uint32));

			extent(e, b, c->extra_at, last, 1, c);
		}
	}
	rg_get_end(r);
	return b;
}

// describe lists names and types.
static char *
describe(const RgBlock *b, TupleDesc desc)
{
	StringInfoData s;
	int n = b != NULL ? b->ncols : desc->natts;

	initStringInfo(&s);
	for (int i = 0; i < n; i++) {
		Form_pg_attribute a = b == NULL ? TupleDescAttr(desc, i) : NULL;

		if (a == NULL || !a->attisdropped)
			appendStringInfo(&s, "%s%s %s", s.len > 0 ? ", " : "", a == NULL ? b->cols[i].name : NameStr(a->attname),
							 format_type_be(a == NULL ? b->cols[i].type : a->atttypid));
	}
	return s.data;
}

// rg_check_columns raises an error if the types of rows are not those of desc, without its dropped columns.
void
rg_check_columns(const RgBlock *b, TupleDesc desc, const char *what)
{
	int n = 0;
	bool same = true;

	for (int i = 0; i < desc->natts; i++) {
		Form_pg_attribute a = TupleDescAttr(desc, i);

		if (!a->attisdropped) {
			same = same && n < b->ncols && b->cols[n].type == a->atttypid;
			n++;
		}
	}
	if (!same || n != b->ncols)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("the columns of the engine's rows are not those of %s", what),
						errdetail("The engine has (%s); wanted are (%s).", describe(b, NULL), describe(NULL, desc))));
}

// How a column's values are put into tuples.
typedef struct Reader {
	const RgColumn *col; // NULL: dropped
	bool plain;			 // a text that needs no input function
	FmgrInfo input;
	Oid param;
	int32 typmod;
} Reader;

static Datum
text_value(RgEngine *e, Reader *x, uint64 row)
{
	const RgColumn *c = x->col;
	const volatile uint32 *at = (const volatile uint32 *) (e->map + c->data_at);
	uint32 from = at[row], to = at[row + 1];
	char *s;

	if (from > to || to > e->mapped - c->extra_at)
		rg_fault(e, "column %.64s with text from %u to %u", c->name, from, to);
	s = pnstrdup(e->map + c->extra_at + from, to - from);
	if (strlen(s) != to - from || !pg_verify_mbstr(PG_UTF8, s, to - from, true))
		rg_fault(e, "column %.64s with a text that is not UTF-8", c->name);
	if (x->plain)
		return PointerGetDatum(cstring_to_text_with_len(s, to - from));
	return InputFunctionCall(&x->input, s, x->param, x->typmod);
}

static Datum
integer_value(RgEngine *e, const RgColumn *c, int64 v)
{
	if ((c->type == INT4OID && v != (int32) v) || (c->type == INT2OID && v != (int16) v) ||
		(c->type == OIDOID && v != (int64) (Oid) v))
		rg_fault(e, "column %.64s with " INT64_FORMAT ", which is no %s", c->name, v, format_type_be(c->type));
	switch (c->type) {
	case INT4OID:
		return Int32GetDatum((int32) v);
	case INT2OID:
		return Int16GetDatum((int16) v);
	case OIDOID:
		return ObjectIdGetDatum((Oid) v);
	}
	return Int64GetDatum(v);
}

static Datum
chunk_value(RgEngine *e, const RgColumn *c, const char *data)
{
	bool narrow = c->type == INT4ARRAYOID;
	Size width = c->kind == 'F' || narrow ? 4 : 8;
	Oid elem = c->kind == 'F' ? FLOAT4OID : c->kind == 'D' ? FLOAT8OID : narrow ? INT4OID : INT8OID;
	Size header = ARR_OVERHEAD_NONULLS(c->ndim), n = narrow ? c->cell / 2 : c->cell;
	ArrayType *a;

	if (c->ndim == 0)
		rg_fault(e, "column %.64s with a chunk without a shape", c->name);
	a = palloc(header + n);
	SET_VARSIZE(a, header + n);
	a->ndim = c->ndim;
	a->dataoffset = 0;
	a->elemtype = elem;
	for (int i = 0; i < c->ndim; i++) {
		ARR_DIMS(a)[i] = c->dims[i];
		ARR_LBOUND(a)[i] = 1;
	}
	if (!narrow) {
		memcpy(ARR_DATA_PTR(a), data, n);
		return PointerGetDatum(a);
	}
	for (Size i = 0; i < n / width; i++) {
		int64 v = ((const volatile int64 *) data)[i];

		if (v != (int32) v)
			rg_fault(e, "column %.64s with " INT64_FORMAT ", which is no integer", c->name, v);
		((int32 *) ARR_DATA_PTR(a))[i] = (int32) v;
	}
	return PointerGetDatum(a);
}

static Datum
value(RgEngine *e, Reader *x, uint64 row)
{
	const RgColumn *c = x->col;
	const char *data = e->map + c->data_at + row * c->cell;

	switch (c->kind) {
	case 'i':
		return integer_value(e, c, *(const volatile int64 *) data);
	case 'f':
		return Float4GetDatum(*(const float4 *) data);
	case 'd':
		return Float8GetDatum(*(const float8 *) data);
	case 'b':
		return BoolGetDatum(*(const uint8 *) data != 0);
	case 't':
		return text_value(e, x, row);
	}
	return chunk_value(e, c, data);
}

// rg_store_block appends rows to a tuplestore. Their columns must have been checked.
void
rg_store_block(RgEngine *e, const RgBlock *b, TupleDesc desc, Tuplestorestate *store)
{
	Reader *readers = palloc0(sizeof(Reader) * desc->natts);
	Datum *values = palloc0(sizeof(Datum) * desc->natts);
	bool *nulls = palloc0(sizeof(bool) * desc->natts);
	MemoryContext each = AllocSetContextCreate(CurrentMemoryContext, "relgrad row", ALLOCSET_DEFAULT_SIZES), old;

	for (int i = 0, n = 0; i < desc->natts; i++) {
		Form_pg_attribute a = TupleDescAttr(desc, i);
		Reader *x = &readers[i];
		Oid in;

		if (a->attisdropped)
			continue;
		x->col = &b->cols[n++];
		x->typmod = a->atttypmod;
		x->plain = a->atttypid == TEXTOID || a->atttypid == VARCHAROID;
		if (x->col->kind == 't') {
			getTypeInputInfo(a->atttypid, &in, &x->param);
			fmgr_info(in, &x->input);
		}
	}
	old = MemoryContextSwitchTo(each);
	for (uint64 row = 0; row < b->rows; row++) {
		for (int i = 0; i < desc->natts; i++) {
			const RgColumn *c = readers[i].col;

			nulls[i] = c == NULL || (c->nulls && e->map[c->nulls_at + row] == 0);
			values[i] = nulls[i] ? (Datum) 0 : value(e, &readers[i], row);
		}
		tuplestore_putvalues(store, desc, values, nulls);
		MemoryContextReset(each);
		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(each);
}
