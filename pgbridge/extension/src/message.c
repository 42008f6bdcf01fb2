// Errors and notices on their way between a backend and its engine.
#include "engine.h"

#include "mb/pg_wchar.h"

// The fields of an error from the engine or to it.
typedef struct Fields {
	char *code, *message, *detail, *hint, *context, *query, *position;
} Fields;

static void
put_field(RgEngine *e, char code, const char *value)
{
	rg_put_u8(e, code);
	rg_put_string(e, value);
}

// rg_send_error tells the engine that a statement has failed. The server's messages may be in its own language and
// encoding; the database's encoding is UTF8.
void
rg_send_error(RgEngine *e, const ErrorData *error, const char *sql)
{
	bool direct = error->internalquery != NULL && sql != NULL && strcmp(error->internalquery, sql) == 0;
	uint32 n = 2 + (error->detail != NULL) + (error->hint != NULL) + (error->context != NULL) +
		(error->internalpos > 0) + (error->internalpos > 0 && !direct && error->internalquery != NULL);

	rg_begin_frame(e, 'E');
	rg_put_u32(e, n);
	put_field(e, 'C', unpack_sql_state(error->sqlerrcode));
	put_field(e, 'M', error->message != NULL ? error->message : "");
	if (error->detail != NULL)
		put_field(e, 'D', error->detail);
	if (error->hint != NULL)
		put_field(e, 'H', error->hint);
	if (error->context != NULL)
		put_field(e, 'W', error->context);
	if (error->internalpos > 0) {
		put_field(e, 'p', psprintf("%d", error->internalpos));
		if (!direct && error->internalquery != NULL)
			put_field(e, 'q', error->internalquery);
	}
	rg_send_frame(e);
}

static Fields
get_fields(RgReader *r)
{
	Fields f = {0};
	uint32 n = rg_get_u32(r);

	for (uint32 i = 0; i < n; i++) {
		char code = rg_get_u8(r), *text = rg_get_string(r);

		switch (code) {
		case 'C': f.code = text; break;
		case 'M': f.message = text; break;
		case 'D': f.detail = text; break;
		case 'H': f.hint = text; break;
		case 'W': f.context = text; break;
		case 'q': f.query = text; break;
		case 'p': f.position = text; break;
		default:
			rg_fault(r->engine, "an error with a field %d", code);
		}
	}
	rg_get_end(r);
	if (f.message == NULL || f.code == NULL || strlen(f.code) != 5 ||
		strspn(f.code, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5 || strncmp(f.code, "00", 2) == 0)
		rg_fault(r->engine, "an error without a message or SQLSTATE");
	return f;
}

// readable replaces characters of an engine's message that the client's encoding may lack: the server would send an
// error about such a character in place of the message.
static char *
readable(char *text)
{
	static const char dots[] = "\xe2\x80\xa6"; // the only such character in our own texts
	char *at;

	if (pg_get_client_encoding() != PG_UTF8 && pg_get_client_encoding() != PG_SQL_ASCII)
		while ((at = strstr(text, dots)) != NULL)
			memcpy(at, "...", 3);
	return text;
}

// rg_raise raises the engine's error, which ends a request, as the error of the called function. After a system error
// (58000), such as that of a device, which does not work again in the same process, the next call starts another engine.
void
rg_raise(RgReader *r)
{
	Fields f = get_fields(r);
	const char *c = f.code;

	r->engine->busy = strcmp(c, "58000") == 0;
	ereport(ERROR, (errcode(MAKE_SQLSTATE(c[0], c[1], c[2], c[3], c[4])), errmsg_internal("%s", readable(f.message)),
					f.detail ? errdetail_internal("%s", readable(f.detail)) : 0,
					f.hint ? errhint("%s", readable(f.hint)) : 0,
					f.context ? errcontext_msg("%s", readable(f.context)) : 0,
					f.query ? internalerrquery(f.query) : 0,
					f.query && f.position ? internalerrposition(atoi(f.position)) : 0));
}

// rg_notice shows the user a message.
void
rg_notice(RgReader *r)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {{"DEBUG", DEBUG1}, {"LOG", LOG}, {"INFO", INFO}, {"NOTICE", NOTICE}, {"WARNING", WARNING}};
	char *level = rg_get_string(r), *message = rg_get_string(r), *detail = rg_get_string(r), *hint = rg_get_string(r);

	rg_get_end(r);
	for (size_t i = 0; i < lengthof(levels); i++)
		if (strcmp(level, levels[i].name) == 0) {
			ereport(levels[i].level, (errmsg_internal("%s", readable(message)),
									  *detail ? errdetail_internal("%s", readable(detail)) : 0,
									  *hint ? errhint("%s", readable(hint)) : 0));
			return;
		}
	rg_fault(r->engine, "a message of level %.20s", level);
}

// rg_own_context removes SPI's line from an error's context: it shows a statement of the engine, which the user has not
// written and which may be long.
void
rg_own_context(ErrorData *error, const char *sql)
{
	char *line = psprintf("SQL statement \"%s\"", sql);
	char *at = error->context == NULL ? NULL : strstr(error->context, line);
	char *end = at == NULL ? NULL : at + strlen(line);

	if (at == NULL)
		return;
	if (*end == '\n')
		end++;
	else if (at > error->context)
		at--; // also the line break before it
	memmove(at, end, strlen(end) + 1);
	if (*error->context == 0)
		error->context = NULL;
}
