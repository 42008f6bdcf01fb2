// The state of the catalogues as far as it concerns names and definitions. An engine keeps what it has read of them
// while the state stays the same.
#include "engine.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/syscache.h"

static uint64 changes;

static void
relation_changed(Datum arg, Oid relation)
{
	(void) arg;
	(void) relation;
	changes++;
}

static void
row_changed(Datum arg, int cache, uint32 hash)
{
	(void) arg;
	(void) cache;
	(void) hash;
	changes++;
}

// rg_catalog_state returns a text that differs from an earlier one if a definition, a name, a right of this user or the
// search path may have changed in between.
char *
rg_catalog_state(void)
{
	static bool watching;

	if (!watching) {
		static const int caches[] = {PROCOID, OPEROID, NAMESPACEOID, TYPEOID, AUTHOID, CASTSOURCETARGET, AMPROCNUM,
									 AMOPOPID};

		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		for (int i = 0; i < (int) lengthof(caches); i++)
			CacheRegisterSyscacheCallback(caches[i], row_changed, (Datum) 0);
		watching = true;
	}
	AcceptInvalidationMessages();
	return psprintf("%llu %u %s", (unsigned long long) changes, GetUserId(), namespace_search_path);
}
