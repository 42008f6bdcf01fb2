package docstest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/pgcluster"
)

var update = flag.Bool("update", false, "put what is printed into the pages")

var bin string // the folder of the relgrad binary, built once

func TestMain(m *testing.M) {
	need.Command(m, func(file string) { bin = filepath.Dir(file) })
}

// generated are the pages whose blocks the tests that write them have run.
var generated = []string{"docs/kernels.md", "docs/errors.md", "docs/commands.md"}

// pages lists README.md and the pages of docs, from the repository's root.
func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(need.Root(), "docs", "*.md"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d pages in docs (%v)", len(files), err)
	}
	out := []string{"README.md"}
	for _, f := range files {
		out = append(out, "docs/"+filepath.Base(f))
	}
	return out
}

// TestPages runs the blocks of every page in their order:
//
//	sql            statements for the page's store m.db, as relgrad run -q --store m.db - takes them from a terminal
//	sql refused    statements of which the last one must fail
//	psql           statements for the page's database on a server, as psql takes them; without a server the rest of
//	               the page is skipped
//	psql refused   those of which the last one must fail
//	sh             commands for bash in the page's folder, which relgrad is in the path of
//	text           a picture or a piece of syntax; not run
//	(none)         what the block before prints, messages included; a block that prints must be followed by one
func TestPages(t *testing.T) {
	ran := 0
	for _, name := range pages(t) {
		if slices.Contains(generated, name) {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(need.Root(), name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &page{t: t, name: name, dir: t.TempDir()}
			out := p.run(string(text))
			ran += p.ran
			if *update && out != string(text) {
				if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if ran < 50 && flag.Lookup("test.run").Value.String() == "" {
		t.Errorf("only %d blocks were run", ran)
	}
}

// page is a page being run.
type page struct {
	t    *testing.T
	name string
	dir  string // where its files and its store lie
	ran  int

	printed string // by the last block, until it is compared
	at      int    // line of that block

	server *pgcluster.Cluster // nil until it is needed
}

var fence = regexp.MustCompile("^```(.*)$")

// run runs a page and returns it with what is printed now.
func (p *page) run(text string) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := fence.FindStringSubmatch(strings.TrimRight(lines[i], "\n"))
		if m == nil {
			out.WriteString(lines[i])
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "```") {
			end++
		}
		if end == len(lines) {
			p.t.Fatalf("%s:%d: a block without an end", p.name, i+1)
		}
		body := strings.Join(lines[i+1:end], "")
		out.WriteString(lines[i])
		out.WriteString(p.block(m[1], body, i+1))
		out.WriteString(lines[end])
		i = end
	}
	p.done()
	return out.String()
}

// block runs or compares one block and returns its body.
func (p *page) block(kind, body string, line int) string {
	switch kind {
	case "sql", "sql refused", "sh", "psql", "psql refused":
		p.done()
		if strings.HasPrefix(kind, "psql") && p.server == nil {
			p.server = pgcluster.Start(p.t) // or the rest of the page is skipped
		}
		p.printed, p.at = p.execute(kind, body, line), line
		p.ran++
	case "":
		if p.at == 0 {
			p.t.Errorf("%s:%d: an output that belongs to no block", p.name, line)
			return body
		}
		got := p.printed
		p.printed, p.at = "", 0
		if err := p.same(body, got); err != nil && !*update {
			p.t.Errorf("%s:%d: %v; printed is\n%s", p.name, line, err, got)
		}
		if p.same(body, got) != nil {
			return got
		}
	case "text":
	default:
		p.t.Errorf("%s:%d: a block of kind %q", p.name, line, kind)
	}
	return body
}

// same compares what a page shows with what is printed; messages of errors are exact.
func (p *page) same(want, got string) error {
	want = strings.TrimRight(want, "\n") + "\n"
	if strings.Contains(got, "ERROR:") && want != got {
		return errors.New("the message differs from the document's")
	}
	return Same(want, got)
}

// done asks that the last block's output was shown.
func (p *page) done() {
	if p.at != 0 && p.printed != "\n" {
		p.t.Errorf("%s:%d: what this block prints is not shown:\n%s", p.name, p.at, p.printed)
	}
	p.printed, p.at = "", 0
}

// execute runs a block and returns what it prints.
func (p *page) execute(kind, body string, line int) string {
	cmd := exec.Command(filepath.Join(bin, "relgrad"), "run", "-q", "--store", "m.db", "-")
	switch {
	case strings.HasPrefix(kind, "psql"):
		cmd = exec.Command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", p.server.DSN)
	case kind == "sh":
		cmd = exec.Command("bash", "-euo", "pipefail", "-c", body)
	}
	if kind != "sh" {
		cmd.Stdin = strings.NewReader(body)
	}
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "PGOPTIONS=-c jit=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if refused := errors.As(err, &exit) && exit.ExitCode() == 3; refused != strings.HasSuffix(kind, " refused") ||
		err != nil && !refused {
		p.t.Errorf("%s:%d: a block of kind %q ended with %v\n%s", p.name, line, kind, err, out.String())
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}
