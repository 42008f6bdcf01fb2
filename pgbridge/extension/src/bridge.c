// The SQL functions that the engine answers: gradient, backward, check_gradient, explain_gradient, train, distribute,
// undistribute;
// gen_member, by which another server's session leads it; and gen_rows, through which its rows enter statements.
#include "chunk.h"
#include "engine.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "common/shortest_dec.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

static void
put_texts(StringInfo s, const char *function, const char *name, ArrayType *a)
{
	Datum *values;
	bool *nulls;
	int n;

	if (ARR_NDIM(a) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
						errmsg("%s of %s() is an array of %d dimensions, not a list", name, function, ARR_NDIM(a))));
	deconstruct_array(a, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	appendStringInfoChar(s, '[');
	for (int i = 0; i < n; i++) {
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
							errmsg("element %d of %s of %s() is NULL", i + 1, name, function)));
		if (i > 0)
			appendStringInfoChar(s, ',');
		escape_json(s, TextDatumGetCString(values[i]));
	}
	appendStringInfoChar(s, ']');
}

static void
put_double(StringInfo s, double x)
{
	char *text = double_to_shortest_decimal(x);

	if (isfinite(x))
		appendStringInfoString(s, text);
	else
		escape_json(s, text);
}

// put_value writes an argument as JSON.
static void
put_value(StringInfo s, const char *function, const char *name, Oid type, Datum d)
{
	Jsonb *j;

	switch (type) {
	case BOOLOID:
		appendStringInfoString(s, DatumGetBool(d) ? "true" : "false");
		break;
	case INT8OID:
		appendStringInfo(s, INT64_FORMAT, DatumGetInt64(d));
		break;
	case FLOAT8OID:
		put_double(s, DatumGetFloat8(d));
		break;
	case TEXTOID:
		escape_json(s, TextDatumGetCString(d));
		break;
	case TEXTARRAYOID:
		put_texts(s, function, name, DatumGetArrayTypeP(d));
		break;
	case JSONBOID:
		j = DatumGetJsonbP(d);
		JsonbToCString(s, &j->root, VARSIZE(j));
		break;
	default:
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("%s of %s() cannot be of type %s", name, function, format_type_be(type))));
	}
}

// put_any writes an argument of any type: what is no number and no type of put_value's as its text, such as the name of a
// regclass.
static void
put_any(StringInfo s, const char *function, const char *name, Oid type, Datum d)
{
	Oid output;
	bool varlena;
	char *text;

	switch (type) {
	case BOOLOID:
	case INT8OID:
	case FLOAT8OID:
	case TEXTOID:
	case TEXTARRAYOID:
	case JSONBOID:
		put_value(s, function, name, type, d);
		return;
	case InvalidOid:
	case UNKNOWNOID:
		escape_json(s, DatumGetCString(d));
		return;
	}
	getTypeOutputInfo(type, &output, &varlena);
	text = OidOutputFunctionCall(output, d);
	if (type == INT2OID || type == INT4OID || (type == NUMERICOID && strspn(text, "-.0123456789") == strlen(text)))
		appendStringInfoString(s, text);
	else
		escape_json(s, text);
}

// arguments writes the arguments that are not NULL as a JSON object, under the names that the function declares.
static char *
arguments(FunctionCallInfo fcinfo, const char *function)
{
	HeapTuple proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	StringInfoData s;
	Oid *types;
	char **names, *modes;

	if (!HeapTupleIsValid(proc))
		elog(ERROR, "cache lookup failed for function %u", fcinfo->flinfo->fn_oid);
	(void) get_func_arg_info(proc, &types, &names, &modes);
	initStringInfo(&s);
	for (int i = 0; i < fcinfo->nargs; i++) {
		Oid type = types[i];

		if (fcinfo->args[i].isnull)
			continue;
		if (type == ANYELEMENTOID || type == ANYOID)
			type = get_fn_expr_argtype(fcinfo->flinfo, i);
		appendStringInfoChar(&s, s.len == 0 ? '{' : ',');
		escape_json(&s, names[i]);
		appendStringInfoChar(&s, ':');
		if (types[i] == ANYOID)
			put_any(&s, function, names[i], type, fcinfo->args[i].value);
		else
			put_value(&s, function, names[i], type, fcinfo->args[i].value);
	}
	appendStringInfoString(&s, s.len == 0 ? "{}" : "}");
	ReleaseSysCache(proc);
	return s.data;
}

// no_table raises the error if the type of a parameter is not a table's. A name that is both a type and a table, such
// as point or line, means the type.
static void
no_table(Oid type)
{
	char *name = OidIsValid(type) ? format_type_be(type) : "unknown";
	Oid table = RelnameGetRelid(name);
	char *meant = OidIsValid(table) && get_rel_relkind(table) != RELKIND_COMPOSITE_TYPE
		? quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)), name)
		: NULL;

	ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
					errmsg("the parameter of gradient() is of type %s, which is no table's", name),
					meant ? errhint("The table of this name is NULL::%s.", meant)
						  : errhint("Name the table w by a NULL of its row type: gradient('loss', NULL::w).")));
}

// table_of returns the table that NULL::w names.
static char *
table_of(FunctionCallInfo fcinfo)
{
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	Oid relation = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	if (!OidIsValid(relation) || get_rel_relkind(relation) == RELKIND_COMPOSITE_TYPE)
		no_table(type);
	if (!PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("the parameter of gradient() is a row of %s, not NULL", get_rel_name(relation)),
						errhint("Only its type counts, which names the table: gradient('loss', NULL::%s).",
								quote_identifier(get_rel_name(relation)))));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), get_rel_name(relation));
}

// return_set prepares a result of rows.
static void
return_set(FunctionCallInfo fcinfo, RgRequest *q)
{
	ReturnSetInfo *rs = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;
	TupleDesc desc;

	if (rs == NULL || !IsA(rs, ReturnSetInfo) || (rs->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("%s() is called in a place that takes no set of rows", q->function)));
	old = MemoryContextSwitchTo(rs->econtext->ecxt_per_query_memory);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE && rs->expectedDesc == NULL)
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("the columns of %s() are not known here", q->function),
						errhint("Call it in FROM, with a list of its columns.")));
	if (desc == NULL)
		desc = rs->expectedDesc;
	q->desc = CreateTupleDescCopy(desc);
	q->store = tuplestore_begin_heap((rs->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
	rs->returnMode = SFRM_Materialize;
	rs->setResult = q->store;
	rs->setDesc = q->desc;
	MemoryContextSwitchTo(old);
}

// only_value returns the value of a result of one row and one column, and frees its store.
static Datum
only_value(FunctionCallInfo fcinfo, RgRequest *q)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(q->desc, &TTSOpsMinimalTuple);
	Form_pg_attribute a = TupleDescAttr(q->desc, 0);
	int64 rows = tuplestore_tuple_count(q->store);
	Datum d = 0;

	if (rows != 1 || !tuplestore_gettupleslot(q->store, true, false, slot))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("the engine gave " INT64_FORMAT " rows as the result of %s(), not one", rows,
							   q->function)));
	d = slot_getattr(slot, 1, &fcinfo->isnull);
	if (!fcinfo->isnull)
		d = datumCopy(d, a->attbyval, a->attlen);
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(q->store);
	return d;
}

// one prepares a result of one value.
static void
one(RgRequest *q, Oid type)
{
	q->desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(q->desc, 1, q->function, type, -1, 0);
	q->store = tuplestore_begin_heap(false, false, work_mem);
}

RG_FUNCTION(gradient)
{
	RgRequest q = {.function = "gradient", .atomic = true, .stable = true, .param_table = table_of(fcinfo),
				   .args = arguments(fcinfo, "gradient")};

	return_set(fcinfo, &q);
	rg_request(&q);
	return (Datum) 0;
}

RG_FUNCTION(check_gradient)
{
	RgRequest q = {.function = "check_gradient", .atomic = true, .stable = true,
				   .args = arguments(fcinfo, "check_gradient")};

	return_set(fcinfo, &q);
	rg_request(&q);
	return (Datum) 0;
}

RG_FUNCTION(explain_gradient)
{
	RgRequest q = {.function = "explain_gradient", .atomic = true, .args = arguments(fcinfo, "explain_gradient")};

	one(&q, TEXTOID);
	rg_request(&q);
	return only_value(fcinfo, &q);
}

RG_FUNCTION(backward)
{
	RgRequest q = {.function = "backward", .atomic = true, .args = arguments(fcinfo, "backward")};

	one(&q, FLOAT8OID);
	rg_request(&q);
	return only_value(fcinfo, &q);
}

RG_FUNCTION(train)
{
	bool atomic = fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		((CallContext *) fcinfo->context)->atomic;
	RgRequest q = {.function = "train", .atomic = atomic, .fresh = true, .args = arguments(fcinfo, "train")};

	rg_request(&q);
	PG_RETURN_VOID();
}

// distribute makes a table lie at other servers.
RG_FUNCTION(distribute)
{
	RgRequest q = {.function = "distribute", .atomic = true, .args = arguments(fcinfo, "distribute")};

	rg_request(&q);
	PG_RETURN_VOID();
}

// undistribute brings a table's rows back.
RG_FUNCTION(undistribute)
{
	RgRequest q = {.function = "undistribute", .atomic = true, .args = arguments(fcinfo, "undistribute")};

	rg_request(&q);
	PG_RETURN_VOID();
}

// gen_servers lists the other servers, and what tables have there.
RG_FUNCTION(gen_servers)
{
	RgRequest q = {.function = "gen_servers", .atomic = true, .args = "{}"};

	return_set(fcinfo, &q);
	rg_request(&q);
	return (Datum) 0;
}

// gen_member brings the engine a message of the session that leads it, and returns its reply (executor/apart).
RG_FUNCTION(gen_member)
{
	RgRequest q = {.function = "gen_member", .atomic = true, .args = "{}", .message = PG_GETARG_BYTEA_PP(0),
				   .reply_in = CurrentMemoryContext};

	rg_request(&q);
	if (q.reply == NULL)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the engine gave no reply to a message")));
	PG_RETURN_BYTEA_P(q.reply);
}

RG_FUNCTION(gen_rows)
{
	RgEngine *e = rg_engine_running();
	RgRequest q = {.function = "gen_rows"};

	if (e == NULL || e->rows == NULL)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("there are no rows for gen_rows()"),
						errdetail("Only statements that the engine runs call it.")));
	return_set(fcinfo, &q);
	rg_check_columns(e->rows, q.desc, "gen_rows()");
	rg_store_block(e, e->rows, q.desc, q.store);
	return (Datum) 0;
}
