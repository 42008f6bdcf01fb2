package pgsuite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// suite gives the folder src/test/regress of PostgreSQL 15's source: that of RELGRAD_PGSUITE, or one that is fetched
// once.
func suite(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("RELGRAD_PGSUITE"); dir != "" {
		return dir
	}
	cache := filepath.Join(need.Root(), ".cache", "pgsuite")
	dir := filepath.Join(cache, "regress")
	if _, err := os.Stat(filepath.Join(dir, "sql", "test_setup.sql")); err == nil {
		return dir
	}
	if out, err := fetch(cache); err != nil {
		os.RemoveAll(cache)
		need.Absent(t, "pgsuite", "the source package of postgresql-15 could not be fetched ("+err.Error()+
			"); set RELGRAD_PGSUITE to its src/test/regress\n"+out)
	}
	return dir
}

// fetch gets the source by apt from where the machine's packages come from, with lists of its own: the machine's stay
// as they are.
func fetch(cache string) (string, error) {
	const script = `set -e
mkdir -p "$0/lists/partial" "$0/apt/archives/partial" && cd "$0"
mkdir -p parts
awk -v RS= -v ORS='\n\n' '!/-security/ { sub(/Types: [^\n]*/, "Types: deb-src"); print }' ` +
		`/etc/apt/sources.list.d/debian.sources > parts/debian.sources 2>/dev/null || rm -f parts/debian.sources
sed -n '/-security/d; s/^deb /deb-src /p' /etc/apt/sources.list > parts/sources.list 2>/dev/null || rm -f ` +
		`parts/sources.list
options="-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$0/parts -o Dir::State::lists=$0/lists -o ` +
		`Dir::Cache=$0/apt -o APT::Sandbox::User="
timeout 120 apt-get $options update
timeout 300 apt-get $options source --download-only postgresql-15
mkdir -p unpacked && tar xf postgresql-15_*.orig.tar.bz2 -C unpacked --strip-components=4 --wildcards ` +
		`'*/src/test/regress/sql/*' '*/src/test/regress/data/*'
mv unpacked regress && rm -rf lists apt parts postgresql-15_*`
	out, err := exec.Command("bash", "-c", script, cache).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n"), err
}
