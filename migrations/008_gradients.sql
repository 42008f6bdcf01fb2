-- Gradients that the command relgrad has compiled to SQL, and the functions that run them.
SET search_path = pg_catalog;

-- One row for a loss and a parameter. definitions are what the texts were made from: an object for each relation, function and
-- sub-query, with what impl_describe said of it. Rows are read by their owner, and everybody reads those of the owner of this
-- table: a text is run with the rights of whoever calls.
CREATE TABLE relgrad.compiled (
  loss text NOT NULL,         -- schema.name of a view, or a query
  param regclass NOT NULL,
  "column" text NOT NULL DEFAULT '', -- of the parameter; '' for all
  path text NOT NULL,         -- the search path under which the texts run
  draws boolean NOT NULL,     -- the loss needs a step
  value text NOT NULL,        -- the query of the loss
  gradient text NOT NULL,     -- the query of the gradient, with the columns of the parameter's table
  definitions jsonb NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  owner name NOT NULL DEFAULT current_user,
  PRIMARY KEY (owner, loss, param, "column"));
ALTER TABLE relgrad.compiled ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON relgrad.compiled USING (owner = current_user) WITH CHECK (owner = current_user);
CREATE POLICY installed ON relgrad.compiled FOR SELECT USING (owner = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'relgrad.compiled'::regclass));
GRANT SELECT, INSERT, UPDATE, DELETE ON relgrad.compiled TO PUBLIC;

-- Names and types of the columns of a table, as CREATE TABLE takes them.
CREATE FUNCTION relgrad.impl_columns(relation regclass) RETURNS text LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog AS $$
BEGIN
  RETURN (SELECT string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped);
END $$;

-- The columns that tell a table's rows apart, quoted; NULL where there are none.
CREATE FUNCTION relgrad.impl_key(relation regclass) RETURNS text LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog AS $$
BEGIN
  RETURN (SELECT (SELECT string_agg(quote_ident(attname), ', ' ORDER BY n) FROM unnest(indkey::int2[]) WITH ORDINALITY AS k(att, n)
      JOIN pg_attribute ON attrelid = indrelid AND attnum = att WHERE n <= indnkeyatts)
    FROM pg_index WHERE indrelid = relation AND indisunique AND indisvalid AND indpred IS NULL AND indexprs IS NULL
      AND NOT EXISTS (SELECT FROM unnest(indkey::int2[]) AS k(att) JOIN pg_attribute ON attrelid = indrelid AND attnum = att WHERE NOT attnotnull)
    ORDER BY indisprimary DESC, indexrelid LIMIT 1);
END $$;

-- Runs a query of one value under a search path. Its names are qualified, since the path is the caller's.
CREATE FUNCTION relgrad.impl_run(query text, path text) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
  before pg_catalog.text := pg_catalog.current_setting('search_path');
  result pg_catalog.jsonb;
BEGIN
  PERFORM pg_catalog.set_config('search_path', path, TRUE);
  EXECUTE query INTO result;
  PERFORM pg_catalog.set_config('search_path', before, TRUE);
  RETURN result;
END $$;

-- What texts depend on in the rows of a query: for each column whether it holds NULL, and the shapes of arrays; in single whether
-- there is just one row. arrays says which columns are.
CREATE FUNCTION relgrad.impl_facts(query text, path text, names text[], arrays boolean[], single boolean) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog AS $$
DECLARE facts jsonb;
BEGIN
  facts := relgrad.impl_run(format('SELECT pg_catalog.jsonb_build_object(''rows'', pg_catalog.count(*)%s) FROM (%s) AS q%s',
      (SELECT string_agg(format(', %L, pg_catalog.jsonb_build_array(coalesce(pg_catalog.bool_or(c%s IS NULL), FALSE)%s)', 'column ' || name, i,
          CASE WHEN is_array THEN format(', pg_catalog.array_agg(DISTINCT pg_catalog.array_dims(c%s)) FILTER (WHERE c%s IS NOT NULL)', i, i) ELSE '' END), '' ORDER BY i)
        FROM unnest(names, arrays) WITH ORDINALITY AS t(name, is_array, i)),
      query, (SELECT '(' || string_agg('c' || i, ', ' ORDER BY i) || ')' FROM generate_series(1, cardinality(names)) AS i)), path);
  IF single THEN
    RETURN facts - 'rows' || jsonb_build_object('one row', facts -> 'rows' = '1');
  END IF;
  RETURN facts - 'rows';
END $$;

-- What a text depends on in a relation, a function, a setting (by their names), a sub-query or one that stands for a value; NULL
-- where it is not there.
CREATE FUNCTION relgrad.impl_describe(kind text, name text, path text, names text[], arrays boolean[]) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog AS $$
DECLARE rel regclass;
BEGIN
  IF kind = 'query' THEN
    RETURN relgrad.impl_facts(name, path, names, arrays, FALSE);
  ELSIF kind = 'scalar' THEN
    RETURN relgrad.impl_facts(name, path, names, arrays, TRUE);
  ELSIF kind = 'setting' THEN
    RETURN jsonb_build_object('value', current_setting(name, TRUE));
  ELSIF kind = 'function' THEN
    RETURN (SELECT jsonb_build_object('definition', md5(string_agg(pg_get_functiondef(p.oid), '' ORDER BY p.oid))) FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
      WHERE ARRAY[nspname::text, proname::text] = parse_ident(impl_describe.name) AND prokind = 'f' HAVING count(*) > 0);
  END IF;
  rel := to_regclass(name);
  IF rel IS NULL THEN
    RETURN NULL;
  ELSIF (SELECT relkind = 'v' FROM pg_class WHERE oid = rel) THEN
    RETURN jsonb_build_object('definition', md5(pg_get_viewdef(rel)));
  END IF;
  SELECT array_agg(attname::text ORDER BY attnum), array_agg(typcategory = 'A' ORDER BY attnum) INTO names, arrays
    FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE attrelid = rel AND attnum > 0 AND NOT attisdropped;
  RETURN jsonb_build_object('list of columns', relgrad.impl_columns(rel), 'key', relgrad.impl_key(rel))
    || relgrad.impl_facts(format('TABLE %s', rel), path, names, arrays, relgrad.impl_key(rel) IS NULL);
END $$;

-- What has changed since a text was made; NULL for nothing.
CREATE FUNCTION relgrad.impl_changed(definitions jsonb, path text) RETURNS text LANGUAGE plpgsql STABLE STRICT
SET search_path = pg_catalog AS $$
DECLARE
  d jsonb;
  now jsonb;
  aspect text;
BEGIN
  FOR d IN SELECT jsonb_array_elements(definitions) LOOP
    IF d ->> 'kind' = 'relation' AND to_regclass(d ->> 'name')::oid::text IS DISTINCT FROM d ->> 'oid' THEN
      RETURN format('%s is not there any more, or is another relation.', d ->> 'name');
    END IF;
    now := relgrad.impl_describe(d ->> 'kind', d ->> 'name', path, ARRAY(SELECT jsonb_array_elements_text(d -> 'names')), ARRAY(SELECT jsonb_array_elements_text(d -> 'arrays')::boolean));
    SELECT k INTO aspect FROM jsonb_object_keys((d -> 'was') || coalesce(now, '{}')) AS k
      WHERE d -> 'was' -> k IS DISTINCT FROM now -> k
        AND NOT (k LIKE 'column %' AND (now -> k ->> 0)::boolean <= (d -> 'was' -> k ->> 0)::boolean -- a text for NULL is one without
          AND (now -> k -> 1 IS NOT DISTINCT FROM d -> 'was' -> k -> 1 OR now -> k -> 1 = 'null')) -- no rows have no shape
      ORDER BY k LIMIT 1;
    IF aspect = 'definition' THEN
      RETURN format('The definition of %s has changed.', d ->> 'name');
    ELSIF aspect IS NOT NULL THEN
      RETURN format('Of %s: %s; it was %s and is %s.', d ->> 'name', aspect, coalesce(d -> 'was' -> aspect, 'null'), coalesce(now -> aspect, 'null'));
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

-- How a loss is kept: the qualified name of a view (NULL where there is none of that name), or the query.
CREATE FUNCTION relgrad.impl_loss(loss text) RETURNS text LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE view pg_catalog.oid;
BEGIN
  IF pg_catalog.regexp_match(loss, '[ (\n]') IS NOT NULL THEN -- no name
    RETURN loss;
  END IF;
  view := pg_catalog.to_regclass(loss);
  RETURN (SELECT pg_catalog.format('%I.%I', nspname, relname) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) relnamespace WHERE c.oid OPERATOR(pg_catalog.=) view);
END $$;

-- The texts for a loss and a parameter, if they still hold. It sees the caller's search path.
CREATE FUNCTION relgrad.impl_compiled(loss text, param regclass, "column" text, step bigint) RETURNS relgrad.compiled LANGUAGE plpgsql STABLE AS $$
DECLARE kept pg_catalog.text := relgrad.impl_loss(loss);
BEGIN
  IF kept IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_table', MESSAGE = pg_catalog.format('relation "%s" does not exist', loss), HINT = 'A loss is the name of a view, or the text of a query.';
  END IF;
  RETURN relgrad.impl_find(loss, kept, param, "column", step, pg_catalog.current_setting('search_path'));
END $$;

-- The compiled gradient that a call runs, or the error that says why there is none.
CREATE FUNCTION relgrad.impl_find(loss text, kept text, param regclass, "column" text, step bigint, path text) RETURNS relgrad.compiled LANGUAGE plpgsql STABLE
SET search_path = pg_catalog AS $$
DECLARE
  c relgrad.compiled;
  secured text;
  changed text;
  name text := param || CASE WHEN "column" = '' THEN '' ELSE '.' || quote_ident("column") END;
  command text := format('Run relgrad pg compile --db DSN ''%s'' %s', replace(loss, '''', '''\'''''),
    CASE WHEN name ~ '[^[:alnum:]_.]' THEN '''' || replace(name, '''', '''\''''') || '''' ELSE name END); -- for a shell
BEGIN
  SELECT * INTO c FROM relgrad.compiled t WHERE t.loss = kept AND t.param = impl_find.param AND t."column" = impl_find."column"
    AND owner IN (current_user, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'relgrad.compiled'::regclass)) -- who sees all rows does not run all
    ORDER BY owner = current_user DESC LIMIT 1;
  IF c IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE = format('the gradient of this loss with respect to %s is not compiled', name),
      DETAIL = 'On this server relgrad is SQL and PL/pgSQL only; its command makes gradients.', HINT = command || '.';
  END IF;
  -- Through a view rows are those that its owner sees; the text reads the tables as the caller. Compilation looks at that.
  secured := (SELECT d ->> 'name' FROM jsonb_array_elements(c.definitions) AS d WHERE c.owner <> current_user AND d ->> 'kind' = 'relation'
    AND row_security_active(to_regclass(d ->> 'name')) LIMIT 1);
  IF secured IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('the gradient of this loss with respect to %s was compiled by %s', name, c.owner),
      DETAIL = format('%s has row-level security, which shows you other rows.', secured), HINT = command || ' as the user who calls.';
  END IF;
  changed := relgrad.impl_changed(c.definitions, c.path);
  IF changed IS NULL AND c.loss ~ '[ (\n]' AND c.path <> path THEN
    changed := format('The search path was %s and is %s.', c.path, path);
  END IF;
  IF changed IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE = format('the compiled gradient of this loss with respect to %s is stale', name),
      DETAIL = changed, HINT = command || '.';
  ELSIF c.draws AND step IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'the loss draws (dropout or current_step()), so it needs a step',
      HINT = 'Add step => 1; the same step and seed give the same draw.';
  END IF;
  RETURN c;
END $$;

-- Sets what the texts read: search path, step, epoch (the step) and seed, until the end of the transaction; returns what was set before.
CREATE FUNCTION relgrad.impl_settings(path text, step text, seed text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE before pg_catalog.text[] := ARRAY[pg_catalog.current_setting('search_path'), pg_catalog.current_setting('relgrad.step', TRUE), pg_catalog.current_setting('relgrad.seed', TRUE)];
BEGIN
  PERFORM pg_catalog.set_config('search_path', path, TRUE), pg_catalog.set_config('relgrad.step', step, TRUE), pg_catalog.set_config('relgrad.epoch', step, TRUE), pg_catalog.set_config('relgrad.seed', seed, TRUE);
  RETURN before;
END $$;

-- The loss, which must be a finite number: the gradient of another would mean nothing. It runs under the settings of its text.
CREATE FUNCTION relgrad.impl_value(query text) RETURNS double precision LANGUAGE plpgsql STABLE AS $$
DECLARE x pg_catalog.float8;
BEGIN
  EXECUTE query INTO STRICT x;
  IF x IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'the loss is NULL', DETAIL = 'Aggregates of no rows, or of NULL only, are NULL.',
      HINT = 'Check that the joins of the loss find partners, or use coalesce(…, 0).';
  ELSIF pg_catalog.abs(x) OPERATOR(pg_catalog.>=) 'Infinity' THEN
    RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range', MESSAGE = pg_catalog.format('the loss is %s', x),
      HINT = 'A guard in the loss may help, e.g. CASE WHEN x > 0 THEN ln(x) ELSE 0 END.';
  END IF;
  RETURN x;
END $$;

-- SELECT * FROM gradient('loss', NULL::w): rows of w with the gradient in the value columns.
CREATE FUNCTION relgrad.gradient(loss text, param anyelement, step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE PARALLEL UNSAFE COST 100000 ROWS 1000 AS $$
DECLARE
  w pg_catalog.oid := (SELECT c.oid FROM pg_catalog.pg_type t JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) typrelid
    WHERE t.oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof(param)::pg_catalog.oid AND relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p', 'f']::pg_catalog."char"[]));
  c relgrad.compiled;
  before pg_catalog.text[];
BEGIN
  IF w IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch', MESSAGE = pg_catalog.format('gradient needs a table, not a value of type %s', pg_catalog.pg_typeof(param)),
      HINT = 'Name the table w by a NULL of its row type: gradient(''loss'', NULL::w).';
  ELSIF loss IS NULL OR seed IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'gradient needs a loss and a seed, not NULL';
  END IF;
  before := relgrad.impl_settings(pg_catalog.current_setting('search_path'), coalesce(step, 0)::pg_catalog.text, seed::pg_catalog.text);
  c := relgrad.impl_compiled(loss, w, '', step);
  PERFORM pg_catalog.set_config('search_path', c.path, TRUE);
  PERFORM relgrad.impl_value(c.value);
  RETURN QUERY EXECUTE c.gradient;
  PERFORM relgrad.impl_settings(before[1], before[2], before[3]);
END $$;

-- A parameter's name, w or w.v, as the table and the column, '' for all columns.
CREATE FUNCTION relgrad.impl_param(name text, OUT w regclass, OUT "column" text) LANGUAGE plpgsql STABLE AS $$
DECLARE parts pg_catalog.text[] := pg_catalog.parse_ident(name);
BEGIN
  "column" := '';
  w := pg_catalog.to_regclass(name);
  IF w IS NULL AND pg_catalog.cardinality(parts) OPERATOR(pg_catalog.>) 1 THEN
    "column" := parts[pg_catalog.cardinality(parts)];
    w := pg_catalog.to_regclass((SELECT pg_catalog.string_agg(pg_catalog.quote_ident(n), '.' ORDER BY i)
      FROM pg_catalog.unnest(parts[:pg_catalog.cardinality(parts) OPERATOR(pg_catalog.-) 1]) WITH ORDINALITY AS t(n, i)));
  END IF;
  IF w IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'undefined_table', MESSAGE = pg_catalog.format('relation "%s" does not exist', name);
  END IF;
END $$;

-- SELECT backward('loss', ARRAY['w1', 'w2.v']): the loss; fills the temporary tables w1_grad and w2_grad.
CREATE FUNCTION relgrad.backward(loss text, params text[], step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS double precision
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000 AS $$
DECLARE
  p pg_catalog.record;
  param pg_catalog.text;
  name pg_catalog.text;
  filled pg_catalog.text[] := '{}';
  c relgrad.compiled;
  before pg_catalog.text[];
  x pg_catalog.float8;
BEGIN
  IF loss IS NULL OR seed IS NULL OR (pg_catalog.cardinality(params) OPERATOR(pg_catalog.>) 0) IS NOT TRUE OR pg_catalog.array_position(params, NULL) IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = 'backward needs a loss, its parameters and a seed', HINT = 'SELECT backward(''loss'', ARRAY[''w'']);';
  END IF;
  FOREACH param IN ARRAY params LOOP
    p := relgrad.impl_param(param);
    name := pg_catalog.concat((SELECT relname FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) p.w::pg_catalog.oid), '_grad');
    IF pg_catalog.octet_length(name) OPERATOR(pg_catalog.>) 63 THEN
      RAISE EXCEPTION USING ERRCODE = 'name_too_long', MESSAGE = pg_catalog.format('backward would fill "%s", a name of %s bytes, which is longer than 63', name, pg_catalog.octet_length(name)),
        HINT = pg_catalog.format('Rename the table, or SELECT * FROM gradient(''loss'', NULL::%s).', p.w);
    ELSIF name OPERATOR(pg_catalog.=) ANY (filled) THEN
      RAISE EXCEPTION USING ERRCODE = 'duplicate_table', MESSAGE = pg_catalog.format('backward would fill "%s" twice', name), HINT = 'Call backward for each of these parameters.';
    END IF;
    filled := pg_catalog.array_append(filled, name);
    PERFORM relgrad.impl_grad_table(name, p.w, pg_catalog.to_regclass(pg_catalog.quote_ident(name)));
    before := relgrad.impl_settings(pg_catalog.current_setting('search_path'), coalesce(step, 0)::pg_catalog.text, seed::pg_catalog.text);
    c := relgrad.impl_compiled(loss, p.w, p."column", step);
    PERFORM pg_catalog.set_config('search_path', c.path, TRUE);
    IF x IS NULL THEN
      x := relgrad.impl_value(c.value);
    END IF;
    EXECUTE pg_catalog.format('INSERT INTO pg_temp.%I %s', name, c.gradient);
    PERFORM relgrad.impl_settings(before[1], before[2], before[3]);
  END LOOP;
  RETURN x;
END $$;

-- SELECT backward('loss', 'w'): one parameter, or a list in braces.
CREATE FUNCTION relgrad.backward(loss text, params text, step bigint DEFAULT NULL, seed bigint DEFAULT 0) RETURNS double precision
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000 AS $$
BEGIN
  RETURN relgrad.backward(loss, CASE WHEN pg_catalog.starts_with(params, '{') THEN params::pg_catalog.text[] ELSE ARRAY[params] END, step, seed);
END $$;

-- Makes the temporary table of a gradient, or empties the one that backward has made; seen is what the name means now.
CREATE FUNCTION relgrad.impl_grad_table(name text, w regclass, seen regclass) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog AS $$
DECLARE mark constant text := 'a gradient, filled by backward()';
BEGIN
  -- nor one that another role has made in this session: its triggers would run with the rights of who calls
  IF seen IS NOT NULL AND (obj_description(seen, 'pg_class') IS DISTINCT FROM mark
      OR NOT EXISTS (SELECT FROM pg_class WHERE oid = seen AND relnamespace = pg_my_temp_schema() AND pg_get_userbyid(relowner) = current_user)) THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_table', MESSAGE = format('backward would fill "%s", but a relation of that name exists', name), HINT = 'Rename or drop it.';
  ELSIF relgrad.impl_columns(seen) = relgrad.impl_columns(w) AND relgrad.impl_key(seen) IS NOT DISTINCT FROM relgrad.impl_key(w) THEN
    EXECUTE format('DELETE FROM pg_temp.%I', name);
    RETURN;
  ELSIF seen IS NOT NULL THEN
    EXECUTE format('DROP TABLE pg_temp.%I', name);
  END IF;
  EXECUTE format('CREATE TEMP TABLE %I (%s%s)', name, relgrad.impl_columns(w), ', PRIMARY KEY (' || relgrad.impl_key(w) || ')');
  EXECUTE format('COMMENT ON TABLE pg_temp.%I IS %L', name, mark);
END $$;

-- SELECT explain_gradient('loss', 'w'): the texts that gradient runs.
CREATE FUNCTION relgrad.explain_gradient(loss text, param text, stage text DEFAULT 'sql') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  c relgrad.compiled;
  p pg_catalog.record;
BEGIN
  IF (stage OPERATOR(pg_catalog.=) 'sql') IS NOT TRUE THEN
    RAISE EXCEPTION USING ERRCODE = 'feature_not_supported', MESSAGE = pg_catalog.format('on this server explain_gradient has no stage %s', stage), HINT = 'Its stage is sql.';
  END IF;
  p := relgrad.impl_param(param);
  c := relgrad.impl_compiled(loss, p.w, p."column", 0);
  RETURN pg_catalog.format(E'-- the loss\n%s;\n-- the gradient with respect to %s\n%s;\n', c.value, param, c.gradient);
END $$;

-- The same of several parameters.
CREATE FUNCTION relgrad.explain_gradient(loss text, param text[], stage text DEFAULT 'sql') RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT pg_catalog.string_agg(relgrad.explain_gradient(loss, p, stage), '' ORDER BY i) FROM pg_catalog.unnest(param) WITH ORDINALITY AS t(p, i));
END $$;
