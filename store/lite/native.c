/* Scalar functions that are called once per row and operation, in plain C: range checks, rounding to
 * real, division. Each is strict. Messages are "SQLSTATE text", see lite.Error. */
#include "api.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

static void fail(sqlite3_context *ctx, const char *msg) { sqlite3_result_error(ctx, msg, -1); }

/* rg_int(x, bytes): x, refused outside the range of a signed integer of that size. An arithmetic
 * overflow of SQLite arrives as FLOAT. */
static void f_int(sqlite3_context *ctx, int n, sqlite3_value **v) {
  int t = sqlite3_value_type(v[0]), size = (int)sqlite3_value_int64(v[1]);
  if (t == SQLITE_NULL) return;
  sqlite3_int64 x = sqlite3_value_int64(v[0]);
  if (t != SQLITE_INTEGER || (size == 4 && x != (int32_t)x) || (size == 2 && x != (int16_t)x)) {
    fail(ctx, size == 8 ? "22003 bigint out of range" : size == 4 ? "22003 integer out of range" : "22003 smallint out of range");
    return;
  }
  sqlite3_result_int64(ctx, x);
}

/* rg_f4(x): the nearest real. rg_f8(x): x as double precision. NaN comes back as NULL from SQLite, so a
 * NULL that arose from numbers is an error of the function that made it. */
static void f_f4(sqlite3_context *ctx, int n, sqlite3_value **v) {
  if (sqlite3_value_type(v[0]) == SQLITE_NULL) return;
  double x = sqlite3_value_double(v[0]), y = (float)x;
  if (isinf(y) && !isinf(x)) { fail(ctx, "22003 value out of range: overflow"); return; }
  if (y == 0 && x != 0) { fail(ctx, "22003 value out of range: underflow"); return; }
  sqlite3_result_double(ctx, y);
}

static void f_f8(sqlite3_context *ctx, int n, sqlite3_value **v) {
  if (sqlite3_value_type(v[0]) != SQLITE_NULL) sqlite3_result_double(ctx, sqlite3_value_double(v[0]));
}

static void ret(sqlite3_context *ctx, double r) {
  if (isnan(r)) fail(ctx, "22003 result is not a number (NaN cannot be held in a scalar)");
  else sqlite3_result_double(ctx, r);
}

/* rg_fadd, rg_fsub, rg_fmul, rg_fdiv(a, b): double precision arithmetic as Postgres checks it. */
static void fop(sqlite3_context *ctx, sqlite3_value **v, char op) {
  if (sqlite3_value_type(v[0]) == SQLITE_NULL || sqlite3_value_type(v[1]) == SQLITE_NULL) return;
  double a = sqlite3_value_double(v[0]), b = sqlite3_value_double(v[1]), r;
  if (op == '/' && b == 0) { fail(ctx, "22012 division by zero"); return; }
  r = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
  if (isinf(r) && !isinf(a) && !isinf(b)) { fail(ctx, "22003 value out of range: overflow"); return; }
  if (r == 0 && ((op == '*' && a != 0 && b != 0) || (op == '/' && a != 0 && !isinf(b)))) { fail(ctx, "22003 value out of range: underflow"); return; }
  ret(ctx, r);
}
static void f_fadd(sqlite3_context *c, int n, sqlite3_value **v) { fop(c, v, '+'); }
static void f_fsub(sqlite3_context *c, int n, sqlite3_value **v) { fop(c, v, '-'); }
static void f_fmul(sqlite3_context *c, int n, sqlite3_value **v) { fop(c, v, '*'); }
static void f_fdiv(sqlite3_context *c, int n, sqlite3_value **v) { fop(c, v, '/'); }

/* rg_idiv, rg_imod(a, b): truncating integer division and its remainder. */
static void idiv(sqlite3_context *ctx, sqlite3_value **v, int mod) {
  if (sqlite3_value_type(v[0]) == SQLITE_NULL || sqlite3_value_type(v[1]) == SQLITE_NULL) return;
  sqlite3_int64 a = sqlite3_value_int64(v[0]), b = sqlite3_value_int64(v[1]);
  if (b == 0) { fail(ctx, "22012 division by zero"); return; }
  if (b == -1) {
    if (!mod && a == INT64_MIN) { fail(ctx, "22003 bigint out of range"); return; }
    sqlite3_result_int64(ctx, mod ? 0 : -a);
    return;
  }
  sqlite3_result_int64(ctx, mod ? a % b : a / b);
}
static void f_idiv(sqlite3_context *c, int n, sqlite3_value **v) { idiv(c, v, 0); }
static void f_imod(sqlite3_context *c, int n, sqlite3_value **v) { idiv(c, v, 1); }

/* rg_ftoi(x, bytes): float to integer, halves to even. */
static void f_ftoi(sqlite3_context *ctx, int n, sqlite3_value **v) {
  if (sqlite3_value_type(v[0]) == SQLITE_NULL) return;
  double x = rint(sqlite3_value_double(v[0]));
  int size = (int)sqlite3_value_int64(v[1]);
  double lim = size == 8 ? 9223372036854775808.0 : size == 4 ? 2147483648.0 : 32768.0;
  if (!(x >= -lim && x < lim)) {
    fail(ctx, size == 8 ? "22003 bigint out of range" : size == 4 ? "22003 integer out of range" : "22003 smallint out of range");
    return;
  }
  sqlite3_result_int64(ctx, (sqlite3_int64)x);
}

/* rg_cell(chunk, i[, j[, k]]): one element of a stored chunk, subscripts from 1; NULL outside or for a
 * wrong number of subscripts, as in Postgres. */
static void f_elem(sqlite3_context *ctx, int n, sqlite3_value **v) {
  if (sqlite3_value_type(v[0]) != SQLITE_BLOB) return;
  const unsigned char *b = sqlite3_value_blob(v[0]);
  int64_t len = sqlite3_value_bytes(v[0]), at = 0;
  if (!b || len < 4 || b[2] != n - 1 || len < 4 + 4 * b[2]) return;
  for (int k = 1; k < n; k++) {
    uint32_t d;
    memcpy(&d, b + 4 * k, 4);
    if (sqlite3_value_type(v[k]) == SQLITE_NULL) return;
    sqlite3_int64 i = sqlite3_value_int64(v[k]);
    if (i < 1 || i > d) return;
    at = at * d + i - 1;
  }
  const unsigned char *p = b + 4 + 4 * b[2];
  double x;
  if (b[1]) { float f; memcpy(&f, p + 4 * at, 4); x = f; }
  else memcpy(&x, p + 8 * at, 8);
  ret(ctx, x);
}

/* rg_head(chunk): its header, which holds dtype and shape. */
static void f_head(sqlite3_context *ctx, int n, sqlite3_value **v) {
  if (sqlite3_value_type(v[0]) != SQLITE_BLOB) return;
  const unsigned char *b = sqlite3_value_blob(v[0]);
  int64_t len = sqlite3_value_bytes(v[0]);
  if (b && len >= 4 && len >= 4 + 4 * b[2]) sqlite3_result_blob64(ctx, b, 4 + 4 * b[2], SQLITE_TRANSIENT);
}

/* rg_fail(text): raises an error. */
static void f_fail(sqlite3_context *ctx, int n, sqlite3_value **v) { fail(ctx, (const char *)sqlite3_value_text(v[0])); }

/* rg_held(number): the bytes held by that number. They outlive the statement, so that SQLite need not copy them. */
static void f_held(sqlite3_context *ctx, int n, sqlite3_value **v) {
  const rg_held *h = sqlite3_user_data(ctx);
  if (sqlite3_value_type(v[0]) == SQLITE_NULL) return;
  int64_t i = sqlite3_value_int64(v[0]);
  if (i < 0 || i >= h->cap || !h->p[i]) fail(ctx, "XX000 internal error: nothing is held by this number");
  else sqlite3_result_blob64(ctx, h->p[i], h->n[i], SQLITE_STATIC);
}

/* rg_holds installs rg_held. */
int rg_holds(sqlite3 *db, rg_held *h) {
  return sqlite3_create_function_v2(db, "rg_held", 1, SQLITE_UTF8, h, f_held, 0, 0, 0);
}

/* rg_hold holds n bytes by a number, nothing where p is null. */
int rg_hold(rg_held *h, int64_t i, const char *p, int64_t n) {
  if (i >= h->cap) {
    int64_t cap = 2 * i + 64;
    const char **q = realloc(h->p, cap * sizeof *q);
    if (!q) return SQLITE_NOMEM;
    memset(q + h->cap, 0, (cap - h->cap) * sizeof *q);
    h->p = q;
    int64_t *m = realloc(h->n, cap * sizeof *m);
    if (!m) return SQLITE_NOMEM;
    h->n = m, h->cap = cap;
  }
  h->p[i] = p, h->n[i] = n;
  return SQLITE_OK;
}

int rg_cancelled(void *wait) { return __atomic_load_n(&((rg_wait *)wait)->interrupts, __ATOMIC_SEQ_CST) != 0; }
void rg_cancel(rg_wait *w, int by) { __atomic_add_fetch(&w->interrupts, by, __ATOMIC_SEQ_CST); }

/* SQLite's own handler looks for a lock each 100 ms after a while, and so never meets a writer that leaves the store
 * for less. This one looks each 2 ms. */
enum { POLL = 2 };
int rg_busy(void *wait, int n) {
  if ((int64_t)n * POLL >= ((rg_wait *)wait)->ms || rg_cancelled(wait)) return 0;
  nanosleep(&(struct timespec){0, POLL * 1000000}, 0);
  return 1;
}

/* rg_waits lets statements wait for a lock, and ends them, those too that have not begun, while the count of interrupts is not 0:
 * sqlite3_interrupt alone is forgotten where it comes between two of them. A statement of fewer steps than the handler is called
 * for ends anyway, ROLLBACK among them. */
int rg_waits(sqlite3 *db, rg_wait *w) {
  sqlite3_progress_handler(db, 1000, rg_cancelled, w);
  return sqlite3_busy_handler(db, rg_busy, w);
}

int rg_natives(sqlite3 *db) {
  static const struct { const char *name; int n; void (*f)(sqlite3_context *, int, sqlite3_value **); } t[] = {
    {"rg_int", 2, f_int}, {"rg_f4", 1, f_f4}, {"rg_f8", 1, f_f8}, {"rg_fadd", 2, f_fadd}, {"rg_fsub", 2, f_fsub},
    {"rg_fmul", 2, f_fmul}, {"rg_fdiv", 2, f_fdiv}, {"rg_idiv", 2, f_idiv}, {"rg_imod", 2, f_imod}, {"rg_ftoi", 2, f_ftoi},
    {"rg_elem", -1, f_elem}, {"rg_head", 1, f_head}, {"rg_fail", 1, f_fail}};
  int rc = SQLITE_OK;
  for (unsigned i = 0; i < sizeof t / sizeof *t && rc == SQLITE_OK; i++)
    rc = sqlite3_create_function_v2(db, t[i].name, t[i].n, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, 0, t[i].f, 0, 0, 0);
  return rc;
}
