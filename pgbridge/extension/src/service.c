// One request. What the engine asks for while it works is run by SPI, with the caller's rights and in the caller's
// transaction, until the engine has a result or an error.
#include "engine.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type_d.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "tcop/cmdtag.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#define READ_ONLY 1 // flags of a query
#define PLAIN 2		// no subtransaction

// The state of a request.
typedef struct Service {
	RgRequest *q;
	RgEngine *e;
	MemoryContext whole, each, rows; // live as long as the request, a frame, the rows of relgrad.gen_rows()
	List *locks; // session-level advisory locks that must not outlive the request, each a LOCKTAG
	int level;	 // of settings, see settings.c
	bool done;
	uint64 run, step, steps; // the run that is trained (0: none), the step of its last commit, and its number of steps
	uint64 coming; // the step that its next commit is of
} Service;

static void
send_request(Service *s)
{
	char *values[][2] = {
		{"function", (char *) s->q->function},
		{"user", GetUserNameFromId(GetUserId(), false)},
		{"atomic", s->q->atomic ? "t" : "f"},
		{"catalog", rg_catalog_state()},
		{"read_only", XactReadOnly || RecoveryInProgress() ? "t" : "f"},
		{"database", get_database_name(MyDatabaseId)},
		{"engine", (char *) rg_engine_name()},
		{"threads", psprintf("%d", rg_threads_allowed())},
		{"sites", psprintf("%d", rg_sites_wanted())},
		{"device", (char *) rg_device_name()},
		{"memory", psprintf(INT64_FORMAT, rg_memory_allowed())},
		{"spill", psprintf(INT64_FORMAT, rg_spill_limit())},
		{"spill_dir", rg_spill_dir()},
		{"args", s->q->args},
		{"param_table", s->q->param_table},
	};
	int n = lengthof(values) - (s->q->param_table == NULL);

	rg_begin_frame(s->e, 'R');
	rg_put_u32(s->e, n + (s->q->message != NULL));
	if (s->q->message != NULL) {
		rg_put_string(s->e, "message");
		rg_put_bytes(s->e, VARDATA_ANY(s->q->message), VARSIZE_ANY_EXHDR(s->q->message));
	}
	for (int i = 0; i < n; i++) {
		if (GetDatabaseEncoding() != PG_UTF8)
			pg_verify_mbstr(PG_UTF8, values[i][1], strlen(values[i][1]), false);
		rg_put_string(s->e, values[i][0]);
		rg_put_string(s->e, values[i][1]);
	}
	rg_send_frame(s->e);
}

static void
send_complete(RgEngine *e, const char *tag, uint64 rows)
{
	rg_begin_frame(e, 'C');
	rg_put_string(e, tag);
	rg_put_u64(e, rows);
	rg_send_frame(e);
}

// prepare parses and analyses one statement.
static SPIPlanPtr
prepare(const char *sql, bool parallel)
{
	SPIPrepareOptions o = {.cursorOptions = parallel ? CURSOR_OPT_PARALLEL_OK : 0};
	SPIPlanPtr plan = SPI_prepare_extended(sql, &o);
	int n;

	if (plan == NULL)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("the engine cannot run this statement: %s", SPI_result_code_string(SPI_result)),
						internalerrquery(sql)));
	n = list_length(SPI_plan_get_plan_sources(plan));
	if (n != 1)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("expected one statement, not %d", n),
						internalerrquery(sql)));
	return plan;
}

static CachedPlanSource *
source(SPIPlanPtr plan)
{
	return (CachedPlanSource *) linitial(SPI_plan_get_plan_sources(plan));
}

// run runs a prepared statement, whose rows go to dest. A statement that only reads sees the database as the call does,
// and what the request has changed (fresh); if the request ends transactions, it sees the present state. Any other
// statement sees the present state.
static void
run(Service *s, SPIPlanPtr plan, bool read_only, DestReceiver *dest)
{
	// SET TRANSACTION must come before the first snapshot. SPI takes none only if transactions may be ended.
	bool bare = !s->q->atomic && source(plan)->commandTag == CMDTAG_SET;
	SPIExecuteOptions o = {.read_only = read_only, .dest = dest, .allow_nonatomic = bare};
	bool fresh = read_only && s->q->fresh;
	int code, context;
	Oid user;

	if (fresh && s->q->atomic) { // one state, for which facts were planned, with the request's changes
		CommandCounterIncrement();
		PushCopiedSnapshot(GetActiveSnapshot());
		UpdateActiveSnapshotCommandId();
	} else if (fresh) {
		CommandCounterIncrement();
		PushActiveSnapshot(GetTransactionSnapshot());
	} else if (read_only && !bare)
		EnsurePortalSnapshotExists();
	// No text that is run here, stored by another user or given by the caller, may change the role: after a SET ROLE it
	// could take back the session's rights. An error restores the old state together with the transaction.
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(user, context | SECURITY_LOCAL_USERID_CHANGE);
	code = SPI_execute_plan_extended(plan, &o);
	SetUserIdAndSecContext(user, context);
	if (fresh)
		PopActiveSnapshot();
	if (code < 0)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("%s is not allowed in a statement that %s() runs",
							   GetCommandTagName(source(plan)->commandTag), s->q->function)));
}

// A statement that the engine wants to run, and what the engine is told then.
typedef struct Statement {
	char *sql;
	bool read_only;
	const char *tag;
	uint64 rows;
} Statement;

// query runs a statement and sends its rows to the engine.
static void
query(Service *s, Statement *st)
{
	DestReceiver *dest = rg_new_sender(s->e);
	SPIPlanPtr plan = prepare(st->sql, st->read_only);
	CommandTag tag = source(plan)->commandTag;

	run(s, plan, st->read_only, dest);
	st->rows = SPI_processed;
	rg_finish_sender(dest);
	if (tag == CMDTAG_INSERT)
		st->tag = psprintf("INSERT 0 " UINT64_FORMAT, st->rows);
	else if (tag == CMDTAG_CREATE_TABLE_AS || tag == CMDTAG_SELECT_INTO)
		st->tag = psprintf("SELECT " UINT64_FORMAT, st->rows);
	else if (command_tag_display_rowcount(tag))
		st->tag = psprintf("%s " UINT64_FORMAT, GetCommandTagName(tag), st->rows);
	else
		st->tag = GetCommandTagName(tag);
	SPI_freeplan(plan);
}

static void
analyse(Service *s, Statement *st)
{
	(void) s;
	st->tag = "";
	SPI_freeplan(prepare(st->sql, false));
}

// rethrow raises an error again if the engine must not go on after it: the statement was cancelled, or the exchange is
// broken.
static void
rethrow(Service *s, ErrorData *error)
{
	if (s->e->lost || error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
}

// attempt does something in a subtransaction, and tells the engine whether it has failed.
static void
attempt(Service *s, void (*what)(Service *, Statement *), Statement *st)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		what(s, st);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error == NULL) {
		send_complete(s->e, st->tag, st->rows);
		return;
	}
	rg_own_context(error, st->sql);
	rethrow(s, error);
	rg_send_error(s->e, error, st->sql);
}

static void
end_transaction(Service *s, char how)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorData *volatile error = NULL;
	List *settings;

	if (s->q->atomic || (how != 'c' && how != 'r'))
		rg_fault(s->e, "the end %d of a transaction that is not its own", how);
	settings = rg_close_settings(s->level);
	PG_TRY();
	{
		if (how == 'c') {
			SPI_commit();
			s->step = s->coming;
		} else
			SPI_rollback();
		SPI_start_transaction();
	}
	PG_CATCH();
	{
#if PG_VERSION_NUM < 150000
		PG_RE_THROW(); // there is no transaction left to go on in
#endif
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	s->coming = s->step;
	MemoryContextSwitchTo(context);
	s->level = rg_open_settings();
	rg_make_settings(settings);
	if (error == NULL) {
		send_complete(s->e, how == 'c' ? "COMMIT" : "ROLLBACK", 0);
		return;
	}
	rethrow(s, error);
	rg_send_error(s->e, error, NULL);
}

// show changes the rows that relgrad.gen_rows() returns. gen_rows checks them against what the statement expects.
static void
show(Service *s, RgReader *r)
{
	MemoryContext old = MemoryContextSwitchTo(s->rows);

	s->e->rows = NULL;
	MemoryContextReset(s->rows);
	if (r->at != r->end)
		s->e->rows = rg_read_block(r);
	MemoryContextSwitchTo(old);
	send_complete(s->e, "", 0);
}

// keep_lock notes a lock of the session, (class, object), that the engine is about to take. The engine releases it
// itself; if the engine ends before that, release_locks does.
static void
keep_lock(Service *s, RgReader *r)
{
	MemoryContext old = MemoryContextSwitchTo(s->whole);
	LOCKTAG *tag = palloc(sizeof *tag);
	uint32 class = rg_get_u32(r), object = rg_get_u32(r);

	rg_get_end(r);
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, class, object, 2);
	s->locks = lappend(s->locks, tag);
	MemoryContextSwitchTo(old);
	send_complete(s->e, "", 0);
}

static void
release_locks(Service *s)
{
	ListCell *l;

	foreach (l, s->locks) {
		LOCKTAG *tag = lfirst(l);

#if PG_VERSION_NUM >= 170000
		if (LockHeldByMe(tag, ExclusiveLock, false))
#else
		if (LockHeldByMe(tag, ExclusiveLock))
#endif
			LockRelease(tag, ExclusiveLock, true);
	}
}

static void
output(Service *s, RgReader *r)
{
	RgBlock *b = rg_read_block(r);

	if (s->q->store == NULL)
		rg_fault(s->e, "rows, but %s has none", s->q->function);
	rg_check_columns(b, s->q->desc, s->q->function);
	rg_store_block(s->e, b, s->q->desc, s->q->store);
	rg_begin_frame(s->e, 'K');
	rg_send_frame(s->e);
}

// join runs the query whose rows are the result. The engine's part of the request is over.
static void
join(Service *s, const char *sql)
{
	SPIPlanPtr plan;
	TupleDesc has;
	RgBlock columns = {0};
	DestReceiver *dest;

	if (s->q->store == NULL)
		rg_fault(s->e, "a query for rows, but %s has none", s->q->function);
	s->e->busy = false;
	plan = prepare(sql, true);
	has = source(plan)->resultDesc;
	columns.ncols = has == NULL ? 0 : has->natts;
	columns.cols = palloc0(sizeof(RgColumn) * Max(columns.ncols, 1));
	for (int i = 0; i < columns.ncols; i++) {
		columns.cols[i].name = NameStr(TupleDescAttr(has, i)->attname);
		columns.cols[i].type = TupleDescAttr(has, i)->atttypid;
	}
	rg_check_columns(&columns, s->q->desc, s->q->function);
	dest = CreateDestReceiver(DestTuplestore);
	SetTuplestoreDestReceiverParams(dest, s->q->store, CurrentMemoryContext, false, s->q->desc,
									"the columns of the engine's query are not those of its result");
	run(s, plan, true, dest);
	SPI_freeplan(plan);
}

// train_frame notes which run is trained: at first how far its commits are, then how far the next one will be. It is
// told before, so that a run which is cancelled after a commit never says that this was not.
static void
train_frame(Service *s, RgReader *r)
{
	uint64 run = rg_get_u64(r);

	s->coming = rg_get_u64(r);
	s->steps = rg_get_u64(r);
	rg_get_end(r);
	if (s->run != run)
		s->step = s->coming;
	s->run = run;
}

// cancelled adds to the error of a cancelled statement which run was trained, and how to go on with it.
static void
cancelled(Service *s, MemoryContext context)
{
	ErrorData *error;

	if (s->run == 0 || geterrcode() != ERRCODE_QUERY_CANCELED)
		return;
	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	if (s->step == 0)
		error->detail = psprintf("Run " UINT64_FORMAT
								 " is interrupted. None of its steps is committed: the parameters are as they were before it.",
								 s->run);
	else
		error->detail = psprintf("Run " UINT64_FORMAT " is interrupted. The parameters as of step " UINT64_FORMAT
								 " of " UINT64_FORMAT " are committed.", s->run, s->step, s->steps);
	error->hint = psprintf("CALL train(resume => " UINT64_FORMAT "); goes on with it.", s->run);
	ReThrowError(error);
}

static void
query_frame(Service *s, RgReader *r)
{
	uint8 flags = rg_get_u8(r);
	Statement st = {.sql = rg_get_string(r), .read_only = (flags & READ_ONLY) != 0 || s->q->stable};

	rg_get_end(r);
	if ((flags & ~(READ_ONLY | PLAIN)) != 0)
		rg_fault(s->e, "a query with flags %d", flags);
	if ((flags & PLAIN) == 0) {
		attempt(s, query, &st);
		return;
	}
	query(s, &st);
	send_complete(s->e, st.tag, st.rows);
}

static void
prepare_frame(Service *s, RgReader *r)
{
	Statement st = {.sql = rg_get_string(r)};

	rg_get_end(r);
	attempt(s, analyse, &st);
}

// serve_frame does what a frame of the engine asks for.
static void
serve_frame(Service *s)
{
	RgReader r = rg_receive_frame(s->e);
	char *sql, how;

	switch (r.kind) {
	case 'Q':
		query_frame(s, &r);
		break;
	case 'P':
		prepare_frame(s, &r);
		break;
	case 'W':
		show(s, &r);
		break;
	case 'T':
		how = rg_get_u8(&r);
		rg_get_end(&r);
		end_transaction(s, how);
		break;
	case 'U':
		keep_lock(s, &r);
		break;
	case 'N':
		rg_notice(&r);
		break;
	case 'I':
		train_frame(s, &r);
		break;
	case 'O':
		output(s, &r);
		break;
	case 'D':
		rg_get_end(&r);
		s->done = true;
		break;
	case 'M':
		if (s->q->message == NULL)
			rg_fault(s->e, "a reply to no message");
		s->q->reply = rg_get_rest(&r, s->q->reply_in);
		s->done = true;
		break;
	case 'J':
		sql = rg_get_string(&r);
		rg_get_end(&r);
		join(s, sql);
		s->done = true;
		break;
	case 'X':
		rg_raise(&r);
		break;
	default:
		rg_fault(s->e, "a frame of kind %d", r.kind);
	}
}

// rg_request sends a request and serves the engine until it has answered.
void
rg_request(RgRequest *q)
{
	Service s = {.q = q};
	MemoryContext caller = CurrentMemoryContext;

	if (GetDatabaseEncoding() != PG_UTF8 && GetDatabaseEncoding() != PG_SQL_ASCII)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("%s() needs a database whose encoding is UTF8, not %s", q->function,
							   GetDatabaseEncodingName())));
	check_stack_depth();
	s.whole = AllocSetContextCreate(CurrentMemoryContext, "relgrad request", ALLOCSET_DEFAULT_SIZES);
	s.each = AllocSetContextCreate(s.whole, "relgrad statement", ALLOCSET_DEFAULT_SIZES);
	s.rows = AllocSetContextCreate(s.whole, "relgrad rows", ALLOCSET_SMALL_SIZES);
	if (SPI_connect_ext(q->atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	s.level = rg_open_settings();
	s.e = rg_engine_begin();
	PG_TRY();
	{
		MemoryContextSwitchTo(s.each);
		send_request(&s);
		while (!s.done) {
			MemoryContextReset(s.each);
			serve_frame(&s);
		}
	}
	PG_CATCH();
	{
		if (s.e->busy)
			release_locks(&s);
		rg_engine_abandon(s.e);
		cancelled(&s, caller);
		PG_RE_THROW();
	}
	PG_END_TRY();
	rg_engine_end(s.e);
	(void) rg_close_settings(s.level);
	SPI_finish();
	MemoryContextDelete(s.whole);
}
