package serverstest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewriteFlag = flag.Bool("rewrite", false, "rewrite the expected texts")

// texts: the statements that servers run for a loss are those in testdata, which has those of the called server and of
// another one. All others have the same.
func (s *servers) texts(t *testing.T) {
	for _, m := range models {
		if strings.Contains(m.train, "batch =>") || strings.HasPrefix(m.name, "a sub-query") { // like another model
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			s := s.of(t)
			c := s.called
			c.must("%s", m.setup)
			s.spreadOut(m)
			c.must("SET relgrad.engine = sql")
			text := strings.Join(c.must("SELECT explain_gradient('loss', '%s', 'sql')", m.params[0][0]), "\n") + "\n"
			at := strings.Split(strings.TrimRight(text, "\n")+"\n", "-- at server ")
			for i, own := range at[1:] {
				if name := fmt.Sprintf("s%d\n", i+1); renumbered(own, i+1) != name+strings.
					TrimPrefix(renumbered(at[1], 1), "s1\n") {
					t.Errorf("a server runs other statements than the first:\n%s", own)
				}
			}
			if len(at) != 1+len(s.others) {
				t.Fatalf("%d servers run statements", len(at))
			}
			text = strings.Join(at[:2], "-- at server ")
			for _, x := range m.spread { // all rows are read where they are
				if m.paramsApart() {
					break
				}
				if strings.Contains(text, "FROM public."+x.name+"\n") {
					t.Errorf("a statement reads %s by its foreign tables:\n%s", x.name, text)
				}
			}
			path := filepath.Join("testdata", strings.NewReplacer(" ", "_", ",", "").Replace(m.name)+".sql")
			if *rewriteFlag {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil || string(want) != text {
				t.Errorf("%v: %s holds another text than (go test ./pgbridge/serverstest -run TestServers/texts -rewrite):\n%s",
					err, path, text)
			}
		})
	}
}

var columnName = regexp.MustCompile(`\bc\d+\b`)

// renumbered numbers the columns of a site's text in the order in which they occur. Rows without a key have numbers of
// their site.
func renumbered(text string, site int) string {
	names := map[string]string{}
	text = strings.ReplaceAll(text, fmt.Sprintf(" + %d AS ", int64(site)<<56), " + own AS ")
	return columnName.ReplaceAllStringFunc(text, func(name string) string {
		if names[name] == "" {
			names[name] = fmt.Sprintf("c%d", len(names)+1)
		}
		return names[name]
	})
}
