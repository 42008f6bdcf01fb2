// The module, and what a session knows beside its tables.
#include "chunk.h"

PG_MODULE_MAGIC;

// The step and the seed of the gradient or training run that is under way in this backend; 0 outside.
static int64 current_step = 0;
static int64 current_seed = 0;

RG_FUNCTION(current_step)
{
	(void) fcinfo;
	PG_RETURN_INT64(current_step);
}

RG_FUNCTION(current_seed)
{
	(void) fcinfo;
	PG_RETURN_INT64(current_seed);
}
