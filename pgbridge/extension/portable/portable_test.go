package portable

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the migration")

const file = "../../../migrations/006_kernels.sql"

// TestSQL compares the committed migration with the registry.
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
