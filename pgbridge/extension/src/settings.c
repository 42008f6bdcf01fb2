// Settings: relgrad's own, and those that an engine makes while it works on a request. None of these outlives the request,
// however it ends: they are made at a level of their own, as those of a function's SET clause. A level cannot span a
// commit, so a procedure that commits closes it before and makes the settings again behind it.
#include "chunk.h"
#include "engine.h"

#include <errno.h>
#include <limits.h>

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"

int rg_threads = 0;
int rg_memory = 0;
static int engine = 0;

// The step and the seed of the gradient or training run that is under way, as the engine sets them; "" outside.
static char *step = NULL;
static char *seed = NULL;

static const struct config_enum_entry engine_names[] = {{"auto", 0, false}, {"sql", 1, false}, {"chunk", 2, false}, {NULL, 0, false}};

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

void
rg_define_settings(void)
{
	DefineCustomEnumVariable("relgrad.engine", "How gradients are computed.", "auto chooses; sql: by the server, as a query; chunk: by the engine, on chunks.", &engine, 0,
							 engine_names, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.threads", "Threads of the engine.", "0: as many as there are processors.", &rg_threads, 0, 0, 1024, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("relgrad.memory", "Memory that the engine may use.", "0: no limit is given.", &rg_memory, 0, 0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL,
							NULL);
	DefineCustomStringVariable("relgrad.step", "The step of the call under way.", "Set by the engine.", &step, "", PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   check_number, NULL, NULL);
	DefineCustomStringVariable("relgrad.seed", "The seed of the call under way.", "Set by the engine.", &seed, "", PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   check_number, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("relgrad");
#else
	EmitWarningsOnPlaceholders("relgrad");
#endif
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

// rg_close_settings takes back what was set since the level was opened. It returns names and values, in turn, of what
// rg_make_settings can make again: what belongs to a transaction ends with it.
List *
rg_close_settings(int level)
{
	List *made = NIL;
	int n;
	struct config_generic **all = variables(&n);

	for (int i = 0; i < n; i++) {
		const GucStack *s = all[i]->stack;

		if (s != NULL && s->nest_level >= level && s->state == GUC_SET && strncmp(all[i]->name, "transaction_", 12) != 0)
			made = lappend(lappend(made, pstrdup(all[i]->name)), pstrdup(GetConfigOption(all[i]->name, false, false)));
	}
	AtEOXact_GUC(false, level);
	return made;
}

void
rg_make_settings(List *made)
{
	for (int i = 0; i + 1 < list_length(made); i += 2)
		(void) set_config_option(list_nth(made, i), list_nth(made, i + 1), superuser() ? PGC_SUSET : PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SET, true, 0, false);
}
