package archtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/relgrad/relgrad/internal/need"
)

// meta are the fields of PGXN's META.json that its specification requires, or that this project writes
// (https://pgxn.org/meta/spec.txt, version 1.0.0).
type meta struct {
	Name, Abstract, Description, Version, Maintainer, License string
	Provides                                                  map[string]struct{ Abstract, File, Docfile, Version string }
	Prereqs                                                   map[string]map[string]map[string]string
	Resources                                                 struct {
		Homepage   string
		Bugtracker struct{ Web string }
		Repository struct{ URL, Web, Type string }
	}
	ReleaseStatus string                        `json:"release_status"`
	GeneratedBy   string                        `json:"generated_by"`
	Spec          struct{ Version, URL string } `json:"meta-spec"`
	Tags          []string
}

// TestMeta checks META.json by PGXN's specification: fields that are required, their forms, and that files and versions
// are those of the extension.
func TestMeta(t *testing.T) {
	file, err := os.Open(filepath.Join(need.Root(), "META.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var m meta
	d := json.NewDecoder(file)
	d.DisallowUnknownFields() // other fields begin with X_, by the specification
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	term, version := regexp.MustCompile(`^[^\s/\\[:cntrl:]]{2,}$`), regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	control, err := os.ReadFile(filepath.Join(need.Root(), "pgbridge/extension/relgrad.control"))
	if err != nil {
		t.Fatal(err)
	}
	current := regexp.MustCompile(`default_version = '(.*)'`).FindSubmatch(control)
	if current == nil {
		t.Fatal("relgrad.control has no default_version")
	}
	p := m.Provides["relgrad"]
	for what, ok := range map[string]bool{
		"name is a term":          term.MatchString(m.Name),
		"who, what, license":      m.Abstract != "" && m.Maintainer != "" && m.License == "apache_2_0",
		"version is semantic":     version.MatchString(m.Version),
		"provides relgrad alone":  len(m.Provides) == 1 && p.Abstract != "",
		"the version is one":      p.Version == m.Version && m.Version == string(current[1])+".0",
		"the script is its":       p.File == "pgbridge/extension/relgrad--"+string(current[1])+".sql",
		"spec is 1.0.0":           m.Spec.Version == "1.0.0" && m.Spec.URL == "https://pgxn.org/meta/spec.txt",
		"runs on PostgreSQL 14":   m.Prereqs["runtime"]["requires"]["PostgreSQL"] == "14.0.0",
		"release_status is known": slices.Contains([]string{"stable", "testing", "unstable"}, m.ReleaseStatus),
		"the repository is named": m.Resources.Repository.URL != "" && m.Resources.Repository.Type == "git",
		"no tag is empty":         !slices.Contains(m.Tags, ""),
	} {
		if !ok {
			t.Errorf("META.json: not so: %s", what)
		}
	}
	for _, f := range []string{p.File, p.Docfile} {
		if _, err := os.Stat(filepath.Join(need.Root(), f)); err != nil {
			t.Error(err)
		}
	}
}
