// The module, and its settings: relgrad's own, and those that an engine makes during a request. The latter end with the
// request, however that ends: they have a nesting level of their own, like those of a function's SET clause. A level
// cannot span a commit, so a procedure that commits closes the level before and makes the settings again after it.
#include "chunk.h"
#include "engine.h"

#include <errno.h>
#include <limits.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"

static int rg_threads = 0;
static int rg_memory = 0;
static int rg_sites = 1;
static int rg_server_timeout = 60000;
static char *rg_server_limits = NULL;
static bool rg_strict = false;
static char *rg_device = NULL;
static int rg_max_threads = 0;
static int rg_max_memory = 0;
static int rg_max_spill = -1;
static int engine = 0;

// The step and the seed of the running gradient or training, set by the engine; "" outside of that.
static char *step = NULL;
static char *epoch = NULL;
static char *seed = NULL;

static const struct config_enum_entry engine_names[] = {{"auto", 0, false}, {"sql", 1, false}, {"chunk", 2, false},
														{NULL, 0, false}};

const char *
rg_engine_name(void)
{
	return engine_names[engine].name;
}

static bool
parse(const char *text, int64 *x)
{
	char *end;

	errno = 0;
	*x = strtoll(text, &end, 10);
	return errno == 0 && *end == 0 && end != text;
}

static bool
check_number(char **text, void **extra, GucSource source)
{
	int64 x;

	(void) extra;
	(void) source;
	return *text == NULL || **text == 0 || parse(*text, &x);
}

// check_device takes cpu, auto, cuda, and cuda: with a number.
static bool
check_device(char **text, void **extra, GucSource source)
{
	int64 n;

	(void) extra;
	(void) source;
	if (*text == NULL || strcmp(*text, "cpu") == 0 || strcmp(*text, "auto") == 0 || strcmp(*text, "cuda") == 0 ||
		(strncmp(*text, "cuda:", 5) == 0 && parse(*text + 5, &n) && n >= 0 && n < 1000))
		return true;
	GUC_check_errhint("A loss runs on cpu, or on a graphics processor: cuda, cuda:1; auto chooses.");
	return false;
}

void
rg_define_settings(void)
{
	DefineCustomEnumVariable("relgrad.engine", "How gradients are computed.",
							 "auto chooses; sql: by the server, as a query; chunk: by the engine, on chunks.", &engine,
							 0, engine_names, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.threads", "Threads of the engine.", "0: as many as there are processors.",
							&rg_threads, 0, 0, 1024, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.memory", "Memory that the engine may use.", "0: no limit is given.", &rg_memory, 0,
							0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.sites", "Sites of the engine at which a loss runs.",
							"1: at one, which holds all.", &rg_sites, 1, 1, 64, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.server_timeout", "How long another server may take to answer.",
							"0: without end. One that still computes answers that it does.", &rg_server_timeout, 60000,
							0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomStringVariable("relgrad.server_limits", "What other servers and the network to them are taken to do.",
							   "JSON, as relgrad explain --limits reads it. Plans of losses that read their tables are made "
							   "for it.", &rg_server_limits, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("relgrad.strict", "Refuses losses of which a table at other servers would be read here.",
							 "off: a notice says which, and why.", &rg_strict, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("relgrad.device", "Where the engine runs losses.",
							   "cpu, or a graphics processor: cuda, cuda:1; auto chooses. Superusers set it.",
							   &rg_device, "cpu", PGC_SUSET, 0, check_device, NULL, NULL);
	DefineCustomIntVariable("relgrad.max_threads", "Threads of the engine that a session may take.",
							"0: no limit. Superusers set it.", &rg_max_threads, 0, 0, 1024, PGC_SUSET, 0, NULL,
							NULL, NULL);
	DefineCustomIntVariable("relgrad.max_memory", "Memory of the engine that a session may take.",
							"0: no limit. Superusers set it.", &rg_max_memory, 0, 0, MAX_KILOBYTES, PGC_SUSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.max_spill", "Temporary files of the engine that a session may take.",
							"-1: no limit but temp_file_limit. Superusers set it.", &rg_max_spill, -1,
							-1, MAX_KILOBYTES, PGC_SUSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomStringVariable("relgrad.step", "The step of the call under way.", "Set by the engine.", &step, "",
							   PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, check_number, NULL, NULL);
	DefineCustomStringVariable("relgrad.epoch", "The epoch of the call under way.", "Set by the engine.", &epoch, "",
							   PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, check_number, NULL, NULL);
	DefineCustomStringVariable("relgrad.seed", "The seed of the call under way.", "Set by the engine.", &seed, "",
							   PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, check_number, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("relgrad");
#else
	EmitWarningsOnPlaceholders("relgrad");
#endif
}

// least is the smaller of what a session asks for and what it may have. 0 means no limit.
static int
least(int asked, int most)
{
	return most == 0 || (asked != 0 && asked < most) ? asked : most;
}

int
rg_threads_allowed(void)
{
	return least(rg_threads, rg_max_threads);
}

int
rg_sites_wanted(void)
{
	return rg_sites;
}

const char *
rg_device_name(void)
{
	return rg_device;
}

// rg_memory_allowed is in bytes.
int64
rg_memory_allowed(void)
{
	return (int64) least(rg_memory, rg_max_memory) * 1024;
}

// rg_spill_limit is the most bytes that the engine's temporary files may have, which is the limit of the session's own;
// -1: no limit.
int64
rg_spill_limit(void)
{
	int kb = rg_max_spill;

	if (temp_file_limit >= 0 && (kb < 0 || temp_file_limit < kb))
		kb = temp_file_limit;
	return kb < 0 ? -1 : (int64) kb * 1024;
}

// rg_spill_dir is the folder for temporary files: that of the session's next temporary tablespace.
char *
rg_spill_dir(void)
{
	char dir[MAXPGPATH];
	Oid space;

	if (!IsTransactionState() || RecoveryInProgress())
		return "";
	PrepareTempTablespaces();
	space = GetNextTempTableSpace();
	TempTablespacePath(dir, OidIsValid(space) ? space : MyDatabaseTableSpace);
	if (MakePGDirectory(dir) != 0 && errno != EEXIST)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not create the folder of temporary files \"%s\": %m", dir)));
	return psprintf("%s/%s", DataDir, dir);
}

static int64
number(const char *text)
{
	int64 x = 0;

	if (text != NULL && *text != 0)
		(void) parse(text, &x);
	return x;
}

RG_FUNCTION(current_step)
{
	(void) fcinfo;
	PG_RETURN_INT64(number(step));
}

RG_FUNCTION(current_epoch)
{
	(void) fcinfo;
	PG_RETURN_INT64(number(epoch));
}

RG_FUNCTION(current_seed)
{
	(void) fcinfo;
	PG_RETURN_INT64(number(seed));
}

static struct config_generic **
variables(int *n)
{
#if PG_VERSION_NUM >= 160000
	return get_guc_variables(n);
#else
	*n = GetNumConfigOptions();
	return get_guc_variables();
#endif
}

int
rg_open_settings(void)
{
	return NewGUCNestLevel();
}

// rg_close_settings undoes the settings of a level. It returns, as names and values in turn, those that
// rg_make_settings can make again: settings of the transaction itself (transaction_…) end with it.
List *
rg_close_settings(int level)
{
	List *made = NIL;
	int n;
	struct config_generic **all = variables(&n);

	for (int i = 0; i < n; i++) {
		const GucStack *s = all[i]->stack;

		if (s != NULL && s->nest_level >= level && s->state == GUC_SET &&
			strncmp(all[i]->name, "transaction_", 12) != 0)
			made = lappend(lappend(made, pstrdup(all[i]->name)), pstrdup(GetConfigOption(all[i]->name, false, false)));
	}
	AtEOXact_GUC(false, level);
	return made;
}

void
rg_make_settings(List *made)
{
	for (int i = 0; i + 1 < list_length(made); i += 2)
		(void) set_config_option(list_nth(made, i), list_nth(made, i + 1), superuser() ? PGC_SUSET : PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);
}

PG_MODULE_MAGIC;

void _PG_init(void);

void
_PG_init(void)
{
	rg_define_settings();
}
