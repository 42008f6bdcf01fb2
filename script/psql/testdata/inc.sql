\echo in :{?x}
\q
\echo never
