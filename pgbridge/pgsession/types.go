package pgsession

import "github.com/jackc/pgx/v5/pgtype"

// typeNames are the types that decide how psql aligns a column or JSON writes a value. Both treat the others as text.
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

// moneyOID is the OID of the type money (pg_type.dat).
const moneyOID = 790
