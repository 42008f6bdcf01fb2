-- Chunks: the checks of arguments that every kernel makes, broadcasting, and the cores of kernels.
-- Inside of a kernel a chunk is its elements in row-major order (a flat array) and its lengths (int[], empty for a number).
SET search_path = pg_catalog;

-- Lengths as messages show them: [2,3].
CREATE FUNCTION relgrad.impl_dims_text(dims int[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN '[' || array_to_string(dims, ',') || ']';
END $$;

-- How many elements a chunk of these lengths has.
CREATE FUNCTION relgrad.impl_size(dims int[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  n bigint := 1;
  d int;
BEGIN
  FOREACH d IN ARRAY dims LOOP
    n := n * d;
  END LOOP;
  RETURN n;
END $$;

-- The type of a chunk, as messages name it.
CREATE FUNCTION relgrad.impl_type(x anyarray) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT rtrim(pg_typeof(x)::text, '[]') || relgrad.impl_dims_text(ARRAY(SELECT array_length(x, d) FROM generate_series(1, array_ndims(x)) AS d)));
END $$;

-- The error of a kernel that has no form for these types.
CREATE FUNCTION relgrad.impl_wrong_type(kernel text, hint text, VARIADIC types text[]) RETURNS void LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'undefined_function', HINT = hint, MESSAGE = format('%s(%s) does not exist', kernel, array_to_string(types, ', '));
END $$;

-- The lengths of a chunk given to a kernel: of rank 1 to 6, lower bounds 1, without NULL.
CREATE FUNCTION relgrad.impl_chunk(x anyarray, kernel text) RETURNS int[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE dims int[] := ARRAY(SELECT array_length(x, d) FROM generate_series(1, array_ndims(x)) AS d);
BEGIN
  IF cardinality(x) = 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('the chunk given to %s is empty', kernel), HINT = 'A chunk has at least one element.';
  END IF;
  FOR d IN 1..array_ndims(x) LOOP
    IF array_lower(x, d) <> 1 THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', HINT = 'The slice v[:] of an array v has lower bounds 1.',
        MESSAGE = format('the chunk of shape %s given to %s has lower bound %s in dimension %s, not 1', relgrad.impl_dims_text(dims), kernel, array_lower(x, d), d);
    END IF;
  END LOOP;
  IF EXISTS (SELECT FROM unnest(x) AS e WHERE e IS NULL) THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', HINT = 'A chunk is dense: use 0, or leave the row out.',
      MESSAGE = format('the chunk of shape %s given to %s has NULL elements', relgrad.impl_dims_text(dims), kernel);
  END IF;
  RETURN dims;
END $$;

-- The lengths of a result, which must be possible.
CREATE FUNCTION relgrad.impl_result(dims int[], kernel text) RETURNS int[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  most constant bigint := 134217695; -- Postgres holds no value of 1 GB
  n bigint := 1;
  d int;
BEGIN
  IF cardinality(dims) > 6 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('the result of %s has %s dimensions, at most 6 are possible', kernel, cardinality(dims));
  END IF;
  FOREACH d IN ARRAY dims LOOP
    IF d > most / n THEN
      RAISE EXCEPTION USING ERRCODE = 'program_limit_exceeded',
        MESSAGE = format('the result of %s has the shape %s, at most %s elements are possible', kernel, relgrad.impl_dims_text(dims), most);
    END IF;
    n := n * d;
  END LOOP;
  RETURN dims;
END $$;

-- An argument bigint[] that the manual calls what: a list without NULL.
CREATE FUNCTION relgrad.impl_list(x bigint[], kernel text, what text) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF array_ndims(x) > 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('the %s of %s is an array of shape %s, not a list', what, kernel,
      relgrad.impl_dims_text(ARRAY(SELECT array_length(x, d) FROM generate_series(1, array_ndims(x)) AS d)));
  END IF;
  IF array_position(x, NULL) IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'null_value_not_allowed', MESSAGE = format('the %s of %s has NULL elements', what, kernel);
  END IF;
  RETURN x[:];
END $$;

-- An argument that is a shape, as lengths.
CREATE FUNCTION relgrad.impl_shape(shape bigint[], kernel text) RETURNS int[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  list bigint[] := relgrad.impl_list(shape, kernel, 'shape');
  most constant bigint := 134217695;
  n bigint := 1;
  d bigint;
BEGIN
  IF cardinality(list) NOT BETWEEN 1 AND 6 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('the shape of %s has %s dimensions, 1 to 6 are possible', kernel, cardinality(list));
  END IF;
  FOREACH d IN ARRAY list LOOP
    IF d < 1 OR d > most / n THEN
      RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('shape ARRAY[%s] of %s: every length must be at least 1, the size at most %s',
        array_to_string(list, ','), kernel, most);
    END IF;
    n := n * d;
  END LOOP;
  RETURN list::int[];
END $$;

-- An argument that is an axis of a chunk with these lengths, counted from 1.
CREATE FUNCTION relgrad.impl_axis(axis bigint, kernel text, dims int[]) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF axis NOT BETWEEN 1 AND cardinality(dims) THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('axis %s of %s is not in 1 to %s', axis, kernel, cardinality(dims)),
      DETAIL = format('The argument has shape %s.', relgrad.impl_dims_text(dims));
  END IF;
  RETURN axis;
END $$;

-- The chunk of a flat array: an array of arrays, from the last axis up.
CREATE FUNCTION relgrad.impl_build(flat double precision[], dims int[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE n bigint;
BEGIN
  IF cardinality(dims) = 1 THEN
    RETURN flat;
  END IF;
  n := relgrad.impl_size(dims[2:]);
  RETURN (SELECT array_agg(relgrad.impl_build(flat[i * n + 1:(i + 1) * n], dims[2:]) ORDER BY i) FROM generate_series(0, dims[1] - 1) AS i);
END $$;

-- For each element of the shape dims its place, from 0, in an array of other strides.
CREATE FUNCTION relgrad.impl_places(dims int[], strides bigint[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE p bigint[] := '{0}';
BEGIN
  FOR d IN 1..cardinality(dims) LOOP
    p := ARRAY(SELECT place + i * strides[d] FROM unnest(p) WITH ORDINALITY AS t(place, o), generate_series(0, dims[d] - 1) AS i ORDER BY o, i);
  END LOOP;
  RETURN p;
END $$;

-- The strides with which a chunk of shape small is repeated to the shape dims, aligned at the right; NULL where it is not.
CREATE FUNCTION relgrad.impl_strides(dims int[], small int[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  lead int := cardinality(dims) - cardinality(small);
  s bigint[] := array_fill(0::bigint, ARRAY[cardinality(dims)]);
  n bigint := 1;
BEGIN
  IF lead < 0 THEN
    RETURN NULL;
  END IF;
  FOR i IN REVERSE cardinality(small)..1 LOOP
    IF small[i] NOT IN (1, dims[lead + i]) THEN
      RETURN NULL;
    END IF;
    s[lead + i] := CASE WHEN small[i] = 1 THEN 0 ELSE n END;
    n := n * small[i];
  END LOOP;
  RETURN s;
END $$;

-- The elements of x, of the shape small, repeated to the shape dims.
CREATE FUNCTION relgrad.impl_spread(x double precision[], small int[], dims int[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE flat double precision[] := ARRAY(SELECT unnest(x));
BEGIN
  IF small = dims THEN
    RETURN flat;
  END IF;
  RETURN ARRAY(SELECT flat[p + 1] FROM unnest(relgrad.impl_places(dims, relgrad.impl_strides(dims, small))) WITH ORDINALITY AS t(p, o) ORDER BY o);
END $$;

-- The shape to which two are broadcast. sign is the operator, '' for the function kernel.
CREATE FUNCTION relgrad.impl_broadcast(a int[], b int[], kernel text, sign text) RETURNS int[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  n int := greatest(cardinality(a), cardinality(b));
  x int[] := array_fill(1, ARRAY[n - cardinality(a)]) || a;
  y int[] := array_fill(1, ARRAY[n - cardinality(b)]) || b;
BEGIN
  FOR i IN 1..n LOOP
    IF x[i] <> y[i] AND x[i] <> 1 AND y[i] <> 1 THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', HINT = 'Shapes are aligned at the right; lengths must be equal or 1.',
        MESSAGE = CASE WHEN sign <> '' THEN format('different shapes %s %s %s', relgrad.impl_dims_text(a), sign, relgrad.impl_dims_text(b))
                  ELSE format('different shapes %s and %s in %s', relgrad.impl_dims_text(a), relgrad.impl_dims_text(b), kernel) END;
    END IF;
    x[i] := greatest(x[i], y[i]);
  END LOOP;
  RETURN relgrad.impl_result(x, kernel);
END $$;

-- Whether products of up to four elements stay inside of the range, so that Postgres's own operators raise no errors.
CREATE FUNCTION relgrad.impl_plain(flat double precision[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT bool_and(e = 0 OR abs(e) BETWEEN 1e-70 AND 1e70) FROM unnest(flat) AS e);
END $$;

-- The sum of the products of two flat arrays, for norms and distances.
CREATE FUNCTION relgrad.impl_dot(x double precision[], y double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF relgrad.impl_plain(x) AND relgrad.impl_plain(y) THEN
    RETURN (SELECT sum(a * b) FROM unnest(x, y) AS t(a, b));
  END IF;
  RETURN (SELECT relgrad.impl_sum(relgrad.impl_mul(a, b) ORDER BY o) FROM unnest(x, y) WITH ORDINALITY AS t(a, b, o));
END $$;

-- Reductions of a lane of elements to a number.
CREATE FUNCTION relgrad.impl_total(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT relgrad.impl_sum(e ORDER BY o) FROM unnest(lane) WITH ORDINALITY AS t(e, o));
END $$;

-- The mean of a lane.
CREATE FUNCTION relgrad.impl_mean(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT relgrad.impl_div(relgrad.impl_total(lane), cardinality(lane)));
END $$;

-- The largest element of a lane; NaN is above all numbers.
CREATE FUNCTION relgrad.impl_largest(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT max(e) FROM unnest(lane) AS e);
END $$;

-- The least element of a lane, NaN where one is.
CREATE FUNCTION relgrad.impl_least(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN 'NaN' = ANY (lane) THEN 'NaN' ELSE (SELECT min(e) FROM unnest(lane) AS e) END;
END $$;

-- Where the largest element is, from 1; the first NaN counts as that.
CREATE FUNCTION relgrad.impl_largest_at(lane double precision[]) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT o FROM unnest(lane) WITH ORDINALITY AS t(e, o) ORDER BY e DESC, o LIMIT 1);
END $$;

-- What the others add to the largest element in ln of the sum of e ^ x.
CREATE FUNCTION relgrad.impl_others(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  at int := relgrad.impl_largest_at(lane);
  m double precision := lane[at];
BEGIN
  IF abs(m) >= 'Infinity' THEN
    RETURN 0;
  END IF;
  RETURN relgrad.impl_log1p(coalesce((SELECT sum(relgrad.impl_exp(relgrad.impl_add(e, -m)) ORDER BY o) FROM unnest(lane) WITH ORDINALITY AS t(e, o) WHERE o <> at), 0));
END $$;

CREATE FUNCTION relgrad.impl_logsumexp(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN relgrad.impl_add(relgrad.impl_largest(lane), relgrad.impl_others(lane));
END $$;

-- A power of two, 1 for usual numbers, with which squares stay in range.
CREATE FUNCTION relgrad.impl_scale(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE m double precision := (SELECT coalesce(max(abs(e)) FILTER (WHERE e <> 'NaN'), 0) FROM unnest(lane) AS e);
BEGIN
  RETURN CASE WHEN m > 1e150 THEN 2.778448436856347e-163 WHEN m < 1e-140 THEN 3.599131035634557e+162 ELSE 1 END;
END $$;

-- A lane times a number.
CREATE FUNCTION relgrad.impl_times(lane double precision[], y double precision) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF y = 1 THEN
    RETURN lane;
  END IF;
  RETURN ARRAY(SELECT relgrad.impl_mul(e, y) FROM unnest(lane) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

-- The Euclidean norm of any numbers.
CREATE FUNCTION relgrad.impl_length(lane double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  scale double precision := relgrad.impl_scale(lane);
  x double precision[] := relgrad.impl_times(lane, scale);
BEGIN
  RETURN relgrad.impl_div(sqrt(relgrad.impl_dot(x, x)), scale);
END $$;

-- Maps of a lane of elements to another.
CREATE FUNCTION relgrad.impl_softmax(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  m double precision := relgrad.impl_largest(lane);
  y double precision[] := ARRAY(SELECT relgrad.impl_exp(relgrad.impl_add(e, -m)) FROM unnest(lane) WITH ORDINALITY AS t(e, o) ORDER BY o);
  s double precision := relgrad.impl_total(y);
BEGIN
  RETURN ARRAY(SELECT relgrad.impl_div(e, s) FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_log_softmax(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  m double precision := relgrad.impl_largest(lane);
  others double precision := relgrad.impl_others(lane);
BEGIN
  RETURN ARRAY(SELECT relgrad.impl_add(relgrad.impl_add(e, -m), -others) FROM unnest(lane) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_l2_normalize(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  x double precision[] := relgrad.impl_times(lane, relgrad.impl_scale(lane));
  n double precision := sqrt(relgrad.impl_dot(x, x));
BEGIN
  RETURN ARRAY(SELECT CASE WHEN n = 0 THEN 0 ELSE relgrad.impl_div(e, n) END FROM unnest(x) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

-- A lane less its mean, and of that the largest absolute number's scale.
CREATE FUNCTION relgrad.impl_centered(lane double precision[], OUT x double precision[], OUT scale double precision, OUT sd double precision) LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  n int := cardinality(lane);
  mean double precision := (SELECT relgrad.impl_sum(relgrad.impl_div(e, n) ORDER BY o) FROM unnest(lane) WITH ORDINALITY AS t(e, o));
  rest double precision := (SELECT relgrad.impl_sum(relgrad.impl_div(relgrad.impl_add(e, -mean), n) ORDER BY o) FROM unnest(lane) WITH ORDINALITY AS t(e, o));
BEGIN
  x := ARRAY(SELECT relgrad.impl_add(relgrad.impl_add(e, -mean), -rest) FROM unnest(lane) WITH ORDINALITY AS t(e, o) ORDER BY o);
  scale := least(1, relgrad.impl_scale(x));
  x := relgrad.impl_times(x, scale);
  sd := sqrt(relgrad.impl_add(relgrad.impl_div(relgrad.impl_dot(x, x), n), relgrad.impl_mul(1e-5, relgrad.impl_mul(scale, scale))));
END $$;

CREATE FUNCTION relgrad.impl_layer_norm(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE c record := relgrad.impl_centered(lane);
BEGIN
  RETURN ARRAY(SELECT relgrad.impl_div(e, c.sd) FROM unnest(c.x) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_layer_norm_deviation(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE c record := relgrad.impl_centered(lane);
BEGIN
  RETURN ARRAY[relgrad.impl_div(c.sd, c.scale)];
END $$;

CREATE FUNCTION relgrad.impl_l2_length(lane double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN ARRAY[relgrad.impl_length(lane)];
END $$;

-- Maps of two lanes to another: derivatives, as kernels/lane.go has them.
CREATE FUNCTION relgrad.impl_softmax_center(lane double precision[], g double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p double precision[] := relgrad.impl_softmax(lane);
  h double precision[] := ARRAY(SELECT relgrad.impl_add(e, -g[relgrad.impl_largest_at(lane)]) FROM unnest(g) WITH ORDINALITY AS t(e, o) ORDER BY o);
  s double precision := relgrad.impl_dot(p, h);
BEGIN
  RETURN ARRAY(SELECT relgrad.impl_add(e, -s) FROM unnest(h) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_log_softmax_slope(lane double precision[], g double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  m int := relgrad.impl_largest_at(lane);
  p double precision[] := relgrad.impl_softmax(lane);
  rest double precision := 0;
  others double precision := 0;
BEGIN
  FOR i IN 1..cardinality(p) LOOP
    IF i <> m THEN
      rest := relgrad.impl_add(rest, p[i]);
      others := relgrad.impl_add(others, g[i]);
    END IF;
  END LOOP;
  RETURN ARRAY(SELECT CASE WHEN o = m THEN relgrad.impl_add(relgrad.impl_mul(g[m], rest), -relgrad.impl_mul(e, others))
      ELSE relgrad.impl_add(g[o], -relgrad.impl_mul(e, relgrad.impl_add(others, g[m]))) END FROM unnest(p) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_cross_entropy_slope(lane double precision[], label bigint) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p double precision[] := relgrad.impl_softmax(lane);
  others double precision := 0;
BEGIN
  FOR i IN 1..cardinality(p) LOOP
    IF i <> label + 1 THEN
      others := relgrad.impl_add(others, p[i]);
    END IF;
  END LOOP;
  p[label + 1] := -others;
  RETURN p;
END $$;

CREATE FUNCTION relgrad.impl_l2_normalize_slope(lane double precision[], g double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  n double precision := relgrad.impl_length(lane);
  y double precision[] := relgrad.impl_l2_normalize(lane);
  m int := relgrad.impl_largest_at(ARRAY(SELECT abs(e) FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o));
  r double precision;
  h double precision[];
  s double precision;
BEGIN
  IF n = 0 THEN
    RETURN y;
  END IF;
  r := relgrad.impl_div(g[m], y[m]);
  h := ARRAY(SELECT CASE WHEN o = m THEN 0 ELSE relgrad.impl_add(g[o], -relgrad.impl_mul(e, r)) END FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o);
  s := relgrad.impl_dot(y, h);
  RETURN ARRAY(SELECT relgrad.impl_div(relgrad.impl_add(h[o], -relgrad.impl_mul(e, s)), n) FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

CREATE FUNCTION relgrad.impl_layer_norm_slope(lane double precision[], g double precision[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  x record := relgrad.impl_centered(lane);
  n int := cardinality(lane);
  c double precision := relgrad.impl_length(x.x);
  y double precision[];
  h double precision[];
  m int;
  k int;
  slope double precision;
  mean double precision;
  along double precision;
  rest double precision;
BEGIN
  IF c = 0 THEN
    mean := relgrad.impl_mean(g);
    RETURN ARRAY(SELECT relgrad.impl_mul(relgrad.impl_div(relgrad.impl_add(e, -mean), x.sd), x.scale) FROM unnest(g) WITH ORDINALITY AS t(e, o) ORDER BY o);
  END IF;
  y := ARRAY(SELECT relgrad.impl_div(e, c) FROM unnest(x.x) WITH ORDINALITY AS t(e, o) ORDER BY o);
  m := relgrad.impl_largest_at(ARRAY(SELECT abs(e) FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o));
  k := relgrad.impl_largest_at(ARRAY(SELECT abs(relgrad.impl_add(e, -y[m])) FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o));
  slope := relgrad.impl_div(relgrad.impl_add(g[m], -g[k]), relgrad.impl_add(y[m], -y[k]));
  h := ARRAY(SELECT CASE WHEN o IN (k, m) THEN 0 ELSE relgrad.impl_add(relgrad.impl_add(g[o], -g[m]), -relgrad.impl_mul(slope, relgrad.impl_add(e, -y[m]))) END
    FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o);
  mean := relgrad.impl_mean(h);
  rest := relgrad.impl_dot(y, h);
  along := relgrad.impl_dot(y, ARRAY(SELECT relgrad.impl_add(e, -g[m]) FROM unnest(g) WITH ORDINALITY AS t(e, o) ORDER BY o));
  along := relgrad.impl_mul(along, relgrad.impl_div(relgrad.impl_mul(1e-5, relgrad.impl_mul(x.scale, x.scale)), relgrad.impl_mul(x.sd, x.sd)));
  RETURN ARRAY(SELECT relgrad.impl_mul(relgrad.impl_div(relgrad.impl_add(relgrad.impl_add(h[o], -mean), relgrad.impl_mul(e, relgrad.impl_add(along, -rest))), x.sd), x.scale)
    FROM unnest(y) WITH ORDINALITY AS t(e, o) ORDER BY o);
END $$;

-- argmax (sign 1) and argmin (sign -1): the first of equal ones, or the first NaN.
CREATE FUNCTION relgrad.impl_position(flat double precision[], sign double precision) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT o - 1 FROM unnest(flat) WITH ORDINALITY AS t(e, o) ORDER BY e = 'NaN' DESC, sign * e DESC, o LIMIT 1);
END $$;

-- Two chunks of one shape: an error where they are not.
CREATE FUNCTION relgrad.impl_pair(a double precision[], b double precision[], kernel text) RETURNS void LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  d1 int[] := relgrad.impl_chunk(a, kernel);
  d2 int[] := relgrad.impl_chunk(b, kernel);
BEGIN
  IF d1 <> d2 THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error',
      MESSAGE = format('different shapes %s and %s in %s', relgrad.impl_dims_text(d1), relgrad.impl_dims_text(d2), kernel);
  END IF;
END $$;

-- Zeros of a shape with x in the places given, from 0.
CREATE FUNCTION relgrad.impl_place(x double precision[], places bigint[], dims int[]) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE flat double precision[] := array_fill(0::double precision, ARRAY[relgrad.impl_size(dims)::int]);
BEGIN
  FOR i IN 1..cardinality(x) LOOP
    flat[places[i] + 1] := x[i];
  END LOOP;
  RETURN relgrad.impl_build(flat, dims);
END $$;

-- The error of a probability that dropout does not take.
CREATE FUNCTION relgrad.impl_probability(p double precision) RETURNS void LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF p < 0 OR p >= 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('dropout probability %s is not in [0,1)', p);
  END IF;
END $$;

-- Whether a gradient is finite, and the error where it is not. A NULL, of which there is none, would be.
CREATE FUNCTION relgrad.impl_finite(x double precision) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (x OPERATOR(pg_catalog.-) x OPERATOR(pg_catalog.=) 0::pg_catalog.float8) IS NOT FALSE;
END $$;

CREATE FUNCTION relgrad.impl_finite(x double precision[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM pg_catalog.unnest(x) AS e WHERE e OPERATOR(pg_catalog.-) e OPERATOR(pg_catalog.<>) 0::pg_catalog.float8);
END $$;

-- The error of a gradient that is not finite.
CREATE FUNCTION relgrad.impl_not_finite(x double precision, place text) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'numeric_value_out_of_range', MESSAGE = pg_catalog.format('the gradient is %s, %s', x, place),
    HINT = 'A guard in the loss may help, e.g. CASE WHEN x > 0 THEN ln(x) ELSE 0 END.';
END $$;

CREATE FUNCTION relgrad.impl_not_finite(x double precision[], place text) RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN ARRAY[relgrad.impl_not_finite((SELECT e FROM pg_catalog.unnest(x) WITH ORDINALITY AS t(e, o) WHERE e OPERATOR(pg_catalog.-) e OPERATOR(pg_catalog.<>) 0::pg_catalog.float8 ORDER BY o LIMIT 1), place)];
END $$;
