package bind

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SQLite merges a sub-query into the outer query and then computes a column of it once for each place that mentions it.
// That is ruinous for columns that call kernels: norm(h.v + r.v - t.v) would be computed at each comparison. A fence is
// a sub-query (or CTE, or view) with such columns. It is printed as MATERIALIZED where, after the whole statement has
// been bound, one of its columns is used more than once. It is always MATERIALIZED where it calls a volatile function,
// which must be called once for each row.
type fence struct {
	cte, volatile bool
	rels          []*Relation // the relations that refer to it
}

// Marks around the printed text of a sub-query, which resolveFences replaces.
const (
	OpenMark  = "\x02"
	CloseMark = "\x03"
	endMark   = "\x04"
)

// addFence registers a sub-query that is volatile or has costly columns, and returns its number from 1; 0: neither.
func addFence(b *Binder, q *Query, cte, volatile bool) (costly []bool, id int) {
	costly = costlyColumns(b, q)
	if volatile {
		b.fences = append(b.fences, &fence{cte: cte, volatile: true})
		return costly, len(b.fences)
	}
	for _, c := range costly {
		if c {
			b.fences = append(b.fences, &fence{cte: cte})
			return costly, len(b.fences)
		}
	}
	return nil, 0
}

// useFence records a use of a fenced sub-query.
func useFence(b *Binder, id int, costly []bool, r *Relation) {
	if id == 0 {
		return
	}
	b.fences[id-1].rels = append(b.fences[id-1].rels, r)
	for i, c := range costly {
		if c {
			r.Columns[i].costly = true
			b.costlyRefs[r.Columns[i].SQL] = true
		}
	}
}

func openFence(id int) string  { return mark(OpenMark, id) }
func closeFence(id int) string { return mark(CloseMark, id) }

func mark(m string, id int) string {
	if id == 0 {
		return ""
	}
	return m + strconv.Itoa(id) + endMark
}

// needed decides whether to materialize, once everything is bound.
func (f *fence) needed() bool {
	if f.volatile || len(f.rels) > 1 {
		return true
	}
	for _, r := range f.rels {
		for _, c := range r.Columns {
			if c.costly && c.uses > 1 {
				return true
			}
		}
	}
	return false
}

var columnRefs = regexp.MustCompile(`\b[tv]\d+\.(c|column)\d+`)

// costlyColumns tells which columns of a query call functions written in Go, such as kernels, and would be computed
// again at each use. Queries that SQLite never merges (grouped, DISTINCT, LIMIT, windows) have none.
func costlyColumns(b *Binder, q *Query) []bool {
	out := make([]bool, len(q.Columns))
	switch {
	case q.single || q.distinct || q.limit != "" || q.on != "" || q.rows != nil || q.grouped:
	case q.l != nil:
		if q.op != "UNION ALL" {
			break
		}
		l, r := costlyColumns(b, q.l), costlyColumns(b, q.r)
		for i := range out {
			out[i] = l[i] || r[i]
		}
	default:
		for i, t := range q.Targets {
			out[i] = strings.Contains(t.SQL, "rg_k_") || strings.Contains(t.SQL, "rg_cast") ||
				strings.Contains(t.SQL, "rg_slice") ||
				strings.Contains(t.SQL, "_to_array") || len(b.costlyRefs) > 0 && mentionsCostly(b, t.SQL)
		}
	}
	return out
}

func mentionsCostly(b *Binder, sql string) bool {
	return slices.ContainsFunc(columnRefs.FindAllString(sql, -1), func(ref string) bool { return b.costlyRefs[ref] })
}

// resolveFences replaces the marks in the finished text.
func resolveFences(b *Binder, sql string) string {
	if len(b.fences) == 0 {
		return sql
	}
	var out strings.Builder
	for {
		i := strings.IndexAny(sql, OpenMark+CloseMark)
		if i < 0 {
			out.WriteString(sql)
			return out.String()
		}
		out.WriteString(sql[:i])
		end := strings.Index(sql[i:], endMark) + i
		id, _ := strconv.Atoi(sql[i+1 : end])
		if f := b.fences[id-1]; f.needed() {
			switch {
			case f.cte:
				out.WriteString("MATERIALIZED ")
			case sql[i:i+1] == OpenMark:
				out.WriteString("WITH m AS MATERIALIZED (")
			default:
				out.WriteString(") SELECT * FROM m")
			}
		}
		sql = sql[end+1:]
	}
}
