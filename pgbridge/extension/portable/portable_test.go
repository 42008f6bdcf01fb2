package portable

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the migration")

const folder = "../../../migrations/"

// TestFiles compares the committed migrations with the registry and the extension.
func TestFiles(t *testing.T) {
	files, err := Files(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if *update {
			if err := os.WriteFile(folder+name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		old, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("%s is not what the registry says; run make golden and read the diff", name)
		}
	}
}
