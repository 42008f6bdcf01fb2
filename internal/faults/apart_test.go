package faults

// Sites of different processes, and of different servers.
func init() {
	const (
		lines = "./executor/apart -timeout=60s"
	)
	faults = append(faults, []fault{
		{"a site of another process is sent the rows of the first one", "executor/apart.go",
			"out[s] = packedRows(d, d.rows[s], len(d.rows[s]))", "out[s] = packedRows(d, d.rows[0], len(d.rows[0]))", random},
		{"numbers of rows go to another site than the rows", "executor/apart.go", "out[s] = &values.Leave{Rows: d.rows[s]}",
			"out[s] = &values.Leave{Rows: d.rows[len(d.rows)-1-s]}", random},
		{"a column that is packed has its first row in all", "column/packed.go", "numbers[int(r)*row:int(r+1)*row]",
			"numbers[0*r:int32(row)]", "./column -run=TestPacked"},
		{"a turn brings what a site has sent itself", "executor/apart/conductor.go", "if from != site && site < len(list) {",
			"if site < len(list) {", lines},
		{"a database is asked between calls", "executor/apart/member.go",
			"	m.inside.Lock()\n	defer m.inside.Unlock()\n	return f()", "	return f()", lines},
		{"two pointers to one value are two values", "internal/encoded/encoded.go",
			"	w.at[v.Interface()] = uint64(len(w.at))\n", "", "./internal/encoded"},
		{"integers lie in other partitions than the server's", "optimizer/physical/function.go",
			"	if x < 0 {\n		high = ^high", "	if x > 0 {\n		high = ^high",
			"./pgbridge/serverstest -run=TestServers/places"},
	}...)
}
