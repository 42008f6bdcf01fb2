-- Draws by Philox, bit-equal on every engine: element i of the stream (seed, hash of the key). A word of 64 bits is a bigint.
SET search_path = pg_catalog;

-- A number modulo 2^64, of less than 2^64 in size.
CREATE FUNCTION relgrad.impl_word(n numeric) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (CASE WHEN n >= 9223372036854775808 THEN n - 18446744073709551616 WHEN n < -9223372036854775808 THEN n + 18446744073709551616 ELSE n END)::bigint;
END $$;

-- The product of two words of 64 bits, modulo 2^64.
CREATE FUNCTION relgrad.impl_word_mul(a bigint, b numeric) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN relgrad.impl_word(mod(a * b, 18446744073709551616));
END $$;

-- The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
CREATE FUNCTION relgrad.impl_mix(h bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  h := relgrad.impl_word(mod(h + 11400714819323198485::numeric, 18446744073709551616));
  h := relgrad.impl_word_mul(h # (h >> 30 & (1::bigint << 34) - 1), 13787848793156543929);
  h := relgrad.impl_word_mul(h # (h >> 27 & (1::bigint << 37) - 1), 10723151780598845931);
  RETURN h # (h >> 31 & (1::bigint << 33) - 1);
END $$;

-- The hash of the parts of a key.
CREATE FUNCTION relgrad.impl_hash(parts bigint[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  h bigint := relgrad.impl_word(11400714819323198485);
  p bigint;
BEGIN
  FOREACH p IN ARRAY parts LOOP
    h := relgrad.impl_mix(h # p);
  END LOOP;
  RETURN h;
END $$;

-- FNV-1a of a text's bytes, then the finaliser.
CREATE FUNCTION relgrad.impl_hash_text(x text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  h bigint := relgrad.impl_word(14695981039346656037);
  b bytea := convert_to(x, 'UTF8');
BEGIN
  FOR i IN 0..length(b) - 1 LOOP
    h := relgrad.impl_word_mul(h # get_byte(b, i), 1099511628211);
  END LOOP;
  RETURN relgrad.impl_mix(h);
END $$;

-- Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with the key seed and the
-- counter (i, key): the four words of 32 bits of block i. Products of 32 bits go by halves of 16.
CREATE FUNCTION relgrad.impl_philox(seed bigint, key bigint, i bigint) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  low constant bigint := 4294967295;
  k0 bigint := seed & low;
  k1 bigint := seed >> 32 & low;
  c0 bigint := i & low;
  c1 bigint := i >> 32 & low;
  c2 bigint := key & low;
  c3 bigint := key >> 32 & low;
  t bigint;
  u bigint;
  v bigint;
  w bigint;
BEGIN
  FOR round IN 1..10 LOOP
    t := 8019 * c0; -- 0xD2511F53 is 53841 * 2^16 + 8019
    u := 53841 * c0 + (t >> 16);
    v := 36183 * c2; -- 0xCD9E8D57 is 52638 * 2^16 + 36183
    w := 52638 * c2 + (v >> 16);
    c0 := (w >> 16) # c1 # k0;
    c1 := (w & 65535) << 16 | (v & 65535);
    c2 := (u >> 16) # c3 # k1;
    c3 := (u & 65535) << 16 | (t & 65535);
    k0 := (k0 + 2654435769) & low;
    k1 := (k1 + 3144134277) & low;
  END LOOP;
  RETURN ARRAY[c0, c1, c2, c3];
END $$;

-- The upper 53 of the 64 bits of two words.
CREATE FUNCTION relgrad.impl_bits53(high bigint, low bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN (high << 21) | (low >> 11);
END $$;

-- A draw in [0,1) with 53 random bits.
CREATE FUNCTION relgrad.impl_uniform(seed bigint, key bigint, i bigint) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  w bigint[] := relgrad.impl_philox(seed, key, i);
BEGIN
  RETURN relgrad.impl_bits53(w[1], w[2]) * power(2::double precision, -53);
END $$;

-- A draw from the standard normal distribution by Box and Muller.
CREATE FUNCTION relgrad.impl_normal(seed bigint, key bigint, i bigint) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  w bigint[] := relgrad.impl_philox(seed, key, i);
  scale constant double precision := power(2::double precision, -53);
BEGIN
  RETURN sqrt(-2 * ln((relgrad.impl_bits53(w[1], w[2]) + 1) * scale)) * cos(2 * pi() * (relgrad.impl_bits53(w[3], w[4]) * scale));
END $$;

-- How many of the 2^32 words drop an element of a mask of dropout with probability p: p to 2^-32, but neither none nor all where 0 < p.
CREATE FUNCTION relgrad.impl_threshold(p double precision) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN p = 0 THEN 0 ELSE least(greatest(floor(p * 4294967296 + 0.5), 1), 4294967295)::bigint END;
END $$;
