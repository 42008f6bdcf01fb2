// Package sqlfront holds the rooms through which SQL text becomes a query of the algebra.
//
// # What
//
// ast holds the trees, parse makes them of text, print makes text of them, plpgsql reads bodies of PL/pgSQL, and bind
// turns a SELECT into a query of ra. Every other package works on trees; none sees pg_query.
//
//	SQL text ─► parse ─► ast ─► bind ─► ra
//	              ▲        │
//	           plpgsql     └─► print ─► SQL text
//
// # Invariants
//
// Positions are 0-based byte offsets into Text.SQL.
//
// # Errors
//
// *sqlerr.Error with SQLSTATE and position.
//
// # Where to add
//
// Each room's own page says it.
package sqlfront
