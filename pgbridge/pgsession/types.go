package pgsession

import "github.com/jackc/pgx/v5/pgtype"

// typeNames names the types by which psql aligns a column or JSON writes a value; the others are text to both.
var typeNames = map[uint32]string{
	pgtype.BoolOID: "boolean", pgtype.Int2OID: "smallint", pgtype.Int4OID: "integer", pgtype.Int8OID: "bigint",
	pgtype.Float4OID: "real", pgtype.Float8OID: "double precision", pgtype.NumericOID: "numeric", pgtype.OIDOID: "oid",
	pgtype.XIDOID: "xid", pgtype.XID8OID: "xid8", pgtype.CIDOID: "cid", moneyOID: "money", pgtype.JSONOID: "json",
	pgtype.JSONBOID: "jsonb",

	pgtype.BoolArrayOID: "boolean[]", pgtype.Int2ArrayOID: "smallint[]", pgtype.Int4ArrayOID: "integer[]",
	pgtype.Int8ArrayOID:   "bigint[]",
	pgtype.Float4ArrayOID: "real[]", pgtype.Float8ArrayOID: "double precision[]", pgtype.NumericArrayOID: "numeric[]",
	pgtype.TextArrayOID: "text[]", pgtype.VarcharArrayOID: "text[]",
}

// moneyOID is the type money's (pg_type.dat).
const moneyOID = 790
