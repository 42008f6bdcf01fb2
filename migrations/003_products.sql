-- Products: einsum, and matmul by it.
SET search_path = pg_catalog;

-- Labels are sorted as in ASCII.
CREATE FUNCTION relgrad.impl_letters(labels text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN labels = '' THEN '{}' ELSE string_to_array(labels, NULL) END;
END $$;

-- The product of the lengths behind each axis, summed for each wanted label over the axes that have it: a repeated label
-- walks the diagonal.
CREATE FUNCTION relgrad.impl_label_strides(labels text[], dims int[], wanted text[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  s bigint[] := array_fill(0::bigint, ARRAY[cardinality(wanted)]);
  p int;
BEGIN
  FOR d IN 1..cardinality(labels) LOOP
    p := array_position(wanted, labels[d]);
    IF p IS NOT NULL THEN
      s[p] := s[p] + relgrad.impl_size(dims[d + 1:]);
    END IF;
  END LOOP;
  RETURN s;
END $$;

-- The labels of a spec: those of each operand, then those of the result, separated by commas.
CREATE FUNCTION relgrad.impl_spec(spec text, operands int) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  hint constant text := 'A spec looks like ''ij,jk->ik'': one letter for each dimension of each operand.';
  t text := replace(spec, ' ', '');
  ins text := split_part(t, '->', 1);
  parts text[] := CASE WHEN ins = '' THEN '{""}' ELSE string_to_array(ins, ',') END;
  used text[] := relgrad.impl_letters(replace(ins, ',', ''));
  result text := substr(t, length(ins) + 3);
  c text;
BEGIN
  IF strpos(t, '...') > 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'feature_not_supported', MESSAGE = format('einsum spec "%s" has an ellipsis', spec),
      HINT = 'Write a letter for each dimension; shapes are fixed.';
  ELSIF cardinality(parts) <> operands THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('einsum spec "%s" has %s operands, not %s', spec, cardinality(parts), operands), HINT = hint;
  END IF;
  FOREACH c IN ARRAY used || relgrad.impl_letters(result) LOOP
    IF c !~ '^[A-Za-z]$' THEN
      RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('einsum spec "%s" has ''%s'', which is no letter', spec, c), HINT = hint;
    END IF;
  END LOOP;
  FOREACH c IN ARRAY relgrad.impl_letters(result) LOOP
    IF NOT c = ANY (used) THEN
      RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('einsum spec "%s": no operand has the label ''%s'' of the result', spec, c), HINT = hint;
    END IF;
  END LOOP;
  IF strpos(t, '->') = 0 THEN
    result := array_to_string(ARRAY(SELECT l FROM unnest(used) AS l GROUP BY l HAVING count(*) = 1 ORDER BY l COLLATE "C"), '');
  END IF;
  RETURN parts || result;
END $$;

-- einsum of numbers alone: their product.
CREATE FUNCTION relgrad.impl_einsum_numbers(spec text, x double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  parts text[] := relgrad.impl_spec(spec, cardinality(x));
  y double precision := 1;
BEGIN
  FOR i IN 1..cardinality(x) LOOP
    IF parts[i] <> '' THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('einsum "%s": operand %s has shape [], not %s dimensions', spec, i, length(parts[i]));
    END IF;
    y := relgrad.impl_mul(y, x[i]);
  END LOOP;
  RETURN y;
END $$;

-- einsum of up to four operands, flat arrays with their lengths; those that are missing are '{1}' and '{}'.
CREATE FUNCTION relgrad.impl_einsum(spec text, operands int, x1 double precision[], d1 int[], x2 double precision[] DEFAULT '{1}', d2 int[] DEFAULT '{}',
  x3 double precision[] DEFAULT '{1}', d3 int[] DEFAULT '{}', x4 double precision[] DEFAULT '{1}', d4 int[] DEFAULT '{}')
RETURNS double precision[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  parts text[] := relgrad.impl_spec(spec, operands);
  result text[] := relgrad.impl_letters(parts[operands + 1]);
  labels text[];  -- of one operand
  dims int[];     -- its lengths
  known text[] := '{}'; -- all labels
  lengths int[] := '{}';
  p int;
  kept text[];    -- the result's labels, once
  summed text[];
  nkept int[];
  nsummed int[];
  b1 bigint[]; b2 bigint[]; b3 bigint[]; b4 bigint[]; -- places for each element of the result
  s1 bigint[]; s2 bigint[]; s3 bigint[]; s4 bigint[]; -- and for each index of the sum
  y double precision[];
BEGIN
  FOR i IN 1..operands LOOP
    labels := relgrad.impl_letters(parts[i]);
    dims := CASE i WHEN 1 THEN d1 WHEN 2 THEN d2 WHEN 3 THEN d3 ELSE d4 END;
    IF cardinality(labels) <> cardinality(dims) THEN
      RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('einsum "%s": operand %s has shape %s, not %s dimensions', spec, i,
        relgrad.impl_dims_text(dims), cardinality(labels));
    END IF;
    FOR d IN 1..cardinality(dims) LOOP
      p := array_position(known, labels[d]);
      IF p IS NULL THEN
        known := known || labels[d];
        lengths := lengths || dims[d];
      ELSIF lengths[p] <> dims[d] THEN
        RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('einsum "%s": label ''%s'' has the lengths %s and %s', spec, labels[d], lengths[p], dims[d]);
      END IF;
    END LOOP;
  END LOOP;
  IF cardinality(result) = 0 THEN
    RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch', MESSAGE = format('einsum "%s" of these arguments is a scalar, not an array', spec),
      HINT = 'Use dot(a, b) or sum_elements(einsum(…)) for a sum over all labels.';
  ELSIF cardinality(result) > 6 THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('einsum "%s": the result has %s dimensions, at most 6 are possible', spec, cardinality(result));
  END IF;
  kept := ARRAY(SELECT l FROM unnest(result) WITH ORDINALITY AS t(l, o) GROUP BY l ORDER BY min(o));
  nkept := ARRAY(SELECT lengths[array_position(known, l)] FROM unnest(kept) WITH ORDINALITY AS t(l, o) ORDER BY o);
  summed := ARRAY(SELECT l FROM unnest(known) WITH ORDINALITY AS t(l, o) WHERE NOT l = ANY (kept) ORDER BY o);
  nsummed := ARRAY(SELECT lengths[array_position(known, l)] FROM unnest(summed) WITH ORDINALITY AS t(l, o) ORDER BY o);
  dims := relgrad.impl_result(ARRAY(SELECT lengths[array_position(known, l)] FROM unnest(result) WITH ORDINALITY AS t(l, o) ORDER BY o), 'einsum');
  FOR i IN 1..4 LOOP
    labels := CASE WHEN i > operands THEN '{}' ELSE relgrad.impl_letters(parts[i]) END;
    CASE i
      WHEN 1 THEN
        b1 := relgrad.impl_places(nkept, relgrad.impl_label_strides(labels, d1, kept));
        s1 := relgrad.impl_places(nsummed, relgrad.impl_label_strides(labels, d1, summed));
      WHEN 2 THEN
        b2 := relgrad.impl_places(nkept, relgrad.impl_label_strides(labels, d2, kept));
        s2 := relgrad.impl_places(nsummed, relgrad.impl_label_strides(labels, d2, summed));
      WHEN 3 THEN
        b3 := relgrad.impl_places(nkept, relgrad.impl_label_strides(labels, d3, kept));
        s3 := relgrad.impl_places(nsummed, relgrad.impl_label_strides(labels, d3, summed));
      ELSE
        b4 := relgrad.impl_places(nkept, relgrad.impl_label_strides(labels, d4, kept));
        s4 := relgrad.impl_places(nsummed, relgrad.impl_label_strides(labels, d4, summed));
    END CASE;
  END LOOP;
  IF relgrad.impl_plain(x1) AND relgrad.impl_plain(x2) AND relgrad.impl_plain(x3) AND relgrad.impl_plain(x4) THEN
    y := ARRAY(SELECT (SELECT sum(x1[u1 + v1 + 1] * x2[u2 + v2 + 1] * x3[u3 + v3 + 1] * x4[u4 + v4 + 1]) FROM unnest(s1, s2, s3, s4) AS s(v1, v2, v3, v4))
      FROM unnest(b1, b2, b3, b4) WITH ORDINALITY AS t(u1, u2, u3, u4, o) ORDER BY o);
  ELSE
    y := ARRAY(SELECT (SELECT relgrad.impl_sum(relgrad.impl_mul(relgrad.impl_mul(relgrad.impl_mul(x1[u1 + v1 + 1], x2[u2 + v2 + 1]), x3[u3 + v3 + 1]), x4[u4 + v4 + 1]) ORDER BY i)
        FROM unnest(s1, s2, s3, s4) WITH ORDINALITY AS s(v1, v2, v3, v4, i))
      FROM unnest(b1, b2, b3, b4) WITH ORDINALITY AS t(u1, u2, u3, u4, o) ORDER BY o);
  END IF;
  IF cardinality(kept) < cardinality(result) THEN -- only the diagonal is not 0
    RETURN relgrad.impl_place(y, relgrad.impl_places(nkept, relgrad.impl_label_strides(result, dims, kept)), dims);
  END IF;
  RETURN relgrad.impl_build(y, dims);
END $$;

-- The spec of a matrix product by rank: vectors, matrices, or batches of matrices.
CREATE FUNCTION relgrad.impl_matmul_spec(a int[], b int[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  n int := cardinality(a);
  lead text := '';
  batched boolean := n > 2 OR cardinality(b) > 2;
BEGIN
  IF batched AND (n <> cardinality(b) OR a[:n - 2] <> b[:n - 2]) OR a[n] <> b[greatest(cardinality(b) - 1, 1)] THEN
    RAISE EXCEPTION USING ERRCODE = 'array_subscript_error', MESSAGE = format('different shapes %s and %s in matmul', relgrad.impl_dims_text(a), relgrad.impl_dims_text(b)),
      HINT = 'The last axis of a and the last but one of b (the only one of a vector) must be equal, leading axes too.';
  ELSIF n = 1 AND cardinality(b) = 1 THEN
    RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch', MESSAGE = 'matmul of arguments of this rank is a scalar, not an array',
      DETAIL = format('The arguments have the shapes %s and %s.', relgrad.impl_dims_text(a), relgrad.impl_dims_text(b)), HINT = 'Use dot(a, b) for two vectors.';
  END IF;
  IF batched THEN
    lead := left('abcd', n - 2);
  END IF;
  RETURN lead || CASE WHEN n > 1 THEN 'xy,' ELSE 'y,' END || lead || CASE WHEN cardinality(b) > 1 THEN 'yz->' ELSE 'y->' END
    || lead || CASE WHEN n > 1 THEN 'x' ELSE '' END || CASE WHEN cardinality(b) > 1 THEN 'z' ELSE '' END;
END $$;
