// The module: its settings, and what a session knows beside its tables.
#include "chunk.h"
#include "engine.h"

#include <errno.h>
#include <limits.h>

#include "utils/guc.h"

PG_MODULE_MAGIC;

void _PG_init(void);

int rg_threads = 0;
int rg_memory = 0;
static int engine = 0;

// The step and the seed of the gradient or training run that is under way, as the engine sets them; "" outside. They are
// settings so that they go to parallel workers and end with the transaction.
static char *step = NULL;
static char *seed = NULL;
static bool forgotten = false; // what they say is of a request that has ended

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
	forgotten = false;
	return *text == NULL || **text == 0 || parse(*text, &x);
}

// rg_forget_step makes both 0 until they are set again. A procedure's commits let settings stay when it fails, and then
// none can be changed any more: the transaction that failed takes each change back.
void
rg_forget_step(void)
{
	forgotten = true;
}

void
_PG_init(void)
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

	if (!forgotten && text != NULL && *text != 0)
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
