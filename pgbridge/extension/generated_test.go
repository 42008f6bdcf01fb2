package extension

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/kernels"
)

var update = flag.Bool("update", false, "rewrite relgrad--0.1.sql")

const file = "relgrad--0.1.sql"

// TestSQL compares the committed script with the registry. It runs before the tests that install the script.
func TestSQL(t *testing.T) {
	text, err := SQL()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != text {
		t.Errorf("%s is not what the registry says; run make golden and read the diff", file)
	}
}

// TestOverloads fixes the overloads of typical kernels.
func TestOverloads(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
	}{
		{"exp", "(double precision) double precision; (real[]) real[]; (double precision[]) double precision[]"},
		{"relu",
			"(real) real; (double precision) double precision; (real[]) real[]; (double precision[]) double precision[]"},
		{"add", "(real,real) real; (double precision,real) double precision; (real,double precision) double precision; " +
			"(double precision,double precision) double precision; " +
			"(real[],real[]) real[]; (double precision,real[]) real[]; (real[],double precision) real[]; " +
			"(double precision[],double precision[]) double precision[]; (double precision,double precision[]) double " +
			"precision[]; (double precision[],double precision) double precision[]"},
		{"matmul", "(real[],real[]) real[]; (double precision[],double precision[]) double precision[]"},
		{"dot", "(real[],real[]) double precision; (double precision[],double precision[]) double precision"},
		{"max_elements", "(real[]) double precision; (double precision[]) double precision; (real[],bigint) real[]; " +
			"(double precision[],bigint) double precision[]"},
		{"one_hot", "(bigint,bigint) double precision[]"},
		{"full", "(bigint[],double precision) double precision[]"},
		{"random_normal", "(bigint[],bigint) double precision[]; (bigint[],bigint,bigint[]) double precision[]"},
		{"dropout", "(real,double precision) real; (double precision,double precision) double precision; (real[],double " +
			"precision) real[]; (double precision[],double precision) double precision[]"},
		{"cross_entropy", "(real[],bigint) double precision; (double precision[],bigint) double precision"},
		{"reshape", "(real[],bigint[]) real[]; (double precision[],bigint[]) double precision[]"},
		{"current_step", "() bigint"},
		{"current_epoch", "() bigint"},
	} {
		var got []string
		for _, o := range overloads(kernels.Lookup(c.name)) {
			got = append(got, "("+strings.Join(o.types, ",")+") "+sqlType(o.result))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestSymbols checks that every function of the script is a C function, and that every C function is used.
func TestSymbols(t *testing.T) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var used, defined []string
	for _, m := range regexp.MustCompile(`'relgrad_(\w+)'`).FindAllStringSubmatch(string(text), -1) {
		used = append(used, m[1])
	}
	sources, err := filepath.Glob("src/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatal("no sources", err)
	}
	for _, f := range sources {
		code, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(
			`(?m)^(?:RG_FUNCTION|KERNEL|MAP|MAP_LOOP|ZIP_LOOP|OPERATOR|SLOPE|ROWS)\((\w+)[,)]`).
			FindAllStringSubmatch(string(code), -1) {
			defined = append(defined, m[1])
		}
	}
	slices.Sort(used)
	slices.Sort(defined)
	for _, u := range slices.Compact(used) {
		if !slices.Contains(defined, u) {
			t.Errorf("no C function for %s", u)
		}
	}
	for _, d := range defined {
		if !slices.Contains(used, d) {
			t.Errorf("no SQL function for relgrad_%s", d)
		}
	}
}
