/* Table-valued functions: rg_series(lo, hi, step) of integers, rg_unnest(chunk) of the elements of a stored
 * chunk in row-major order, rg_once(x) of the one value x. They have the columns value and ord (from 1) and
 * hidden arguments. */
#include "api.h"
#include <math.h>

enum kind { SERIES, UNNEST, ONCE };
typedef struct { sqlite3_vtab base; enum kind kind; } table;
typedef struct {
  sqlite3_vtab_cursor base;
  enum kind kind;
  int dtype;
  sqlite3_int64 lo, step, n, at;
  sqlite3_value *chunk;
  const unsigned char *data;
} cursor;

static int t_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **err) {
  enum kind kind = (enum kind)(intptr_t)aux;
  int rc = sqlite3_declare_vtab(db, kind == SERIES ? "CREATE TABLE x(value INTEGER, ord INTEGER, lo HIDDEN, hi HIDDEN, step HIDDEN)"
                                                   : "CREATE TABLE x(value, ord INTEGER, arg HIDDEN)");
  if (rc != SQLITE_OK) return rc;
  table *t = calloc(1, sizeof *t);
  if (!t) return SQLITE_NOMEM;
  t->kind = kind;
  *out = &t->base;
  return SQLITE_OK;
}

static int t_disconnect(sqlite3_vtab *t) { free(t); return SQLITE_OK; }

static int t_open(sqlite3_vtab *t, sqlite3_vtab_cursor **out) {
  cursor *c = calloc(1, sizeof *c);
  if (!c) return SQLITE_NOMEM;
  c->kind = ((table *)t)->kind;
  *out = &c->base;
  return SQLITE_OK;
}

static int t_close(sqlite3_vtab_cursor *p) {
  cursor *c = (cursor *)p;
  sqlite3_value_free(c->chunk);
  free(c);
  return SQLITE_OK;
}

/* All arguments must be given: without them the plan is refused, so that SQLite picks another order. */
static int t_best(sqlite3_vtab *t, sqlite3_index_info *x) {
  int want = ((table *)t)->kind == SERIES ? 3 : 1, seen = 0;
  for (int i = 0; i < x->nConstraint; i++) {
    int k = x->aConstraint[i].iColumn - 2;
    if (k < 0 || x->aConstraint[i].op != 2) continue;
    if (!x->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    if (seen & 1 << k) continue;
    seen |= 1 << k;
    x->aConstraintUsage[i].argvIndex = k + 1;
    x->aConstraintUsage[i].omit = 1;
  }
  if (seen != (1 << want) - 1) return SQLITE_CONSTRAINT;
  x->estimatedCost = 1000, x->estimatedRows = 1000;
  return SQLITE_OK;
}

static int t_filter(sqlite3_vtab_cursor *p, int num, const char *str, int argc, sqlite3_value **v) {
  cursor *c = (cursor *)p;
  c->at = c->n = 0;
  sqlite3_value_free(c->chunk);
  c->chunk = 0;
  if (c->kind == ONCE) {
    if (!(c->chunk = sqlite3_value_dup(v[0]))) return SQLITE_NOMEM;
    c->n = 1;
    return SQLITE_OK;
  }
  if (c->kind == UNNEST) {
    if (sqlite3_value_type(v[0]) != SQLITE_BLOB) return SQLITE_OK;
    if (!(c->chunk = sqlite3_value_dup(v[0]))) return SQLITE_NOMEM;
    const unsigned char *b = sqlite3_value_blob(c->chunk);
    int64_t len = sqlite3_value_bytes(c->chunk);
    if (!b || len < 4 || len < 4 + 4 * b[2]) return SQLITE_OK;
    c->dtype = b[1];
    c->data = b + 4 + 4 * b[2];
    c->n = (len - 4 - 4 * b[2]) / (b[1] ? 4 : 8);
    return SQLITE_OK;
  }
  for (int i = 0; i < 3; i++)
    if (sqlite3_value_type(v[i]) == SQLITE_NULL) return SQLITE_OK;
  sqlite3_int64 lo = sqlite3_value_int64(v[0]), hi = sqlite3_value_int64(v[1]), step = sqlite3_value_int64(v[2]);
  if (step == 0) {
    p->pVtab->zErrMsg = sqlite3_mprintf("%s", "22023 step size cannot equal zero");
    return SQLITE_ERROR;
  }
  c->lo = lo, c->step = step;
  if (step > 0 ? lo <= hi : lo >= hi) {
    sqlite3_uint64 span = step > 0 ? (sqlite3_uint64)hi - lo : (sqlite3_uint64)lo - hi;
    sqlite3_uint64 by = step > 0 ? (sqlite3_uint64)step : -(sqlite3_uint64)step;
    c->n = (sqlite3_int64)(span / by) + 1;
    if (c->n < 0) c->n = INT64_MAX;
  }
  return SQLITE_OK;
}

static int t_next(sqlite3_vtab_cursor *p) { ((cursor *)p)->at++; return SQLITE_OK; }
static int t_eof(sqlite3_vtab_cursor *p) { return ((cursor *)p)->at >= ((cursor *)p)->n; }
static int t_rowid(sqlite3_vtab_cursor *p, sqlite3_int64 *r) { *r = ((cursor *)p)->at + 1; return SQLITE_OK; }

static int t_column(sqlite3_vtab_cursor *p, sqlite3_context *ctx, int i) {
  cursor *c = (cursor *)p;
  if (i == 1) sqlite3_result_int64(ctx, c->at + 1);
  else if (i == 0 && c->kind == SERIES) sqlite3_result_int64(ctx, c->lo + c->at * c->step);
  else if (i == 0 && c->kind == ONCE) sqlite3_result_value(ctx, c->chunk);
  else if (i == 0) {
    double x;
    if (c->dtype) { float f; memcpy(&f, c->data + 4 * c->at, 4); x = f; }
    else memcpy(&x, c->data + 8 * c->at, 8);
    if (isnan(x)) sqlite3_result_error(ctx, "22003 result is not a number (NaN cannot be held in a scalar)", -1);
    else sqlite3_result_double(ctx, x);
  }
  return SQLITE_OK;
}

static const sqlite3_module module = {
  .xConnect = t_connect, .xBestIndex = t_best, .xDisconnect = t_disconnect, .xOpen = t_open, .xClose = t_close,
  .xFilter = t_filter, .xNext = t_next, .xEof = t_eof, .xColumn = t_column, .xRowid = t_rowid,
};

int rg_tables(sqlite3 *db) {
  static const char *names[] = {"rg_series", "rg_unnest", "rg_once"};
  int rc = SQLITE_OK;
  for (intptr_t k = 0; k < 3 && rc == SQLITE_OK; k++) rc = sqlite3_create_module_v2(db, names[k], &module, (void *)k, 0);
  return rc;
}
