// The module.
#include "chunk.h"
#include "engine.h"

PG_MODULE_MAGIC;

void _PG_init(void);

void
_PG_init(void)
{
	rg_define_settings();
}
