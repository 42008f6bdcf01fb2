-- Dates and times, and to_char with every pattern.
SELECT to_char(t, 'HH') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'HH12') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'HH24') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MI') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'SS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'US') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF1') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF2') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF3') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF4') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF5') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FF6') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'SSSS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'SSSSS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'AM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'am') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'A.M.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'a.m.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'PM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'pm') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'P.M.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'p.m.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Y,YYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Y') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'I') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'BC') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'bc') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'B.C.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'b.c.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'AD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'ad') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'A.D.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'a.d.') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MONTH') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Month') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'month') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MON') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Mon') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'mon') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DAY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Day') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'day') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Dy') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'dy') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DDD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IDDD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'D') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'ID') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'W') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'WW') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IW') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'CC') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'J') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Q') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'RM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'rm') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'TZ') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'tz') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'TZH') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'TZM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'OF') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('1999-12-31 00:05:09.000001'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FMMonth') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FMDD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DDth') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DDTH') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FMDDth') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FMHH24:FMMI:FMSS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY-MM-DD HH24:MI:SS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY/MM/DD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYYMMDD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DD.MM.YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Mon DD, YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Month DD YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '"Day" DD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY"y"MM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'HH:MI AM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'HH12:MI:SS.MS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MI:SS.US') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY-MM-DDTHH24:MI:SS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Dy, DD Mon YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
--! refused 0A000
SELECT to_char(t, 'TMMonth') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
--! refused 0A000
SELECT to_char(t, 'DSP') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
--! refused 0A000
SELECT to_char(t, 'FX YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'yyyy-mm-dd') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'hh24:mi') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Y,YYY BC') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'abc') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'hello YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYY\"x') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '\YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYYth') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MMTH') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '2006-01-02') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'Monday January 15') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'FMDay, FMDD') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'DAYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MONDAY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'QQ') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'IYYY-IW-ID') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'WWW') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'HH24MISS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'YYYYMM') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'a') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'D day') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'MSUS') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '05') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'PM2006') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, '%Y-%m-%d') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(t, 'é YYYY') FROM (VALUES (timestamp '2001-02-16 20:38:40.12'), ('2024-02-29 12:00:00'), ('2020-08-04 08:09:00')) v(t);
SELECT to_char(DATE '2020-08-04', 'YYYY-MM-DD HH24');
SELECT to_char(timestamptz '2020-08-04 10:00:00+02', 'YYYY-MM-DD HH24:MI');
SELECT to_char(timestamptz '2020-08-04 10:00:00+02', 'TZ');
--! refused 42883
SELECT to_char(12, '999');
--! refused 42883
SELECT to_char(1234.5, '9,999.99');
--! refused 42883
SELECT to_char(-1, '000');
--! refused 42883
SELECT to_char(1.5::float8, 'FM9.9');
SELECT to_char(NULL::timestamp, 'YYYY') IS NULL;
--! both 42725
SELECT to_char('2020-08-04', 'YYYY');
--! refused 42883
SELECT to_date('2020-01-01', 'YYYY-MM-DD');
--! refused 42883
SELECT to_timestamp('2020', 'YYYY');
--! refused 42883
SELECT to_number('12', '99');
SELECT '2500-01-01'::date - '1900-01-01'::date, '0001-01-01'::date - '9999-12-31'::date, '2020-03-01'::date - '2020-02-01'::date;
SELECT '2020-01-31'::date + 1, '2020-01-01'::date - 1, 1 + '2020-01-01'::date;
--! both 22008
SELECT '2020-01-01'::date + 2147483647;
--! refused 22008
SELECT '2020-01-01'::date + 5000000;
--! refused 22008
SELECT '0001-01-01'::date - 1;
--! refused 22008
SELECT '0001-01-01'::date - 400;
--! refused 22008
SELECT '9999-12-31'::date + 1;
--! refused 22007
SELECT 'infinity'::date;
--! refused 22007
SELECT '-infinity'::timestamp;
--! both 22008
SELECT '2020-02-30'::date;
--! both 22008
SELECT '2020-13-01'::date;
SELECT '2020-1-5'::date, '20200105'::date, '2020/01/05'::date, '2020-01-05 10:00'::date;
--! refused 22007
SELECT 'Jan 5, 2020'::date;
--! refused 22007
SELECT '1/8/1999'::date;
SELECT '2020-01-05T10:00:00'::timestamp, '2020-01-05 10:00'::timestamp, '2020-01-05 10:00:00.123456789'::timestamp, '2020-01-05'::timestamp;
SELECT '2020-01-05 10:00:00.1234565'::timestamp, '2020-01-05 23:59:59.9999999'::timestamp;
--! refused 22007
SELECT '2020-01-05 24:00:00'::timestamp;
--! refused 22007
SELECT '2020-01-05 10:00:60'::timestamp;
--! both 22007 22008
SELECT '2020-01-05 25:00:00'::timestamp;
SELECT '2020-01-05 10:00:00+02'::timestamp, '2020-01-05 10:00:00+02'::timestamptz, '2020-01-05 10:00:00+05:30'::timestamptz, '2020-01-05 10:00:00Z'::timestamptz;
--! refused 22007
SELECT '2020-01-05 10:00:00 UTC'::timestamptz;
SELECT '2020-01-05 10:00:00-08'::timestamptz::date, '2020-01-05'::date::timestamptz, '2020-01-05 23:00'::timestamp::date;
SELECT timestamp '2020-01-05 10:00' = date '2020-01-05';
SELECT timestamp '2020-01-05' = date '2020-01-05';
SELECT timestamptz '2020-01-05' = date '2020-01-05';
--! refused 22007
SELECT timestamptz '2020-01-05 00:00+00' = timestamp '2020-01-05';
SELECT date '2020-01-05' < timestamp '2020-01-05 00:00:01', date '2020-01-05' < timestamptz '2020-01-05 00:00:01';
SELECT '2020-01-05' < date '2020-01-06', greatest(date '2020-01-05', '2020-1-6'), least(date '2020-01-05', timestamp '2020-01-04 12:00');
SELECT x FROM (VALUES (timestamp '2020-01-05 10:00:00'), ('2020-01-05 10:00:00.5'), ('2020-01-05 09:00'), ('2020-01-05 10:00:00.05')) v(x) ORDER BY x;
SELECT timestamptz '2020-01-05 10:00:00.5' > timestamptz '2020-01-05 10:00:00', timestamptz '2020-01-05 10:00:00.5+00' < timestamptz '2020-01-05 10:00:01+00';
SELECT max(x), min(x) FROM (VALUES (timestamptz '2020-01-05 10:00:00'), ('2020-01-05 10:00:00.5'), ('2020-01-05 10:00:00.05')) v(x);
SELECT extract(year FROM date '2020-02-29'), extract(month FROM timestamp '2020-02-29 10:00'), extract(day FROM date '2020-02-29'), extract(hour FROM timestamp '2020-02-29 10:00'), extract(minute FROM timestamp '2020-02-29 10:07');
SELECT extract(second FROM timestamp '2020-02-29 10:00:07.5'), extract(epoch FROM timestamp '2020-02-29 10:00:07.5'), extract(epoch FROM date '2020-02-29'), extract(epoch FROM timestamptz '2020-02-29 10:00:07+02');
SELECT extract(dow FROM date '2020-03-01'), extract(isodow FROM date '2020-03-01'), extract(doy FROM date '2020-12-31'), extract(week FROM date '2021-01-03'), extract(isoyear FROM date '2021-01-03'), extract(quarter FROM date '2020-12-31');
--! refused 22023
SELECT extract(century FROM date '2020-02-29');
--! refused 22023
SELECT extract(decade FROM date '2020-02-29');
--! refused 22023
SELECT extract(millennium FROM date '2020-02-29');
--! refused 22023
SELECT extract(milliseconds FROM timestamp '2020-02-29 10:00:07.5');
--! refused 22023
SELECT extract(microseconds FROM timestamp '2020-02-29 10:00:07.5');
--! refused 22023
SELECT extract(julian FROM date '2020-02-29');
--! both 0A000
SELECT extract(hour FROM date '2020-02-29');
--! refused 22007
SELECT extract(timezone FROM timestamptz '2020-02-29 10:00+00');
--! both 22023
SELECT extract(foo FROM date '2020-02-29');
SELECT date_part('year', date '2020-02-29'), date_part('second', timestamp '2020-02-29 10:00:07.25'), date_part('epoch', timestamp '1970-01-01 00:00:01'), date_part('hour', date '2020-02-29'), date_part('YEAR', timestamp '2020-01-01');
--! refused 22023
SELECT date_part('y', date '2020-02-29');
--! refused 22023
SELECT date_part('years', date '2020-02-29');
--! refused 22023
SELECT date_part('mon', date '2020-02-29');
SELECT date_trunc('year', timestamp '2020-02-29 10:11:12.5'), date_trunc('quarter', timestamp '2020-12-31'), date_trunc('month', date '2020-02-29'), date_trunc('week', timestamp '2020-03-01 05:00'), date_trunc('day', timestamp '2020-02-29 10:11:12');
SELECT date_trunc('hour', timestamp '2020-02-29 10:11:12.5'), date_trunc('minute', timestamp '2020-02-29 10:11:12.5'), date_trunc('second', timestamp '2020-02-29 10:11:12.5'), date_trunc('DAY', timestamp '2020-02-29 10:00');
SELECT date_trunc('day', timestamptz '2020-02-29 10:11:12+00'), date_trunc('hour', timestamptz '2020-02-29 10:11:12+05:30');
SELECT pg_typeof(date_trunc('day', timestamptz '2020-02-29')), pg_typeof(date_trunc('day', date '2020-02-29')), pg_typeof(date_trunc('day', timestamp '2020-02-29'));
--! refused 22023
SELECT date_trunc('decade', timestamp '2020-02-29');
--! refused 22023
SELECT date_trunc('century', timestamp '2020-02-29');
--! refused 22023
SELECT date_trunc('milliseconds', timestamp '2020-02-29 10:00:00.1234');
--! both 22023
SELECT date_trunc('foo', timestamp '2020-02-29');
SELECT make_date(2020, 2, 29), make_date(1, 1, 1);
--! both 22008
SELECT make_date(2021, 2, 29);
--! both 22008
SELECT make_date(0, 1, 1);
--! refused 22008
SELECT make_date(-5, 1, 1);
--! both 22008
SELECT make_date(2020, 13, 1);
--! refused 22008
SELECT make_date(20000, 1, 1);
SELECT to_timestamp(0), to_timestamp(1.5), to_timestamp(1580000000.123456), to_timestamp(-1);
--! refused 22008
SELECT to_timestamp(1e12);
--! refused 22008
SELECT to_timestamp('infinity'::float8);
SELECT to_timestamp(0.0000005), to_timestamp(0.1), to_timestamp(1284352323.1), to_timestamp(-0.3);
--! refused 0A000
SELECT date '2020-01-01' - timestamp '2020-01-01';
--! refused 0A000
SELECT timestamp '2020-01-02' - timestamp '2020-01-01';
--! refused 42704
SELECT date '2020-01-01' + interval '1 day';
--! refused 42883
SELECT age(date '2020-01-01', date '2019-01-01');
--! both 42883
SELECT date '2020-01-01' + 1.5;
--! both 42883
SELECT timestamp '2020-01-01' + 1;
SELECT date(timestamp '2020-01-01 10:00'), date('2020-01-01');
SELECT current_date = now()::date, localtimestamp <= clock_timestamp()::timestamp;
--! refused 42704
SELECT time '10:00';
--! refused 22007
SELECT '10000-01-01'::date;
--! refused 22007
SELECT '0044-03-15 BC'::date;
SELECT date '2020-01-01'::text;
SELECT timestamp '2020-01-01 10:00'::text;
--! refused 22007
SELECT timestamptz '2020-01-01 10:00+00'::text;
SELECT '2020-01-01'::date::text::timestamp;
SELECT d::date FROM (VALUES ('2020-01-01'), ('2020-1-2')) v(d);
SELECT d::timestamp = timestamp '2020-01-01' FROM (VALUES ('2020-01-01'), ('20200101')) v(d);
--! refused 42704
SELECT generate_series(date '2020-01-01', date '2020-01-03', interval '1 day');
--! refused 42883
SELECT isfinite(date '2020-01-01');
--! refused 22007
SELECT count(*) FROM (VALUES (timestamptz '2020-01-01 00:00+00'), ('2020-01-01 02:00+02')) v(x) GROUP BY x;
SELECT '2020-01-05 10:00:00.10'::timestamp, '2020-01-05 10:00:00.10'::timestamptz;
