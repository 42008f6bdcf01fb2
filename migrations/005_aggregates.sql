-- Aggregates. Their state is a double precision[]: the number of rows, the rank, the lengths, then the elements (rank 0 for
-- numbers); {} before the first row. It is the same as the extension's.
SET search_path = pg_catalog;

-- The lengths in a state, '{}' for a number, NULL for no rows.
CREATE FUNCTION relgrad.impl_state(state double precision[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  n int := cardinality(state);
  rank int;
  size bigint := 1;
BEGIN
  IF n = 0 THEN
    RETURN NULL;
  END IF;
  <<well>>
  BEGIN
    EXIT well WHEN n IS NULL OR array_ndims(state) <> 1 OR array_lower(state, 1) <> 1 OR array_position(state, NULL) IS NOT NULL OR n < 3 OR state[2] NOT BETWEEN 0 AND 6;
    rank := state[2];
    EXIT well WHEN n < 3 + rank;
    FOR i IN 3..2 + rank LOOP
      EXIT well WHEN state[i] NOT BETWEEN 1 AND n OR state[i] * size > n;
      size := size * state[i];
    END LOOP;
    IF size = n - 2 - rank THEN
      RETURN state[3:2 + rank]::int[];
    END IF;
  END;
  RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'malformed state of an aggregate',
    HINT = 'Functions named agg_… are parts of aggregates and not called by themselves.';
END $$;

-- Takes rows whose sum (or maximum, or minimum) has the elements flat and the lengths dims into a state. how is the aggregate.
CREATE FUNCTION relgrad.impl_fold(state double precision[], flat double precision[], dims int[], how text, n double precision) RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE d int[] := relgrad.impl_state(state);
BEGIN
  IF d IS NULL THEN
    RETURN ARRAY[n, cardinality(dims)] || dims::double precision[] || flat;
  ELSIF d <> dims THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('%s: chunks of shapes %s and %s cannot be combined', how,
      relgrad.impl_dims_text(d), relgrad.impl_dims_text(dims));
  END IF;
  IF d = '{}' AND how = 'sum' THEN
    RETURN ARRAY[state[1] + n, 0, relgrad.impl_add(state[3], flat[1])];
  END IF;
  RETURN ARRAY[state[1] + n, cardinality(d)] || d::double precision[]
    || CASE how
       WHEN 'max_agg' THEN ARRAY(SELECT greatest(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o)
       WHEN 'min_agg' THEN ARRAY(SELECT least(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o)
       ELSE ARRAY(SELECT relgrad.impl_add(s, e) FROM unnest(state[3 + cardinality(d):], flat) WITH ORDINALITY AS t(s, e, o) ORDER BY o) END;
END $$;

CREATE FUNCTION relgrad.impl_combine(a double precision[], b double precision[], how text) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE d int[] := relgrad.impl_state(b);
BEGIN
  IF d IS NULL THEN
    RETURN a;
  END IF;
  RETURN relgrad.impl_fold(a, b[3 + cardinality(d):], d, how, b[1]);
END $$;

-- The elements of a state, divided by its rows for a mean; NULL for no rows. chunk says what the aggregate's result is.
CREATE FUNCTION relgrad.impl_finish(state double precision[], mean boolean, chunk boolean) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  d int[] := relgrad.impl_state(state);
  flat double precision[];
BEGIN
  IF d IS NULL THEN
    RETURN NULL;
  ELSIF chunk <> (cardinality(d) > 0) THEN
    PERFORM relgrad.impl_state('{0}');
  END IF;
  flat := state[3 + cardinality(d):];
  IF mean THEN
    flat := ARRAY(SELECT relgrad.impl_div(e, state[1]) FROM unnest(flat) WITH ORDINALITY AS t(e, o) ORDER BY o);
  END IF;
  RETURN CASE WHEN chunk THEN relgrad.impl_build(flat, d) ELSE flat END;
END $$;

-- A row of vector_agg. A row whose index or value is NULL adds nothing, but its size makes the vector.
CREATE FUNCTION relgrad.impl_scatter(state double precision[], index bigint, value double precision, size bigint) RETURNS double precision[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  d int[] := relgrad.impl_state(state);
  most constant bigint := 134217687;
BEGIN
  IF d IS NULL AND size IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'vector_agg: the size is NULL';
  ELSIF d IS NULL AND size NOT BETWEEN 1 AND most THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('vector_agg: size %s is not in 1 to %s', size, most);
  ELSIF d IS NULL THEN
    d := ARRAY[size::int];
    state := ARRAY[0, 1, size] || array_fill(0::double precision, d);
  ELSIF size <> d[1] THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('vector_agg: sizes %s and %s in one group', d[1], size);
  END IF;
  IF index IS NOT NULL AND value IS NOT NULL THEN
    IF index < 0 OR index >= d[1] THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('vector_agg: index %s is outside 0 … %s', index, d[1] - 1), HINT = 'Indices count from 0.';
    END IF;
    state[4 + index] := relgrad.impl_add(state[4 + index], value);
  END IF;
  state[1] := state[1] + 1;
  RETURN state;
END $$;
