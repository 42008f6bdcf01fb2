package docstest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/relgrad/relgrad/internal/need"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// TestLinks: every page is linked from README.md, and a link to a heading meets one.
func TestLinks(t *testing.T) {
	text := map[string]string{}
	for _, name := range append(pages(t), "ARCHITECTURE.md", "CONTRIBUTING.md") {
		data, err := os.ReadFile(filepath.Join(need.Root(), name))
		if err != nil {
			t.Fatal(err)
		}
		text[name] = fenced.ReplaceAllString(string(data), "")
	}
	linked := map[string]bool{}
	for name, page := range text {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			to := name
			if m[1] != "" {
				to = path.Join(path.Dir(name), m[1])
			}
			linked[name+" "+to] = true
			target, ok := text[to]
			if !ok && m[2] != "" { // a folder's own page
				data, err := os.ReadFile(filepath.Join(need.Root(), to))
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				target = fenced.ReplaceAllString(string(data), "")
			}
			if m[2] != "" && !strings.Contains(anchors(target), m[2]+"\n") {
				t.Errorf("%s links %s%s, a heading that does not exist", name, to, m[2])
			}
		}
	}
	for name := range text {
		if name != "README.md" && !linked["README.md "+name] {
			t.Errorf("README.md does not link %s", name)
		}
	}
}

// anchors lists the names of a page's headings, as GitHub makes them, one a line.
func anchors(page string) string {
	var b strings.Builder
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		b.WriteByte('#')
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
