/* Trampolines between SQLite and Go, and row transfer in one call. */
#include "api.h"
#include "_cgo_export.h"

enum { MAXARGS = 127 };
static __thread rg_arena scratch; /* results of Go functions, per thread */

int rg_grow(rg_arena *a, int64_t n) {
  if (n <= a->cap) return SQLITE_OK;
  int64_t cap = n + n / 2 + 4096;
  char *p = realloc(a->p, cap);
  if (!p) return SQLITE_NOMEM;
  a->p = p, a->cap = cap;
  return SQLITE_OK;
}

/* A transaction that has read and now meets another's lock is told so at once: SQLite's busy handler waits only where nothing was
 * read before. This waits for it too, as long as that one would. */
static int step(sqlite3_stmt *s, rg_wait *wait) {
  int read = !sqlite3_stmt_busy(s) && sqlite3_txn_state(sqlite3_db_handle(s), "main") != 0, rc = sqlite3_step(s);
  for (int n = 0; rc == SQLITE_BUSY && read && rg_busy(wait, n); n++) {
    sqlite3_reset(s);
    rc = sqlite3_step(s);
  }
  return rc;
}

/* Reads the row's n cells, and tells whether any points to what the next step frees. */
static int cells(sqlite3_stmt *s, int n, rg_cell *out) {
  int points = 0;
  for (int i = 0; i < n; i++) {
    rg_cell *c = &out[i];
    switch (c->kind = sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER: c->i = sqlite3_column_int64(s, i); break;
    case SQLITE_FLOAT: c->d = sqlite3_column_double(s, i); break;
    case SQLITE_TEXT: c->p = (void *)sqlite3_column_text(s, i), c->n = sqlite3_column_bytes(s, i), points = 1; break;
    case SQLITE_BLOB: c->p = (void *)sqlite3_column_blob(s, i), c->n = sqlite3_column_bytes(s, i), points = 1; break;
    }
  }
  return points;
}

/* The cells' place is a number: for a pointer, cgo would search all of them for pointers to Go's memory at each call. */
int rg_step(sqlite3_stmt *s, rg_wait *wait, int n, uintptr_t out) {
  int rc = step(s, wait);
  if (rc == SQLITE_ROW) cells(s, n, (rg_cell *)out);
  return rc;
}

/* rg_steps reads up to most rows, and no more than one of texts or blobs. */
int rg_steps(sqlite3_stmt *s, rg_wait *wait, int n, int most, uintptr_t out, int *got) {
  for (*got = 0; *got < most;) {
    int rc = step(s, wait);
    if (rc != SQLITE_ROW) return rc;
    if (cells(s, n, (rg_cell *)out + (int64_t)n * (*got)++)) break;
  }
  return SQLITE_ROW;
}

/* rg_bind binds n cells; the i field of TEXT and BLOB cells is their offset in the arena. The bytes
 * are bound without a copy: the arena must not change before the statement is reset. */
int rg_bind(sqlite3_stmt *s, int n, const rg_cell *in, rg_arena *a) {
  int rc = SQLITE_OK;
  for (int i = 0; i < n && rc == SQLITE_OK; i++) {
    const rg_cell *c = &in[i];
    switch (c->kind) {
    case SQLITE_INTEGER: rc = sqlite3_bind_int64(s, i + 1, c->i); break;
    case SQLITE_FLOAT: rc = sqlite3_bind_double(s, i + 1, c->d); break;
    case SQLITE_TEXT: rc = sqlite3_bind_text64(s, i + 1, a->p + c->i, c->n, SQLITE_STATIC, SQLITE_UTF8); break;
    case SQLITE_BLOB: rc = sqlite3_bind_blob64(s, i + 1, a->p + c->i, c->n, SQLITE_STATIC); break;
    default: rc = sqlite3_bind_null(s, i + 1);
    }
  }
  return rc;
}

int rg_run(sqlite3_stmt *s, rg_wait *wait, int n, const rg_cell *in, rg_arena *a) {
  int rc = rg_bind(s, n, in, a);
  if (rc == SQLITE_OK) {
    rc = step(s, wait);
    int rr = sqlite3_reset(s);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) rc = rr;
  }
  return rc;
}

static void load(int n, sqlite3_value **v, rg_cell *c) {
  for (int i = 0; i < n; i++, c++) {
    switch (c->kind = sqlite3_value_type(v[i])) {
    case SQLITE_INTEGER: c->i = sqlite3_value_int64(v[i]); break;
    case SQLITE_FLOAT: c->d = sqlite3_value_double(v[i]); break;
    case SQLITE_TEXT: c->p = (void *)sqlite3_value_text(v[i]), c->n = sqlite3_value_bytes(v[i]); break;
    case SQLITE_BLOB: c->p = (void *)sqlite3_value_blob(v[i]), c->n = sqlite3_value_bytes(v[i]); break;
    }
  }
}

/* give hands a result to SQLite. kind 0 is an error whose text lies in the arena. */
static void give(sqlite3_context *ctx, rg_cell *r) {
  switch (r->kind) {
  case SQLITE_INTEGER: sqlite3_result_int64(ctx, r->i); break;
  case SQLITE_FLOAT: sqlite3_result_double(ctx, r->d); break;
  case SQLITE_TEXT:
    if (scratch.cap > 1 << 20) { sqlite3_result_text64(ctx, scratch.p, r->n, free, SQLITE_UTF8); goto given; }
    sqlite3_result_text64(ctx, scratch.p, r->n, SQLITE_TRANSIENT, SQLITE_UTF8); break;
  case SQLITE_BLOB:
    if (scratch.cap > 1 << 20) { sqlite3_result_blob64(ctx, scratch.p, r->n, free); goto given; }
    sqlite3_result_blob64(ctx, scratch.p ? scratch.p : "", r->n, SQLITE_TRANSIENT); break;
  case SQLITE_NULL: sqlite3_result_null(ctx); break;
  default: sqlite3_result_error(ctx, scratch.p, (int)r->n);
  }
  if (scratch.cap > 1 << 20) free(scratch.p), scratch.p = 0, scratch.cap = 0;
  return;
given: /* SQLite has the memory, and frees it */
  scratch.p = 0, scratch.cap = 0;
}

static void call_scalar(sqlite3_context *ctx, int n, sqlite3_value **v) {
  rg_cell args[MAXARGS], res = {.kind = SQLITE_NULL};
  load(n, v, args);
  rgScalar((int64_t)(intptr_t)sqlite3_user_data(ctx), n, args, &res, &scratch);
  give(ctx, &res);
}

/* The aggregate context holds Go's handle of the state; 0 means not begun. */
static void call_step(sqlite3_context *ctx, int n, sqlite3_value **v) {
  rg_cell args[MAXARGS], res = {.kind = SQLITE_NULL};
  int64_t *h = sqlite3_aggregate_context(ctx, sizeof *h);
  if (!h) { sqlite3_result_error_code(ctx, SQLITE_NOMEM); return; }
  load(n, v, args);
  rgStep((int64_t)(intptr_t)sqlite3_user_data(ctx), h, n, args, &res, &scratch);
  if (res.kind == 0) give(ctx, &res);
}

static void call_inverse(sqlite3_context *ctx, int n, sqlite3_value **v) {
  rg_cell args[MAXARGS], res = {.kind = SQLITE_NULL};
  int64_t *h = sqlite3_aggregate_context(ctx, sizeof *h);
  if (!h) { sqlite3_result_error_code(ctx, SQLITE_NOMEM); return; }
  load(n, v, args);
  rgInverse((int64_t)(intptr_t)sqlite3_user_data(ctx), h, n, args, &res, &scratch);
  if (res.kind == 0) give(ctx, &res);
}

static void finish(sqlite3_context *ctx, int last) {
  rg_cell res = {.kind = SQLITE_NULL};
  int64_t zero = 0, *h = sqlite3_aggregate_context(ctx, 0);
  rgValue((int64_t)(intptr_t)sqlite3_user_data(ctx), h ? h : &zero, last, &res, &scratch);
  give(ctx, &res);
}
static void call_value(sqlite3_context *ctx) { finish(ctx, 0); }
static void call_final(sqlite3_context *ctx) { finish(ctx, 1); }

static int call_collation(void *id, int n, const void *a, int m, const void *b) {
  return rgCollate((int64_t)(intptr_t)id, n, (void *)a, m, (void *)b);
}

int rg_create(sqlite3 *db, const char *name, int nargs, int pure, int kind, int64_t id) {
  int flags = SQLITE_UTF8 | (pure ? SQLITE_DETERMINISTIC : 0) | SQLITE_INNOCUOUS;
  void *p = (void *)(intptr_t)id;
  switch (kind) {
  case 0: return sqlite3_create_function_v2(db, name, nargs, flags, p, call_scalar, 0, 0, 0);
  case 1: return sqlite3_create_window_function(db, name, nargs, flags, p, call_step, call_final, call_value, call_inverse, 0);
  }
  return sqlite3_create_collation_v2(db, name, SQLITE_UTF8, p, call_collation, 0);
}

/* rg_trim gives freed memory back to the system, where the C library can. */
#ifdef __GLIBC__
#include <malloc.h>
void rg_trim(void) { malloc_trim(0); }
#else
void rg_trim(void) {}
#endif
