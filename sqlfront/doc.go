// Package sqlfront contains the packages through which SQL text becomes a query of the algebra.
//
// # What
//
// ast holds the trees, parse makes them from text, print makes text from them, plpgsql parses bodies of PL/pgSQL, and
// bind turns a SELECT into a query of ra. Other packages work on trees; pg_query is seen in these only.
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
// See the page of each package.
package sqlfront
