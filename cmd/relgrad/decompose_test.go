package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

//go:embed testdata/pages/decompose.md
var decomposePage string

// decomposeCase is the case that the page shows.
func decomposeCase() string {
	_, rest, _ := strings.Cut(decomposePage, "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	return text
}

// answerPage is the page with the answer that the program gives.
func answerPage(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "case.json")
	if err := os.WriteFile(file, []byte(decomposeCase()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status := captured(t, "decompose", file)
	if status != 0 {
		t.Fatalf("status %d\n%s", status, out)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, field := range []string{"p", "tree", "viable_counts", "optimal", "optimal_by", "optimal_plan", "tree_dp",
		"linearised_text", "linearised_informed", "paths", "given"} {
		b.WriteString([]string{"{", ",\n "}[min(i, 1)] + `"` + field + `": ` + string(answer[field]))
		delete(answer, field)
	}
	if len(answer) > 0 {
		t.Fatalf("the answer has further fields: %v", answer)
	}
	return strings.Replace(decomposePage, "@", b.String()+"}", 1)
}

// TestDecomposeGolden: the command answers the cases of the golden file, field by field.
func TestDecomposeGolden(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(need.Data(t), "eindecomp_golden", "graphs.json"))
	if err != nil {
		need.Absent(t, "data", err.Error())
	}
	var cases []json.RawMessage
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "case.json")
	for i, text := range cases {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, status := captured(t, "decompose", file)
		got, want := fields(t, out), fields(t, string(text))
		delete(want, "graph")
		for name := range got {
			if name != "optimal_plan" && !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("case %d: %s is %v, not %v", i, name, got[name], want[name])
			}
			delete(want, name)
		}
		if status != 0 || len(want) > 0 {
			t.Errorf("case %d: status %d, without %v", i, status, want)
		}
	}
}

// fields reads an object, its numbers as they are written.
func fields(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// TestDecomposeLimit: where the tables pass the limit, the answer says so.
func TestDecomposeLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.json")
	dag := strings.Replace(decomposeCase(), `"in": ["Z"], "in_labels": [["i", "k"]]`,
		`"in": ["Z", "Z"], "in_labels": [["i", "k"], ["k", "i"]]`, 1)
	if err := os.WriteFile(file, []byte(dag), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ cells, want string }{
		{"10", `"optimal_by":"linearised_informed and what improves on it, not proved least: the tables of vertices up to ` +
			`Z and of their edges have more than 10 cells"`},
		{"1000", `"optimal_by":"enumeration and elimination"`},
	} {
		out, status := captured(t, "decompose", "--cells", tc.cells, file)
		if status != 0 || !strings.Contains(out, tc.want) || strings.Contains(out, "tree_dp") {
			t.Errorf("--cells %s: status %d\n%s", tc.cells, status, out)
		}
	}
}

// TestDecomposeRefusals: what is wrong is said on standard error, with status 1.
func TestDecomposeRefusals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.json")
	for _, tc := range []struct{ old, new, want string }{
		{`"p": 16`, `"p": 12`, "ERROR:  p is 12, which is no power of two\nHINT:  Take the next power of two, 16: some " +
			"sites then run one kernel call more than others.\n"},
		{`"sizes"`, `sizes`, "ERROR:  the case is malformed: invalid character 's' looking for beginning " +
			"of object key string\nDETAIL:  At line 2, byte 3.\n"},
		{`"out_labels": ["i"]`, `"out_labels": ["j"]`, "ERROR:  label j of the output of op S is in none of its inputs\n"},
	} {
		if err := os.WriteFile(file, []byte(strings.Replace(decomposeCase(), tc.old, tc.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, status := both(t, "decompose", file); out != "" || errs != tc.want || status != 1 {
			t.Errorf("%s: status %d\n%s%s\nwant %s", tc.new, status, out, errs, tc.want)
		}
	}
}
