// Package citus tells where Citus keeps the rows of a distributed table.
//
// # What
//
// A table that Citus distributes is one of the coordinator whose rows are in shards: ordinary tables of worker nodes,
// which Citus's catalogues list (https://docs.citusdata.com/en/stable/develop/api_metadata.html). Sessions at the
// nodes read them as parts of the table.
//
// # Invariants
//
// Only shards with one placement each, of tables that are distributed by a column, are parts. Reference tables and
// local ones are read through Citus.
//
// # Errors
//
// None of its own.
//
// # Where to add
//
// Another way of distributing: Shards.
package citus

import (
	"strconv"
	"strings"

	"github.com/relgrad/relgrad/catalog"
)

// Node begins the name of a worker node among names of servers; its address follows.
const Node = "citus node "

// Installed asks whether the database has Citus.
const Installed = `SELECT 1 FROM pg_catalog.pg_extension WHERE extname OPERATOR(pg_catalog.=) 'citus'`

// Shards asks for the shards of the table with the oid $1, in the order of the hashes of their rows: the node's address
// ("" for this one), the shard's schema and name, the least hash, the column of the distribution if it is of integers;
// nothing if the table is not distributed by hash, or has row-level security.
const Shards = `SELECT CASE WHEN p.groupid OPERATOR(pg_catalog.=)
   (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l)
  THEN '' ELSE pg_catalog.concat(n.nodename, ':', n.nodeport) END,
 ns.nspname::pg_catalog.text, name.parts[pg_catalog.cardinality(name.parts)], s.shardminvalue,
 CASE WHEN a.atttypid OPERATOR(pg_catalog.=) ANY (ARRAY['int2'::pg_catalog.regtype, 'int4'::pg_catalog.regtype,
  'int8'::pg_catalog.regtype]::pg_catalog.oid[]) THEN a.attname::pg_catalog.text END,
 pg_catalog.count(*) OVER (PARTITION BY s.shardid)
FROM pg_catalog.pg_dist_partition d
 JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.logicalrelid::pg_catalog.oid
 JOIN pg_catalog.pg_namespace ns ON ns.oid OPERATOR(pg_catalog.=) c.relnamespace
 JOIN pg_catalog.pg_dist_shard s ON s.logicalrelid OPERATOR(pg_catalog.=) d.logicalrelid
 JOIN pg_catalog.pg_dist_placement p ON p.shardid OPERATOR(pg_catalog.=) s.shardid
 JOIN pg_catalog.pg_dist_node n ON n.groupid OPERATOR(pg_catalog.=) p.groupid
  AND n.noderole OPERATOR(pg_catalog.=) 'primary'
 CROSS JOIN LATERAL pg_catalog.parse_ident(pg_catalog.shard_name(d.logicalrelid, s.shardid)) AS name(parts)
 LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname::pg_catalog.text
  OPERATOR(pg_catalog.=) pg_catalog.column_to_column_name(d.logicalrelid, d.partkey)
WHERE d.logicalrelid::pg_catalog.oid OPERATOR(pg_catalog.=) $1 AND d.partmethod OPERATOR(pg_catalog.=) 'h'
 AND NOT c.relrowsecurity
ORDER BY s.shardminvalue::pg_catalog.int8`

// Method asks how Citus distributes the table with the oid $1: 'n' is a reference table, or a local one that Citus
// knows; nothing if it does not know the table.
const Method = `SELECT d.partmethod FROM pg_catalog.pg_dist_partition d
WHERE d.logicalrelid::pg_catalog.oid OPERATOR(pg_catalog.=) $1`

// Nodes asks for the names of the worker nodes that are not this one.
const Nodes = `SELECT pg_catalog.concat('` + Node + `', n.nodename, ':', n.nodeport) FROM pg_catalog.pg_dist_node n
WHERE n.isactive AND n.noderole OPERATOR(pg_catalog.=) 'primary' AND n.groupid OPERATOR(pg_catalog.<>)
 (SELECT l.groupid FROM pg_catalog.pg_dist_local_group l) ORDER BY 1`

// At asks for the shards at the node of the name $1: the table, the shard's schema and name.
const At = `SELECT s.logicalrelid::pg_catalog.regclass::pg_catalog.text, ns.nspname::pg_catalog.text,
 name.parts[pg_catalog.cardinality(name.parts)]
FROM pg_catalog.pg_dist_shard s
 JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) s.logicalrelid::pg_catalog.oid
 JOIN pg_catalog.pg_namespace ns ON ns.oid OPERATOR(pg_catalog.=) c.relnamespace
 JOIN pg_catalog.pg_dist_placement p ON p.shardid OPERATOR(pg_catalog.=) s.shardid
 JOIN pg_catalog.pg_dist_node n ON n.groupid OPERATOR(pg_catalog.=) p.groupid
 CROSS JOIN LATERAL pg_catalog.parse_ident(pg_catalog.shard_name(s.logicalrelid, s.shardid)) AS name(parts)
WHERE pg_catalog.concat('` + Node + `', n.nodename, ':', n.nodeport) OPERATOR(pg_catalog.=) $1 ORDER BY 1, 2, 3`

// Distribute has Citus spread the rows of the table of the name $1 by the hash of the column $2.
const Distribute = `SELECT pg_catalog.create_distributed_table($1::pg_catalog.regclass, $2)`

// Undistribute has Citus bring the rows of the table of the name $1 back.
const Undistribute = `SELECT pg_catalog.undistribute_table($1::pg_catalog.regclass)`

// Options asks for the options of a connection to a node, as pairs of a key and a value: those of citus.node_conninfo,
// this session's database and role; and relgrad.server_timeout.
const Options = `SELECT (SELECT t.setting FROM pg_catalog.pg_settings t
  WHERE t.name OPERATOR(pg_catalog.=) 'citus.node_conninfo'), pg_catalog.current_database()::pg_catalog.text,
 current_user::pg_catalog.text, (SELECT t.setting FROM pg_catalog.pg_settings t
  WHERE t.name OPERATOR(pg_catalog.=) 'relgrad.server_timeout')`

// Parts makes parts of the rows of Shards; none where a shard has several placements.
func Parts(rows [][]string) (out catalog.Parts) {
	const numbers, least = 1 << 32, -1 << 31
	out.Citus = true
	even := len(rows) > 0
	for i, row := range rows {
		if row[5] != "1" {
			return catalog.Parts{}
		}
		part := catalog.Part{Schema: row[1], Name: row[2]}
		if row[0] != "" {
			part.Server = Node + row[0]
		}
		from, err := strconv.ParseInt(row[3], 10, 64)
		even = even && err == nil && from == least+int64(i)*(numbers/int64(len(rows)))
		out.List, out.By = append(out.List, part), row[4]
	}
	if !even { // shards have been split
		out.By = ""
	}
	return out
}

// Connection are the options of a connection to a node, by the row of Options.
func Connection(name string, row []string) map[string]string {
	out := map[string]string{}
	for _, pair := range strings.Fields(row[0]) {
		if key, value, ok := strings.Cut(pair, "="); ok {
			out[key] = strings.Trim(value, "'")
		}
	}
	address := strings.TrimPrefix(name, Node)
	at := strings.LastIndex(address, ":")
	out["host"], out["port"], out["dbname"], out["user"] = address[:max(at, 0)], address[at+1:], row[1], row[2]
	return out
}
