package serverstest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewriteFlag = flag.Bool("rewrite", false, "rewrite the expected texts")

// texts: the statements that servers run for a loss are those in testdata, by each kind of exchange.
func (s *servers) texts(t *testing.T) {
	for _, m := range models {
		if strings.Contains(m.train, "batch =>") { // whose loss is another model's
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			s := s.of(t)
			c := s.called
			c.must("%s", m.setup)
			c.must("DROP VIEW loss; DROP VIEW IF EXISTS hidden")
			for _, x := range m.spread {
				s.spread(x.name, x.columns, x.by, x.keyed)
			}
			c.must("%s", m.setup[strings.Index(m.setup, "CREATE VIEW"):])
			c.must("SET relgrad.engine = sql")
			text := strings.Join(c.must("SELECT explain_gradient('loss', '%s', 'sql')", m.params[0][0]), "\n") + "\n"
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
