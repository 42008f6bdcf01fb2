-- Arithmetic of IEEE 754: results of any size, where Postgres's own operators and functions raise errors.
-- Functions impl_… are called by those of later migrations only, which set the search path for them. They are in PL/pgSQL, since
-- a function in SQL that is not pasted into its query is parsed and planned for each execution of it.
SET search_path = pg_catalog;

GRANT USAGE ON SCHEMA relgrad TO PUBLIC;

CREATE FUNCTION relgrad.impl_add(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN abs(a) < 1e300 AND abs(b) < 1e300 THEN a + b
    WHEN abs(a) >= 'Infinity' OR abs(b) >= 'Infinity' OR least(abs(a), abs(b)) < 1e280 THEN a + b -- NaN is above all numbers
    WHEN abs(a / 2 + b / 2) < power(2::double precision, 1023) THEN a + b
    WHEN a > 0 THEN 'Infinity' ELSE '-Infinity' END;
END $$;

-- The sign of zeros counts.
CREATE FUNCTION relgrad.impl_signbit(x double precision) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN get_byte(float8send(x), 0) >= 128;
END $$;

-- Products and quotients near the ends of the range are tried with a factor of 2^100.
CREATE FUNCTION relgrad.impl_mul(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN abs(a) BETWEEN 1e-150 AND 1e150 AND abs(b) BETWEEN 1e-150 AND 1e150 THEN a * b
    WHEN a = 0 OR b = 0 OR abs(a) >= 'Infinity' OR abs(b) >= 'Infinity' THEN a * b
    WHEN ln(abs(a)) + ln(abs(b)) BETWEEN -744 AND 709 THEN a * b
    WHEN ln(abs(a)) + ln(abs(b)) > 0 THEN
      CASE WHEN ln(abs(a)) + ln(abs(b)) < 710 AND abs(a * power(2::double precision, -100) * b) < power(2::double precision, 924) THEN a * b
           WHEN (a < 0) = (b < 0) THEN 'Infinity' ELSE '-Infinity' END
    WHEN ln(abs(a)) + ln(abs(b)) > -746 AND abs(a * power(2::double precision, 100) * b) > power(2::double precision, -975) THEN a * b
    WHEN (a < 0) = (b < 0) THEN 0 ELSE '-0' END;
END $$;

CREATE FUNCTION relgrad.impl_div(a double precision, b double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN abs(a) BETWEEN 1e-150 AND 1e150 AND abs(b) BETWEEN 1e-150 AND 1e150 THEN a / b
    WHEN a = 'NaN' OR b = 'NaN' OR a = 0 AND b = 0 THEN 'NaN'
    WHEN b = 0 THEN CASE WHEN (a < 0) = relgrad.impl_signbit(b) THEN 'Infinity'::double precision ELSE '-Infinity' END
    WHEN a = 0 OR abs(a) = 'Infinity' THEN a / b
    WHEN abs(b) = 'Infinity' THEN CASE WHEN (a < 0) = (b < 0) THEN 0 ELSE '-0' END
    WHEN ln(abs(a)) - ln(abs(b)) BETWEEN -744 AND 709 THEN a / b
    WHEN ln(abs(a)) - ln(abs(b)) > 0 THEN
      CASE WHEN ln(abs(a)) - ln(abs(b)) < 710 AND abs(a * power(2::double precision, -100) / b) < power(2::double precision, 924) THEN a / b
           WHEN (a < 0) = (b < 0) THEN 'Infinity' ELSE '-Infinity' END
    WHEN ln(abs(a)) - ln(abs(b)) > -746 AND abs(a / (b * power(2::double precision, -100))) > power(2::double precision, -975) THEN a / b
    WHEN (a < 0) = (b < 0) THEN 0 ELSE '-0' END;
END $$;

-- Rounding to real: from half a unit above the largest number on to infinity, up to half of the smallest to 0.
CREATE FUNCTION relgrad.impl_to_real(x double precision) RETURNS real LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN abs(x) BETWEEN 1e-37 AND 1e38 THEN x::real
    WHEN abs(x) >= power(2::double precision, 128) - power(2::double precision, 103) AND x <> 'NaN' THEN CASE WHEN x > 0 THEN 'Infinity'::real ELSE '-Infinity' END
    WHEN x <> 0 AND abs(x) <= power(2::double precision, -150) THEN CASE WHEN x > 0 THEN 0::real ELSE '-0' END
    ELSE x::real END;
END $$;

-- Postgres's exp also raises an error where the result is a subnormal number.
CREATE FUNCTION relgrad.impl_exp(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN x BETWEEN -700 AND 709 OR x = 'NaN' THEN exp(x)
    WHEN x > 709.782712893384 THEN 'Infinity'
    WHEN x < -746 THEN 0
    WHEN x > 0 THEN exp(x)
    ELSE relgrad.impl_mul(exp(x + 100), exp(-100::double precision)) END;
END $$;

CREATE FUNCTION relgrad.impl_ln(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN ln(x) WHEN x = 0 THEN '-Infinity' ELSE 'NaN' END;
END $$;

CREATE FUNCTION relgrad.impl_log10(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN log(x) WHEN x = 0 THEN '-Infinity' ELSE 'NaN' END;
END $$;

CREATE FUNCTION relgrad.impl_sqrt(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x < 0 THEN 'NaN' ELSE sqrt(x) END;
END $$;

-- ln(1 + x) and exp(x) - 1 without cancellation, by Kahan's corrections (Higham, Accuracy and Stability of Numerical
-- Algorithms, 2nd edition, section 1.14).
CREATE FUNCTION relgrad.impl_log1p(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN 1 + x = 1 OR x = 'NaN' THEN x WHEN x >= 1e15 OR x <= -1 THEN relgrad.impl_ln(1 + x) ELSE ln(1 + x) * (x / ((1 + x) - 1)) END;
END $$;

CREATE FUNCTION relgrad.impl_expm1(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN abs(x) < 1e-16 OR x = 'NaN' THEN x WHEN x < -40 THEN -1 WHEN x > 1 THEN relgrad.impl_exp(x) - 1
    WHEN exp(x) = 1 THEN x ELSE (exp(x) - 1) * (x / ln(exp(x))) END;
END $$;

-- x ^ y as C's pow has it. Numbers near the ends of the range are squares of x ^ (y / 2).
CREATE FUNCTION relgrad.impl_pow(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN y = 0 OR x = 1 THEN 1
    WHEN x = 'NaN' OR y = 'NaN' THEN 'NaN'
    WHEN x = 0 AND y > 0 THEN CASE WHEN relgrad.impl_signbit(x) AND abs(y) < 1e16 AND floor(y) = y AND floor(y / 2) <> y / 2 THEN '-0'::double precision ELSE 0 END
    WHEN x = 0 THEN CASE WHEN relgrad.impl_signbit(x) AND abs(y) < 1e16 AND floor(y) = y AND floor(y / 2) <> y / 2 THEN '-Infinity' ELSE 'Infinity'::double precision END
    WHEN abs(y) = 'Infinity' THEN CASE WHEN abs(x) = 1 THEN 1 WHEN (abs(x) > 1) = (y > 0) THEN 'Infinity' ELSE 0::double precision END
    WHEN x < 0 AND x > '-Infinity' AND floor(y) <> y THEN 'NaN'
    WHEN abs(x) = 'Infinity' THEN CASE WHEN y > 0 THEN 'Infinity'::double precision ELSE 0 END
      * CASE WHEN x < 0 AND abs(y) < 1e16 AND floor(y) = y AND floor(y / 2) <> y / 2 THEN -1 ELSE 1 END
    WHEN relgrad.impl_mul(y, ln(abs(x))) BETWEEN -700 AND 709 THEN power(x, y)
    ELSE CASE WHEN relgrad.impl_mul(y, ln(abs(x))) > 1400 THEN 'Infinity'::double precision WHEN relgrad.impl_mul(y, ln(abs(x))) < -1400 THEN 0
        ELSE relgrad.impl_mul(power(abs(x), y / 2), power(abs(x), y / 2)) END
      * CASE WHEN x < 0 AND abs(y) < 1e16 AND floor(y / 2) <> y / 2 THEN -1 ELSE 1 END
    END;
END $$;

-- A polynomial by Horner's rule, coefficients from the constant on.
CREATE FUNCTION relgrad.impl_poly(x double precision, c double precision[]) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE y double precision := 0;
BEGIN
  FOR i IN REVERSE cardinality(c)..1 LOOP
    y := y * x + c[i];
  END LOOP;
  RETURN y;
END $$;

-- 1 - erf(x), and erf below: the rational approximations of FreeBSD's s_erf.c (Copyright (C) 1993 by Sun Microsystems, Inc. All
-- rights reserved. Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and distribute this
-- software is freely granted, provided that this notice is preserved).
CREATE FUNCTION relgrad.impl_erfc(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  a double precision := abs(x);
  s double precision;
  z double precision;
  y double precision;
BEGIN
  IF x = 'NaN' THEN
    RETURN x;
  ELSIF a < 1e-17 THEN
    RETURN 1 - x;
  ELSIF a < 0.84375 THEN
    y := relgrad.impl_poly(x * x, '{0.12837916709551256, -0.3250421072470015, -0.02848174957559851, -0.005770270296489442, -2.3763016656650163e-05}')
       / relgrad.impl_poly(x * x, '{1, 0.39791722395915535, 0.0650222499887673, 0.005081306281875766, 0.00013249473800432164, -3.960228278775368e-06}');
    IF x < 0.25 THEN
      RETURN 1 - (x + x * y);
    END IF;
    RETURN 0.5 + (0.5 - x - x * y);
  ELSIF a < 1.25 THEN
    s := a - 1;
    y := relgrad.impl_poly(s, '{-0.0023621185607526594, 0.41485611868374833, -0.3722078760357013, 0.31834661990116175, -0.11089469428239668, 0.035478304325618236, -0.002166375594868791}')
       / relgrad.impl_poly(s, '{1, 0.10642088040084423, 0.540397917702171, 0.07182865441419627, 0.12617121980876164, 0.01363708391202905, 0.011984499846799107}');
    RETURN CASE WHEN x > 0 THEN 1 - 0.8450629115104675 - y ELSE 1 + (0.8450629115104675 + y) END;
  ELSIF a > 28 THEN
    RETURN CASE WHEN x > 0 THEN 0 ELSE 2 END;
  END IF;
  s := 1 / (a * a);
  IF a < 1 / 0.35 THEN
    y := relgrad.impl_poly(s, '{-0.009864944034847148, -0.6938585727071818, -10.558626225323291, -62.375332450326006, -162.39666946257347, -184.60509290671104, -81.2874355063066, -9.814329344169145}')
       / relgrad.impl_poly(s, '{1, 19.651271667439257, 137.65775414351904, 434.56587747522923, 645.3872717332679, 429.00814002756783, 108.63500554177944, 6.570249770319282, -0.0604244152148581}');
  ELSIF x < -6 THEN
    RETURN 2;
  ELSE
    y := relgrad.impl_poly(s, '{-0.0098649429247001, -0.799283237680523, -17.757954917754752, -160.63638485582192, -637.5664433683896, -1025.0951316110772, -483.5191916086514}')
       / relgrad.impl_poly(s, '{1, 30.33806074348246, 325.7925129965739, 1536.729586084437, 3199.8582195085955, 2553.0504064331644, 474.52854120695537, -22.44095244658582}');
  END IF;
  z := floor(a * 1048576) / 1048576; -- its square is exact
  y := relgrad.impl_div(relgrad.impl_mul(relgrad.impl_exp(-z * z - 0.5625), exp((z - a) * (z + a) + y)), a);
  RETURN CASE WHEN x > 0 THEN y ELSE 2 - y END;
END $$;

CREATE FUNCTION relgrad.impl_erf(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  IF abs(x) < 1e-8 THEN
    RETURN relgrad.impl_mul(x, 1.1283791670955126);
  ELSIF abs(x) < 0.84375 THEN
    RETURN x + x * relgrad.impl_poly(x * x, '{0.12837916709551256, -0.3250421072470015, -0.02848174957559851, -0.005770270296489442, -2.3763016656650163e-05}')
                 / relgrad.impl_poly(x * x, '{1, 0.39791722395915535, 0.0650222499887673, 0.005081306281875766, 0.00013249473800432164, -3.960228278775368e-06}');
  ELSIF x < 0 THEN
    RETURN relgrad.impl_erfc(-x) - 1;
  END IF;
  RETURN 1 - relgrad.impl_erfc(x);
END $$;

CREATE FUNCTION relgrad.impl_sigmoid(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x < 0 THEN relgrad.impl_exp(x) / (1 + relgrad.impl_exp(x)) ELSE 1 / (1 + relgrad.impl_exp(-x)) END;
END $$;

-- The derivative of the sigmoid.
CREATE FUNCTION relgrad.impl_slope(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE e double precision := relgrad.impl_exp(-abs(x));
BEGIN
  RETURN relgrad.impl_div(relgrad.impl_div(e, 1 + e), 1 + e);
END $$;

-- sigmoid(z) - y, in factors that are exact where y is 0 or 1.
CREATE FUNCTION relgrad.impl_bce_slope(z double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  e double precision := relgrad.impl_exp(-abs(z));
  a double precision := relgrad.impl_add(1, -y);
BEGIN
  RETURN relgrad.impl_div(CASE WHEN z < 0 THEN relgrad.impl_add(relgrad.impl_mul(a, e), -y) ELSE relgrad.impl_add(a, -relgrad.impl_mul(y, e)) END, 1 + e);
END $$;

CREATE FUNCTION relgrad.impl_bce(z double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN z > 0 THEN relgrad.impl_add(relgrad.impl_mul(z, relgrad.impl_add(1, -y)), relgrad.impl_log1p(relgrad.impl_exp(-z)))
    ELSE relgrad.impl_add(relgrad.impl_log1p(relgrad.impl_exp(z)), -relgrad.impl_mul(z, y)) END;
END $$;

-- The upper half of a number's digits (Veltkamp): its square, and its product with another upper half, are exact.
CREATE FUNCTION relgrad.impl_upper(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN 134217729 * x - (134217729 * x - x);
END $$;

-- e ^ (-c * x * x) for c = 1 or 0.5, with the square in two parts.
CREATE FUNCTION relgrad.impl_bell(x double precision, c double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  a double precision := least(abs(x), 64);
  hi double precision := relgrad.impl_upper(a);
BEGIN
  IF x = 'NaN' THEN
    RETURN x;
  END IF;
  IF a < 1e-100 THEN
    RETURN 1;
  END IF;
  RETURN relgrad.impl_mul(relgrad.impl_exp(-c * hi * hi), relgrad.impl_exp(-c * (a - hi) * (a + hi)));
END $$;

-- The distribution function of the standard normal distribution: x / sqrt(2) in two parts (Dekker).
CREATE FUNCTION relgrad.impl_normal_cdf(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  r CONSTANT double precision := 0.7071067811865476;
  z double precision;
  low double precision;
BEGIN
  IF x = 'NaN' OR abs(x) > 40 OR abs(x) < 1e-100 THEN
    RETURN CASE WHEN x = 'NaN' THEN x WHEN x > 40 THEN 1 WHEN x < -40 THEN 0 ELSE 0.5 END;
  END IF;
  z := -x * r;
  low := ((relgrad.impl_upper(-x) * relgrad.impl_upper(r) - z) + relgrad.impl_upper(-x) * (r - relgrad.impl_upper(r)) + (-x - relgrad.impl_upper(-x)) * relgrad.impl_upper(r))
    + (-x - relgrad.impl_upper(-x)) * (r - relgrad.impl_upper(r)) + x * 4.833646656726457e-17;
  RETURN relgrad.impl_mul(relgrad.impl_erfc(z), 0.5) - relgrad.impl_mul(relgrad.impl_bell(z, 1), low * 0.5641895835477563);
END $$;

-- 1 / (1 + x * x).
CREATE FUNCTION relgrad.impl_atan_slope(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE q double precision := CASE WHEN abs(x) > 1 THEN relgrad.impl_div(1, x) ELSE x END;
BEGIN
  q := relgrad.impl_mul(q, q);
  RETURN CASE WHEN abs(x) > 1 AND x <> 'NaN' THEN relgrad.impl_div(q, 1 + q) ELSE relgrad.impl_div(1, 1 + q) END;
END $$;

-- NaN where one of the two is, and so the smaller.
CREATE FUNCTION relgrad.impl_larger(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN greatest(x, y);
END $$;

CREATE FUNCTION relgrad.impl_smaller(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x = 'NaN' OR y = 'NaN' THEN 'NaN' ELSE least(x, y) END;
END $$;

CREATE FUNCTION relgrad.impl_huber(x double precision, delta double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN x <> 'NaN' AND abs(x) > delta AND delta <> 'NaN' THEN relgrad.impl_mul(delta, relgrad.impl_add(abs(x), -relgrad.impl_div(delta, 2)))
    ELSE relgrad.impl_div(relgrad.impl_mul(x, x), 2) END;
END $$;

-- The sum of numbers; that of none is 0. It is exact in its range, as impl_add is.
CREATE AGGREGATE relgrad.impl_sum(x double precision) (SFUNC = relgrad.impl_add, STYPE = double precision, INITCOND = '0', PARALLEL = SAFE);
