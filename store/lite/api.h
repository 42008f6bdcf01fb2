/* The part of SQLite's C interface that package lite calls, declared by hand: the amalgamation is
 * compiled by github.com/mattn/go-sqlite3, which keeps its header to itself. The declarations are weak
 * so that cgo can link this package alone; the final link resolves them. The ABI is stable by SQLite's
 * promise (sqlite.org/lts.html). */
#ifndef RELGRAD_SQLITE_API_H
#define RELGRAD_SQLITE_API_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef long long sqlite3_int64;
typedef unsigned long long sqlite3_uint64;
typedef void (*sqlite3_destructor_type)(void *);

#define SQLITE_STATIC ((sqlite3_destructor_type)0)
#define SQLITE_TRANSIENT ((sqlite3_destructor_type)-1)
enum { SQLITE_OK = 0, SQLITE_ERROR = 1, SQLITE_BUSY = 5, SQLITE_NOMEM = 7, SQLITE_CONSTRAINT = 19, SQLITE_MISUSE = 21, SQLITE_ROW = 100, SQLITE_DONE = 101 };
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT = 2, SQLITE_TEXT = 3, SQLITE_BLOB = 4, SQLITE_NULL = 5 };
enum { SQLITE_OPEN_READONLY = 1, SQLITE_OPEN_READWRITE = 2, SQLITE_OPEN_CREATE = 4, SQLITE_OPEN_NOMUTEX = 0x8000 };
enum { SQLITE_UTF8 = 1, SQLITE_DETERMINISTIC = 0x800, SQLITE_INNOCUOUS = 0x200000, SQLITE_PREPARE_PERSISTENT = 1 };

typedef struct sqlite3_blob sqlite3_blob;

WEAK int sqlite3_blob_open(sqlite3 *, const char *, const char *, const char *, sqlite3_int64, int, sqlite3_blob **);
WEAK int sqlite3_blob_reopen(sqlite3_blob *, sqlite3_int64);
WEAK int sqlite3_blob_bytes(sqlite3_blob *);
WEAK int sqlite3_blob_read(sqlite3_blob *, void *, int, int);
WEAK int sqlite3_blob_close(sqlite3_blob *);
WEAK int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
WEAK int sqlite3_close_v2(sqlite3 *);
WEAK int sqlite3_db_release_memory(sqlite3 *);
WEAK int sqlite3_extended_result_codes(sqlite3 *, int);
WEAK int sqlite3_extended_errcode(sqlite3 *);
WEAK const char *sqlite3_errmsg(sqlite3 *);
WEAK const char *sqlite3_errstr(int);
WEAK int sqlite3_busy_handler(sqlite3 *, int (*)(void *, int), void *);
WEAK void sqlite3_interrupt(sqlite3 *);
WEAK void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
WEAK int sqlite3_get_autocommit(sqlite3 *);
WEAK int sqlite3_txn_state(sqlite3 *, const char *);
WEAK sqlite3_int64 sqlite3_changes64(sqlite3 *);
WEAK sqlite3_int64 sqlite3_last_insert_rowid(sqlite3 *);
WEAK int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
WEAK int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
WEAK int sqlite3_finalize(sqlite3_stmt *);
WEAK int sqlite3_step(sqlite3_stmt *);
WEAK int sqlite3_reset(sqlite3_stmt *);
WEAK int sqlite3_clear_bindings(sqlite3_stmt *);
WEAK int sqlite3_stmt_readonly(sqlite3_stmt *);
WEAK int sqlite3_stmt_busy(sqlite3_stmt *);
WEAK sqlite3 *sqlite3_db_handle(sqlite3_stmt *);
WEAK const char *sqlite3_column_name(sqlite3_stmt *, int);
WEAK int sqlite3_column_count(sqlite3_stmt *);
WEAK int sqlite3_column_type(sqlite3_stmt *, int);
WEAK sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int);
WEAK double sqlite3_column_double(sqlite3_stmt *, int);
WEAK const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
WEAK const void *sqlite3_column_blob(sqlite3_stmt *, int);
WEAK int sqlite3_column_bytes(sqlite3_stmt *, int);
WEAK int sqlite3_bind_parameter_count(sqlite3_stmt *);
WEAK int sqlite3_bind_null(sqlite3_stmt *, int);
WEAK int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
WEAK int sqlite3_bind_double(sqlite3_stmt *, int, double);
WEAK int sqlite3_bind_text64(sqlite3_stmt *, int, const char *, sqlite3_uint64, sqlite3_destructor_type, unsigned char);
WEAK int sqlite3_bind_blob64(sqlite3_stmt *, int, const void *, sqlite3_uint64, sqlite3_destructor_type);
WEAK int sqlite3_value_type(sqlite3_value *);
WEAK sqlite3_int64 sqlite3_value_int64(sqlite3_value *);
WEAK double sqlite3_value_double(sqlite3_value *);
WEAK const unsigned char *sqlite3_value_text(sqlite3_value *);
WEAK const void *sqlite3_value_blob(sqlite3_value *);
WEAK int sqlite3_value_bytes(sqlite3_value *);
WEAK sqlite3_value *sqlite3_value_dup(const sqlite3_value *);
WEAK void sqlite3_value_free(sqlite3_value *);
WEAK void sqlite3_result_null(sqlite3_context *);
WEAK void sqlite3_result_int64(sqlite3_context *, sqlite3_int64);
WEAK void sqlite3_result_double(sqlite3_context *, double);
WEAK void sqlite3_result_text64(sqlite3_context *, const char *, sqlite3_uint64, sqlite3_destructor_type, unsigned char);
WEAK void sqlite3_result_blob64(sqlite3_context *, const void *, sqlite3_uint64, sqlite3_destructor_type);
WEAK void sqlite3_result_value(sqlite3_context *, sqlite3_value *);
WEAK void sqlite3_result_error(sqlite3_context *, const char *, int);
WEAK void sqlite3_result_error_code(sqlite3_context *, int);
WEAK void *sqlite3_user_data(sqlite3_context *);
WEAK void *sqlite3_aggregate_context(sqlite3_context *, int);
WEAK int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *,
  void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *, int, sqlite3_value **),
  void (*)(sqlite3_context *), void (*)(void *));
WEAK int sqlite3_create_window_function(sqlite3 *, const char *, int, int, void *,
  void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *), void (*)(sqlite3_context *),
  void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(void *));
WEAK int sqlite3_create_collation_v2(sqlite3 *, const char *, int, void *,
  int (*)(void *, int, const void *, int, const void *), void (*)(void *));
WEAK void *sqlite3_malloc64(sqlite3_uint64);
WEAK void sqlite3_free(void *);

/* virtual tables */
typedef struct sqlite3_module sqlite3_module;
typedef struct { const sqlite3_module *pModule; int nRef; char *zErrMsg; } sqlite3_vtab;
typedef struct { sqlite3_vtab *pVtab; } sqlite3_vtab_cursor;
struct sqlite3_index_constraint { int iColumn; unsigned char op; unsigned char usable; int iTermOffset; };
struct sqlite3_index_orderby { int iColumn; unsigned char desc; };
struct sqlite3_index_constraint_usage { int argvIndex; unsigned char omit; };
typedef struct {
  int nConstraint;
  struct sqlite3_index_constraint *aConstraint;
  int nOrderBy;
  struct sqlite3_index_orderby *aOrderBy;
  struct sqlite3_index_constraint_usage *aConstraintUsage;
  int idxNum;
  char *idxStr;
  int needToFreeIdxStr;
  int orderByConsumed;
  double estimatedCost;
  sqlite3_int64 estimatedRows;
  int idxFlags;
  sqlite3_uint64 colUsed;
} sqlite3_index_info;
struct sqlite3_module {
  int iVersion;
  int (*xCreate)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*xConnect)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*xBestIndex)(sqlite3_vtab *, sqlite3_index_info *);
  int (*xDisconnect)(sqlite3_vtab *);
  int (*xDestroy)(sqlite3_vtab *);
  int (*xOpen)(sqlite3_vtab *, sqlite3_vtab_cursor **);
  int (*xClose)(sqlite3_vtab_cursor *);
  int (*xFilter)(sqlite3_vtab_cursor *, int, const char *, int, sqlite3_value **);
  int (*xNext)(sqlite3_vtab_cursor *);
  int (*xEof)(sqlite3_vtab_cursor *);
  int (*xColumn)(sqlite3_vtab_cursor *, sqlite3_context *, int);
  int (*xRowid)(sqlite3_vtab_cursor *, sqlite3_int64 *);
  void *unused[12]; /* xUpdate … xIntegrity: not offered */
};
WEAK int sqlite3_create_module_v2(sqlite3 *, const char *, const sqlite3_module *, void *, void (*)(void *));
WEAK int sqlite3_declare_vtab(sqlite3 *, const char *);
WEAK char *sqlite3_mprintf(const char *, ...);

/* lite.c */

/* A cell is one SQL value on its way between C and Go. kind is a SQLite type code; p and n hold the
 * bytes of TEXT and BLOB, owned by SQLite or by the arena. */
typedef struct { int64_t i; double d; void *p; int64_t n; int32_t kind; int32_t pad; } rg_cell;

/* An arena is C memory into which Go copies bytes that C code passes on. */
typedef struct { char *p; int64_t cap; } rg_arena;

/* rg_wait is how long a connection's statements wait for a lock, in ms, and the count of interrupts that ends it. */
typedef struct { int ms, interrupts; } rg_wait;

int rg_step(sqlite3_stmt *, rg_wait *, int n, uintptr_t out);
int rg_steps(sqlite3_stmt *, rg_wait *, int n, int most, uintptr_t out, int *got);
int rg_run(sqlite3_stmt *, rg_wait *, int n, const rg_cell *in, rg_arena *a);
int rg_bind(sqlite3_stmt *, int n, const rg_cell *in, rg_arena *a);
int rg_grow(rg_arena *, int64_t n);
int rg_create(sqlite3 *, const char *name, int nargs, int pure, int kind, int64_t id);
int rg_natives(sqlite3 *);

/* rg_held are bytes that statements refer to by number; they do not move while they are held. */
typedef struct { const char **p; int64_t *n; int64_t cap; } rg_held;
int rg_holds(sqlite3 *, rg_held *);
int rg_hold(rg_held *, int64_t i, const char *p, int64_t n);
int rg_cancelled(void *wait);
int rg_busy(void *wait, int n);
int rg_waits(sqlite3 *, rg_wait *);
void rg_cancel(rg_wait *, int by);
int rg_tables(sqlite3 *);
void rg_trim(void);
#endif
