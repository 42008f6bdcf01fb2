package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	in := `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"output","Package":"p","Test":"TestA/y","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA/y"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: needs data: no folder\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}
{"Action":"skip","Package":"q","Elapsed":0}
{"Action":"output","Package":"r","Output":"panic: boom\n"}
{"Action":"fail","Package":"r","Elapsed":0.2}
{"Action":"pass","Package":"s","Elapsed":1.25}
not JSON
`
	var out strings.Builder
	r := newReport(&out)
	r.read(strings.NewReader(in))
	if r.finish() {
		t.Error("failures are reported as success")
	}
	for _, want := range []string{"a_test.go:3: wrong\n", "FAIL\tp\t0.1s\n", "panic: boom\n",
		"ok  \ts\t1.2s\n", "not JSON\n",
		"SKIPPED 1: needs data: no folder (TestB)\n", "1 passed, 2 failed, 1 skipped\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
}

func TestNothingRan(t *testing.T) {
	r := newReport(&strings.Builder{})
	r.read(strings.NewReader(`{"Action":"start","Package":"p"}` + "\n"))
	if r.finish() {
		t.Error("a package that did not finish is reported as success")
	}
}
