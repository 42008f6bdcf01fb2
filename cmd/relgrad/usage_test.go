package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relgrad/relgrad/bench"
	"github.com/relgrad/relgrad/bench/tensors"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/script/psql"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

// both runs a command line and returns what it prints and its status.
func both(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	stderr, status = redirected(t, &os.Stderr, func() (status int) {
		stdout, status = captureStdout(t, args...)
		return status
	})
	return stdout, stderr, status
}

// TestWrongUsage: one line says what is wrong, in front of the usage text.
func TestWrongUsage(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "s.db")
	if _, status := captured(t, "run", "--store", store, "-c",
		"CREATE TABLE w (id int PRIMARY KEY, x real)"); status != 0 {
		t.Fatal(status)
	}
	missing := filepath.Join(dir, "nope.db")
	t.Setenv("RELGRAD_BENCH_DATA", dir)
	for _, tc := range []struct {
		line   string
		status int
		first  string
	}{
		{"run", 2, "relgrad run: a FILE or -c TEXT is needed; - is standard input, relgrad sql the shell"},
		{"run --format xml -c \\q", 2, `relgrad run: invalid value "xml" for option --format: unknown format; the formats ` +
			`are aligned, unaligned, csv, json`},
		{"sql --format xml", 2, `relgrad sql: invalid value "xml" for option --format: unknown format; the formats are ` +
			`aligned, unaligned, csv, json`},
		{"gradient --format xml loss w", 2, `relgrad gradient: invalid value "xml" for option --format: unknown format; ` +
			`the formats are aligned, unaligned, csv, json`},
		{"runs --format xml", 2, `relgrad runs: invalid value "xml" for option --format: unknown format; the formats are ` +
			`aligned, unaligned, csv, json`},
		{"explain --format csv loss w", 2, "relgrad explain: unknown option --format"},
		{"run --stroe x", 2, "relgrad run: unknown option --stroe; perhaps you meant --store"},
		{"run -v =3", 2, `relgrad run: invalid value "=3" for option --v: NAME=VALUE is needed`},
		{"sql script.sql", 2, `relgrad sql: unexpected argument "script.sql"; a script is run by relgrad run, a store ` +
			`named by --store, a server by --db`},
		{"gradient loss w2", 2, "relgrad gradient: --store FILE, --db DSN or --script FILE is needed: where loss is defined"},
		{"gradient loss w --store x --db y", 2, "relgrad gradient: only one of --store, --db and --script can be given"},
		{"explain loss w --script x --db y", 2, "relgrad explain: only one of --store, --db and --script can be given"},
		{"check loss w --script x --store y", 2, "relgrad check: only one of --store, --db and --script can be given"},
		{"check loss w --db y -v a=1", 2, "relgrad check: -v sets a variable of the script that --script names"},
		{"explain --step 1 loss w --db y", 2, "relgrad explain: unknown option --step"},
		{"explain --analyze --stage sql loss w --db y", 2,
			"relgrad explain: --analyze shows the stage physical, not sql"},
		{"runs --store x --db y", 2,
			"relgrad runs: --store is a file of relgrad's, --db a server: only one of them can be given"},
		{"plot --store x --db y", 2,
			"relgrad plot: --store is a file of relgrad's, --db a server: only one of them can be given"},
		{"gradient loss", 2, "relgrad gradient: a loss and a table are needed, not 1 arguments"},
		{"gradient loss w w2", 2, `relgrad gradient: unexpected argument "w2"`},
		{"gradient --step -1 loss w", 2,
			`relgrad gradient: invalid value "-1" for option --step: a whole number from 0 on is needed`},
		{"check --samples 0 loss w", 2,
			`relgrad check: invalid value "0" for option --samples: a whole number from 1 on is needed`},
		{"check --seed x loss w", 2, `relgrad check: invalid value "x" for option --seed: a whole number is needed`},
		{"check --batch w loss w --store x", 2, "relgrad check: --batch and --batch-size go together"},
		{"check --batch-size 2 loss w --store x", 2, "relgrad check: --batch and --batch-size go together"},
		{"check --batch-size 0 loss w", 2,
			`relgrad check: invalid value "0" for option --batch-size: a whole number from 1 on is needed`},
		{"check --batch w --batch-size 2 loss w --store x", 2,
			"relgrad check: --batch needs --step, from 1: which rows are taken depends on it"},
		{"gradient loss w --store " + missing, 1, "ERROR:  the store " + missing + " does not exist"},
		{"runs --store " + missing, 1, "ERROR:  the store " + missing + " does not exist"},
		{"plot --store " + missing, 1, "ERROR:  the store " + missing + " does not exist"},
		{"runs", 2, "relgrad runs: --store FILE or --db DSN is needed: the store or server whose runs are meant"},
		{"runs shw 1", 2, `relgrad runs: unknown action "shw"; perhaps you meant show`},
		{"runs show --store " + store, 2, "relgrad runs: show takes one run, not 0"},
		{"plot", 2, "relgrad plot: --store FILE or --db DSN is needed: the store or server whose runs are meant"},
		{"devices 1", 2, "relgrad devices: no argument is needed, not 1"},
		{"decompose", 2, "relgrad decompose: one FILE is needed, not 0"},
		{"decompose a b", 2, "relgrad decompose: one FILE is needed, not 2"},
		{"decompose --cells 0 a", 2,
			`relgrad decompose: invalid value "0" for option --cells: a whole number from 1 on is needed`},
		{"decompose " + missing, 1, `ERROR:  could not open file "` + missing + `" for reading`},
		{"import --store x a.npy", 2, "relgrad import: a FILE and a TABLE are needed, not 1 arguments"},
		{"import a.npy t", 2, "relgrad import: --store FILE or --db DSN is needed: the store or server that holds the table"},
		{"import --store x --rows --whole a.npy t", 2, "relgrad import: --rows and --whole exclude each other"},
		{"export t", 2, "relgrad export: a TABLE and a FILE are needed, not 1 arguments"},
		{"pg", 2, "relgrad pg: one of install, status, compile is needed"},
		{"pg instal", 2, `relgrad pg: unknown action "instal"; perhaps you meant "install"`},
		{"pg status", 2, "relgrad pg: --db DSN is needed"},
		{"pg status x --db d", 2, `relgrad pg: unexpected argument "x"`},
		{"pg install --search-path x --db d", 2, "relgrad pg: --search-path is for compile only"},
		{"pg compile loss --db d", 2, "relgrad pg: compile needs a loss and its parameters"},
		{"bench gnc", 1, `ERROR:  there is no workload "gnc"`},
		{"bench --rounds 0 gcn", 2, "relgrad bench: --rounds 0 and --seconds 4 must be positive"},
		{"bench -v nodes=many gcn", 2, "relgrad bench: -v nodes=many: a number is needed"},
		{"bench -v nodes=5 mlp", 2, "relgrad bench: -v nodes: these workloads have no number of that name"},
		{"bench --alone -v n=1000 -v block=300 product", 1,
			"ERROR:  product: these sizes do not go together: n that block divides is needed, with map[block:300 n:1000]"},
		{"bench -v n=0.5 --alone logreg", 1, "ERROR:  logreg: n = 0.5: a whole number from 1 on is needed, up to 1e9"},
		{"bench growth edge", 1, `ERROR:  there is no axis of growth "edge"`},
		{"bench growth --rounds 2", 2, "relgrad bench: option rounds is for workloads, not for growth"},
		{"bench memory nothing", 1, `ERROR:  there is no budget "nothing"`},
		{"bench sites nothing", 1, `ERROR:  there is no workload "nothing"`},
		{"bench sites --alone", 2, "relgrad bench: option alone is not for sites"},
		{"bench memory --alone", 2, "relgrad bench: option alone is not for memory"},
		{"bench growth --sizes 0", 2, "relgrad bench: --sizes 0 must be positive"},
		{"bench --sizes 2 gcn", 2, "relgrad bench: option sizes is for growth, not for workloads"},
		{"bench gpu nothing", 1, `ERROR:  there is no workload of a graphics processor "nothing"`},
		{"bench gpu --repeat 1", 2, "relgrad bench: --repeat 1 compares nothing"},
		{"bench gpu --repeat 2 --rounds 2", 2, "relgrad bench: option rounds is for measuring, not for --repeat"},
		{"bench gpu --prepare --alone", 2, "relgrad bench: option alone is for measuring, not for --prepare"},
		{"bench gpu --sizes 2", 2, "relgrad bench: option sizes is not for gpu"},
		{"bench --quick gcn", 2, "relgrad bench: option quick is for gpu or delta, not for workloads"},
		{"bench delta --seconds 1", 2, "relgrad bench: option seconds is not for delta"},
		{"bench growth --quick", 2, "relgrad bench: option quick is for gpu, not for growth"},
		{"bench sites --repeat 2", 2, "relgrad bench: option repeat is not for sites"},
		{"bench growth --examples nowhere planning", 1, "ERROR:  there is no script in the folders of nowhere"},
		{"bench growth --examples x rows", 2, "relgrad bench: option examples is for planning, which is not measured"},
		{"version 2", 2, `relgrad version: unexpected argument "2"`},
		{"help run sql", 2, "relgrad help: one command at a time, not 2"},
		{"help rnu", 2, `relgrad: unknown command "rnu"`},
		{"rnu", 2, `relgrad: unknown command "rnu"`},
	} {
		out, errs, status := both(t, strings.Fields(tc.line)...)
		first, rest, _ := strings.Cut(errs, "\n")
		if first != tc.first || status != tc.status || out != "" {
			t.Errorf("%s: status %d\n%s\nwant %s", tc.line, status, first, tc.first)
		}
		if usage := "\nusage: relgrad " + strings.Fields(tc.line)[0]; status == 2 && !strings.HasPrefix(rest, usage) &&
			!strings.HasPrefix(rest, "HINT:") {
			t.Errorf("%s: no usage text follows\n%s", tc.line, rest)
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a store that was only to be read has been made")
	}
}

// TestHelp: help and -h print the same, on standard output.
func TestHelp(t *testing.T) {
	for _, c := range commands {
		if c == &helpCommand {
			continue
		}
		a, status := captured(t, "help", c.name)
		b, status2 := captured(t, c.name, "-h")
		if a != b || status != 0 || status2 != 0 || !strings.HasPrefix(a, "usage: relgrad "+c.name) ||
			strings.Contains(a, "\n\n\n") {
			t.Errorf("help %s: status %d\n%s\n-h: status %d\n%s", c.name, status, a, status2, b)
		}
	}
	for _, v := range []string{"version", "--version", "-version"} {
		if out, status := captured(t, v); status != 0 || !strings.HasPrefix(out, "relgrad ") ||
			strings.Count(out, "\n") != 1 {
			t.Errorf("%s: status %d\n%s", v, status, out)
		}
	}
}

// TestCheckOfBatch: a check over a batch is one of the rows that train takes.
func TestCheckOfBatch(t *testing.T) {
	store := trainedStore(t)
	for _, args := range [][]string{{}, {"--batch", "w", "--batch-size", "1", "--step", "2"}} {
		out, errs, status := both(t, append([]string{"check", "--store", store, "loss", "w"}, args...)...)
		if !strings.HasPrefix(out, "w: 2 elements checked, 0 wrong; ") || strings.Count(out, "\n") != 1 || status != 0 {
			t.Errorf("check %v: status %d\n%s%s", args, status, out, errs)
		}
	}
	if out, errs, status := both(t, "check", "--store", store, "loss", "w", "--batch", "v", "--batch-size", "1", "--step",
		"1"); status != 1 || out != "" || !strings.HasPrefix(errs, `ERROR:  batch "v" does not exist`) {
		t.Errorf("an unknown batch: status %d\n%s%s", status, out, errs)
	}
}

// TestRunTexts: -c and files run in their order.
func TestRunTexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sql")
	if err := os.WriteFile(file, []byte("INSERT INTO w VALUES (2);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, status := captured(t, "run", "-q", "--format", "csv", "-c", "CREATE TABLE w (id int)", "-c",
		`INSERT INTO w VALUES (1); \echo one`, file, "-c", "SELECT sum(id) AS s FROM w")
	if out != "one\ns\n3\n" || status != 0 {
		t.Errorf("status %d\n%s", status, out)
	}
	if _, status := captured(t, "run", "-c", "SELECT 1/0", "-c", `\! echo never`); status != 3 {
		t.Errorf("status %d", status)
	}
}

// TestCommandsPage: docs/commands.md shows every command, option and backslash command as the program does; -update
// rewrites it.
func TestCommandsPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(
		"<!-- Generated by go test ./cmd/relgrad -run TestCommandsPage -update. Do not edit. -->\n\n# Commands\n\n```\n" +
			overview() + "```\n\n" +
			"Exit status: 0 all is well, 1 the command could not do its work, 2 wrong usage or no connection to a server, 3 a " +
			"script stopped at an error, 130 interrupted.\n")
	pages := map[*command]string{&sqlCommand: shellPage, &runCommand: serverPage, &pgCommand: pgPage,
		&benchCommand: benchPage(), &gradientCommand: enginePage, &explainCommand: explainPage,
		&decomposeCommand: answerPage(t), &devicesCommand: devicesPage}
	for _, c := range commands {
		if c == &helpCommand || c == &versionCommand {
			continue
		}
		text, _ := captured(t, "help", c.name)
		page.WriteString("\n## relgrad " + c.name + "\n\n```\n" + text + "```\n")
		page.WriteString(pages[c])
	}
	page.WriteString("\n# Backslash commands\n\nThey work in scripts and in the shell, and print what psql 15 prints. " +
		"`\\?` shows this list.\n\n```\n" + psql.CommandHelp() + "```\n" + backslashPage)
	path := filepath.Join(need.Root(), "docs", "commands.md")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("docs/commands.md is not what the program says (%v); run make golden", err)
	}
}

//go:embed testdata/pages/devices.md
var devicesPage string

//go:embed testdata/pages/pg.md
var pgPage string

// benchPage lists the workloads with their numbers.
func benchPage() string {
	var b strings.Builder
	b.WriteString("\n`make bench` installs the other systems as far as they can be had, measures all workloads and " +
		"writes [bench/RESULTS.md](../bench/RESULTS.md). Data and\n" +
		"stores are kept in the folder `RELGRAD_BENCH_DATA` (by default `relgrad-bench` in the user's cache, 7 GB), and " +
		"made again where `-v` asks for other numbers.\n\n" +
		"| workload | | numbers |\n|---|---|---|\n")
	for _, w := range bench.Workloads {
		var numbers []string
		for _, n := range slices.Concat(w.Size, w.Vars) {
			numbers = append(numbers, n.Name+" "+strconv.FormatFloat(n.Full, 'f', -1, 64))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.Name, w.What, strings.Join(numbers, ", "))
	}
	b.WriteString("\n`make growth-bench` measures how time grows with the data, beside what the machine can do at that " +
		"size, and how long plans take, and writes\n" +
		"[bench/GROWTH.md](../bench/GROWTH.md). The largest graph takes about 8 GB of memory and 5 GB of disk, which is " +
		"given back; `--sizes 5` leaves it out.\n\n" +
		"| axis | |\n|---|---|\n")
	for _, a := range bench.Axes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Name, a.What)
	}
	b.WriteString("| `planning` | binding, differentiating and optimizing each script of the folder examples, and a " +
		"network of 50 layers |\n")
	b.WriteString("\n`make memory-bench` trains within budgets of memory, and without, and writes " +
		"[bench/MEMORY.md](../bench/MEMORY.md); data of more than a GB are given back.\n\n" +
		"| budget | |\n|---|---|\n")
	for _, x := range bench.Budgets {
		fmt.Fprintf(&b, "| `%s` | %s |\n", x.Name, x.Workload.What)
	}
	b.WriteString("\n`make sites-bench` runs all workloads at 2, 4, 8 and 16 sites of one process, beside one site, and " +
		"writes [bench/SITES.md](../bench/SITES.md), with the bytes of each exchange.\n")
	b.WriteString("\n`make gpu-bench` trains on the first graphics processor, beside PyTorch, JAX and cuSPARSE on the " +
		"same card as far as the first `python3` has them, and writes GPU.md into\nthe folder bench. It ends with an error " +
		"where losses are others than the processors'. `relgrad bench gpu --repeat 10` " +
		"compares the bits of ten trainings.\n\n" +
		"| workload | |\n|---|---|\n")
	for _, w := range bench.OnCards {
		fmt.Fprintf(&b, "| `%s` | %s |\n", w.Name, w.What)
	}
	b.WriteString("\n`make delta-bench` stores tensors in tables of Delta Lake, reads them and slices of them, beside " +
		"deltalake, zarr, TileDB and NumPy,\nand writes [bench/DELTA.md](../bench/DELTA.md).\n\n" +
		"| tensor | |\n|---|---|\n")
	for _, in := range tensors.Inputs {
		fmt.Fprintf(&b, "| `%s` | %s |\n", in.Name, in.What)
	}
	return b.String()
}

//go:embed testdata/pages/shell.md
var shellPage string

//go:embed testdata/pages/server.md
var serverPage string

//go:embed testdata/pages/engine.md
var enginePage string

//go:embed testdata/pages/explain.md
var explainPage string

//go:embed testdata/pages/backslash.md
var backslashPage string
