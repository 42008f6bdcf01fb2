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

-- The natural logarithm: no error where there is none.
CREATE FUNCTION relgrad.impl_ln(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN ln(x) WHEN x = 0 THEN '-Infinity' ELSE 'NaN' END;
END $$;

CREATE FUNCTION relgrad.impl_log10(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN x > 0 THEN log(x) WHEN x = 0 THEN '-Infinity' ELSE 'NaN' END;
END $$;

-- The square root, NaN below 0.
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

-- e^x - 1, with all its digits where x is small.
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

-- The error function.
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

-- 1 / (1 + e^-x), without overflow.
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

-- bce_with_logits of numbers.
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

-- The logarithm to base 2, exact for powers of 2.
CREATE FUNCTION relgrad.impl_log2(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE y double precision := relgrad.impl_ln(x) / 0.6931471805599453;
BEGIN
  RETURN CASE WHEN abs(y) < 1e9 AND relgrad.impl_pow(2, round(y)) = x THEN round(y) ELSE y END;
END $$;

-- sqrt(x * x + y * y) without overflow of the squares, and x / hypot(x, y).
CREATE FUNCTION relgrad.impl_hypot(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  a double precision := greatest(abs(x), abs(y));
  r double precision;
BEGIN
  IF abs(x) = 'Infinity' OR abs(y) = 'Infinity' THEN
    RETURN 'Infinity';
  ELSIF a = 0 OR a = 'NaN' THEN
    RETURN a;
  END IF;
  r := relgrad.impl_div(least(abs(x), abs(y)), a);
  RETURN CASE WHEN r < 1e-9 THEN a ELSE relgrad.impl_mul(a, sqrt(1 + r * r)) END;
END $$;

CREATE FUNCTION relgrad.impl_hypot_slope(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE r double precision;
BEGIN
  IF x = 0 AND y = 0 THEN
    RETURN 0;
  ELSIF x = 'NaN' OR y = 'NaN' THEN
    RETURN 'NaN';
  ELSIF abs(x) >= abs(y) THEN
    r := relgrad.impl_div(abs(y), abs(x));
    RETURN sign(x) / sqrt(1 + relgrad.impl_mul(r, r));
  END IF;
  r := relgrad.impl_div(x, abs(y));
  RETURN relgrad.impl_div(r, sqrt(1 + relgrad.impl_mul(r, r)));
END $$;

-- ln|gamma(x)|: the rational approximations of FreeBSD's e_lgamma_r.c (Copyright (C) 1993 by Sun Microsystems, Inc. All rights
-- reserved. Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is
-- freely granted, provided that this notice is preserved).
CREATE FUNCTION relgrad.impl_lgamma(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  y double precision;
  z double precision;
  w double precision;
  r double precision := 0;
  u double precision := x;
BEGIN
  IF x = 'NaN' OR abs(x) = 'Infinity' THEN
    RETURN abs(x);
  ELSIF x <= 0 AND x = trunc(x) THEN
    RETURN 'Infinity';
  ELSIF abs(x) < 1e-21 THEN
    RETURN -ln(abs(x));
  ELSIF x < 0 THEN
    RETURN ln(pi() / (abs(sin(pi() * (x - round(x)))) * -x)) - relgrad.impl_lgamma(-x);
  ELSIF x = 1 OR x = 2 THEN
    RETURN 0;
  ELSIF x >= 1e17 THEN
    RETURN relgrad.impl_mul(x, ln(x) - 1);
  ELSIF x >= 8 THEN
    z := 1 / x;
    RETURN (x - 0.5) * (ln(x) - 1) + (0.4189385332046727 + z * relgrad.impl_poly(z * z, '{0.08333333333333297, -0.0027777777772877554, 0.0007936505586430196, -0.00059518755745034, 0.0008363399189962821, -0.0016309293409657527}'));
  ELSIF x >= 2 THEN
    y := x - floor(x);
    z := 1;
    FOR i IN 2..floor(x)::int - 1 LOOP
      z := z * (y + i);
    END LOOP;
    RETURN 0.5 * y + y * relgrad.impl_poly(y, '{-0.07721566490153287, 0.21498241596060885, 0.325778796408931, 0.14635047265246445, 0.02664227030336386, 0.0018402845140733772, 3.194753265841009e-05}') / relgrad.impl_poly(y, '{1, 1.3920053346762105, 0.7219355475671381, 0.17193386563280308, 0.01864591917156529, 0.0007779424963818936, 7.326684307446256e-06}') + ln(z);
  ELSIF x <= 0.9 THEN
    r := -ln(x);
    u := x + 1; -- which interval; y is exact
  END IF;
  IF u >= 1.73163214496836226 THEN
    y := CASE WHEN x <= 0.9 THEN 1 - x ELSE 2 - x END;
    z := y * y;
    RETURN r + (y * relgrad.impl_poly(z, '{0.07721566490153287, 0.06735230105312927, 0.007385550860814029, 0.0011927076318336207, 0.00022086279071390839, 2.5214456545125733e-05}') + z * relgrad.impl_poly(z, '{0.3224670334241136, 0.020580808432516733, 0.0028905138367341563, 0.0005100697921535113, 0.00010801156724758394, 4.4864094961891516e-05}') - 0.5 * y);
  ELSIF u >= 1.23163214496836226 THEN
    y := CASE WHEN x <= 0.9 THEN x - (1.46163214496836224576 - 1) ELSE x - 1.46163214496836224576 END;
    z := y * y;
    w := z * y;
    RETURN r + (-0.121486290535849611461 + (z * relgrad.impl_poly(w, '{0.48383612272381005, -0.032788541075985965, 0.006100538702462913, -0.0014034646998923284, 0.00031563207090362595}')
      - (-3.63867699703950536541e-18 - w * (relgrad.impl_poly(w, '{-0.1475877229945939, 0.01797067508118204, -0.0036845201678113826, 0.000881081882437654, -0.00031275416837512086}') + y * relgrad.impl_poly(w, '{0.06462494023913339, -0.010314224129834144, 0.0022596478090061247, -0.0005385953053567405, 0.0003355291926355191}')))));
  END IF;
  y := CASE WHEN x <= 0.9 THEN x ELSE x - 1 END;
  RETURN r + (-0.5 * y + y * relgrad.impl_poly(y, '{-0.07721566490153287, 0.6328270640250934, 1.4549225013723477, 0.9777175279633727, 0.22896372806469245, 0.013381091853678766}') / relgrad.impl_poly(y, '{1, 2.4559779371304113, 2.128489763798934, 0.7692851504566728, 0.10422264559336913, 0.003217092422824239}'));
END $$;

-- The cotangent of πx.
CREATE FUNCTION relgrad.impl_cot_pi(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE r double precision := x - round(x);
BEGIN
  RETURN CASE WHEN abs(r) > 0.25 THEN sign(r) * tan(pi() * (0.5 - abs(r))) ELSE relgrad.impl_div(1, tan(pi() * r)) END;
END $$;

-- The derivatives of lgamma; gamma.go in package kernels says how.
CREATE FUNCTION relgrad.impl_digamma(x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  y double precision := x;
  d double precision;
  shift double precision := 0;
BEGIN
  IF x = 'NaN' OR x <= 0 AND x = trunc(x) THEN
    RETURN 'NaN';
  ELSIF x < 0 THEN
    RETURN relgrad.impl_add(relgrad.impl_digamma(1 - x), -relgrad.impl_mul(pi(), relgrad.impl_cot_pi(x)));
  ELSIF x >= 1e17 THEN
    RETURN ln(x);
  ELSIF x >= 10 THEN
    d := 1 / x / x;
    RETURN ln(x) - 1 / (2 * x) - d * relgrad.impl_poly(d, ARRAY[1.0/12, -1.0/120, 1.0/252, -1.0/240, 5.0/660, -691.0/32760, 1.0/12,
      -3617.0/8160, 43867.0/14364, -174611.0/6600, 854513.0/3036, -236364091.0/65520]);
  END IF;
  WHILE y > 2 LOOP
    shift := shift + 1 / (y - 1);
    y := y - 1;
  END LOOP;
  IF y < 1 THEN
    shift := -relgrad.impl_div(1, y);
    y := y + 1;
  END IF;
  d := y - 1.4616321446374059 - 3.309564688275257e-10 - 0.9016312093258695918615e-19;
  RETURN relgrad.impl_add(shift, d * 0.99558162689208984375 + d * (
    relgrad.impl_poly(y - 1, '{0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784, -0.045251321448739056, -0.0020713321167745952}')
    / relgrad.impl_poly(y - 1, '{1, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225, 0.0021284987017821144, -0.55789841321675513e-6}')));
END $$;

-- The n-th derivative of pi * cot(pi * x), c = cot(pi * x): a polynomial in c.
CREATE FUNCTION relgrad.impl_cot_derivative(n int, c double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  p double precision[] := '{0, 1}';
  more double precision[];
  y double precision := 0;
BEGIN
  FOR i IN 1..n LOOP
    more := array_fill(0::double precision, ARRAY[i + 2]);
    FOR k IN 1..i LOOP
      more[k] := more[k] - k * p[k + 1];
      more[k + 2] := more[k + 2] - k * p[k + 1];
    END LOOP;
    p := more;
  END LOOP;
  FOR k IN REVERSE n + 2..1 LOOP
    y := relgrad.impl_add(relgrad.impl_mul(y, c), p[k]);
  END LOOP;
  RETURN relgrad.impl_mul(y, power(pi(), n + 1));
END $$;

CREATE FUNCTION relgrad.impl_polygamma(n int, x double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  sum double precision := 0;
  factor double precision := factorial(n - 1);
  since double precision := x;
  p double precision;
  term double precision;
  series double precision := 0;
  b CONSTANT double precision[] := ARRAY[1.0/6, -1.0/30, 1.0/42, -1.0/30, 5.0/66, -691.0/2730, 7.0/6, -3617.0/510, 43867.0/798,
    -174611.0/330, 854513.0/138, -236364091.0/2730];
BEGIN
  IF x = 'NaN' OR x <= 0 AND x = trunc(x) THEN
    RETURN CASE WHEN x = 'NaN' OR n % 2 = 0 THEN 'NaN' ELSE 'Infinity' END; -- from both sides
  ELSIF x < 0 THEN
    RETURN relgrad.impl_add(CASE WHEN n % 2 = 0 THEN 1 ELSE -1 END * relgrad.impl_polygamma(n, 1 - x),
      -relgrad.impl_cot_derivative(n, relgrad.impl_cot_pi(x)));
  ELSIF x < 15 + n THEN
    since := x + ceil(15 + n - x);
    FOR i IN REVERSE ceil(15 + n - x)::int..1 LOOP
      sum := relgrad.impl_add(sum, relgrad.impl_pow(relgrad.impl_div(1, x + (i - 1)), n + 1));
    END LOOP;
  END IF;
  p := relgrad.impl_pow(relgrad.impl_div(1, since), n);
  term := relgrad.impl_mul(factor * n * (n + 1) / 2, p);
  FOR k IN 1..12 LOOP
    term := relgrad.impl_div(relgrad.impl_div(term, since), since);
    series := relgrad.impl_add(series, relgrad.impl_mul(b[k], term));
    term := relgrad.impl_mul(term, (2.0 * k + n) * (2.0 * k + n + 1) / ((2.0 * k + 1) * (2.0 * k + 2)));
  END LOOP;
  RETURN CASE WHEN n % 2 = 0 THEN -1 ELSE 1 END * relgrad.impl_add(relgrad.impl_mul(sum, factor * n), relgrad.impl_add(
    relgrad.impl_mul(factor, p), relgrad.impl_add(relgrad.impl_div(relgrad.impl_mul(factor * n / 2, p), since), series)));
END $$;

-- NaN where one of the two is, and so the smaller.
CREATE FUNCTION relgrad.impl_larger(x double precision, y double precision) RETURNS double precision LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN greatest(x, y);
END $$;

-- The smaller of both, NaN where one is.
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
