package bench

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Profile tells where the time of a step goes, as `relgrad explain --analyze` measures it.
type Profile struct {
	Limits    string        // of the machine
	Structure float64       // milliseconds of a step's own structure, before its instructions
	Lines     []ProfileLine // instructions, the longest first
}

// ProfileLine is an instruction: what it computes, its milliseconds, and the percentage that it reaches of its limit.
type ProfileLine struct {
	What                     string
	Ms, Gflops, GBs, Percent float64
	Of                       string // the limit: "memory" or "operations"
}

var (
	trainCall   = regexp.MustCompile(`(?s)CALL train\('loss', ARRAY\[(.*?)\](.*)\);`)
	batchOf     = regexp.MustCompile(`batch => '(\w+)', batch_size => :batch`)
	measured    = regexp.MustCompile(`^        (\S+) ms, (\S+) Gflop/s, (\S+) GB/s: (\S+) % of the machine's (\w+)$`)
	structureMs = regexp.MustCompile(`(?m)^structure of a step: (\S+) ms$`)
	limitsLine  = regexp.MustCompile(`(?m)^limits: (.*)$`)
	work        = regexp.MustCompile(` +\[[^\[\]]*flop, [^\[\]]*\]$`)
)

// profileOf measures a workload's step in the store left by its last run.
func profileOf(ctx context.Context, r *Runner, w *Workload, v Values) (*Profile, error) {
	data, err := w.folder(r.Root, v)
	if err != nil {
		return nil, err
	}
	store, err := r.store(ctx, w, data, v)
	if err != nil {
		return nil, err
	}
	args := []string{"explain", "--analyze", "--store", store}
	if w.Query != "" {
		args = append(args, w.Query)
	} else {
		tables, batch, err := trained(w)
		if err != nil {
			return nil, err
		}
		if batch != "" {
			args = append(args, "--batch", batch, "--batch-size", number(v["batch"]))
		}
		args = append(append(args, "loss"), tables...)
	}
	fmt.Fprintf(r.Log, "relgrad '%s'\n", strings.Join(args, "' '"))
	text, _, err := execute(command(ctx, r.Relgrad, args...))
	if err != nil {
		return nil, err
	}
	return readProfile(text)
}

// trained are the tables that a workload's script trains, and the table of its batches, or "".
func trained(w *Workload) (tables []string, batch string, err error) {
	script, err := files.ReadFile("workloads/" + w.Script + ".sql")
	if err != nil {
		return nil, "", err
	}
	call := trainCall.FindSubmatch(script)
	if call == nil {
		return nil, "", fmt.Errorf("%s.sql has no call of train", w.Script)
	}
	if b := batchOf.FindSubmatch(call[2]); b != nil {
		batch = string(b[1])
	}
	for table := range strings.SplitSeq(string(call[1]), ",") {
		tables = append(tables, strings.Trim(table, " '"))
	}
	return tables, batch, nil
}

// readProfile reads the output of explain --analyze: the instructions of a step or, where a step has none, those that
// run once.
func readProfile(text string) (*Profile, error) {
	p := &Profile{}
	if m := limitsLine.FindStringSubmatch(text); m != nil {
		p.Limits = m[1]
	}
	if m := structureMs.FindStringSubmatch(text); m != nil {
		p.Structure, _ = strconv.ParseFloat(m[1], 64)
	}
	once, step, ok := strings.Cut(text, "\neach step:\n")
	if !ok || p.Limits == "" {
		return nil, fmt.Errorf("no profile in\n%s", text)
	}
	if p.Lines = profileLines(step); p.Lines == nil {
		_, once, _ = strings.Cut(once, "\nonce per run:\n")
		p.Lines = profileLines(once)
	}
	if p.Lines == nil {
		return nil, fmt.Errorf("no times in\n%s", text)
	}
	slices.SortStableFunc(p.Lines, func(a, b ProfileLine) int { return int(1e6 * (b.Ms - a.Ms)) })
	return p, nil
}

// profileLines reads a list of instructions. A pass is one line.
func profileLines(text string) (all []ProfileLine) {
	var what []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := measured.FindStringSubmatch(line)
		switch {
		case m != nil:
			l := ProfileLine{What: strings.Join(what, "; "), Of: m[5]}
			for i, x := range []*float64{&l.Ms, &l.Gflops, &l.GBs, &l.Percent} {
				*x, _ = strconv.ParseFloat(m[i+1], 64)
			}
			all, what = append(all, l), nil
		case strings.HasPrefix(line, "    "): // a member of a pass
			what = append(what, strings.TrimSpace(line))
		default:
			what = []string{work.ReplaceAllString(strings.TrimSpace(line), "")}
		}
	}
	return all
}

// Ms is the time of the whole step, and Least the time if each instruction reached its limit.
func (p *Profile) Ms() (ms, least float64) {
	ms, least = p.Structure, p.Structure
	for _, l := range p.Lines {
		ms, least = ms+l.Ms, least+l.Ms*l.Percent/100
	}
	return ms, least
}

// profiled is how many instructions a report shows, widest the length at which their texts are cut.
const (
	profiled = 6
	widest   = 110
)

func (p *Profile) String() string {
	t := &Table{Head: []string{"instruction", "time", "of the step", "Gflop/s", "GB/s", "of the limit"}}
	ms, least := p.Ms()
	add := func(what string, took float64, more ...string) {
		t.Add(append([]string{what, Seconds(took / 1e3), fmt.Sprintf("%.0f %%", 100*took/ms)}, more...)...)
	}
	rest, n := 0.0, 0
	if p.Structure > 0 {
		add("structure", p.Structure, "", "", "")
	}
	for i, l := range p.Lines {
		if i >= profiled {
			rest, n = rest+l.Ms, n+1
			continue
		}
		add(l.short(), l.Ms, fmt.Sprintf("%.3g", l.Gflops),
			fmt.Sprintf("%.3g", l.GBs), fmt.Sprintf("%.0f %% of %s", l.Percent, l.Of))
	}
	if n > 0 {
		add(fmt.Sprintf("%d more", n), rest, "", "", "")
	}
	return fmt.Sprintf("%s\nThe machine's limits in this run: %s. If each instruction reached the one that binds it, "+
		"these %s would be %s.\n", t, p.Limits, Seconds(ms/1e3), Seconds(least/1e3))
}

// short is what the instruction computes, cut where it is long.
func (l ProfileLine) short() string {
	what := []rune(strings.Join(strings.Fields(l.What), " "))
	if len(what) > widest {
		what = append(what[:widest-1], '…')
	}
	return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(string(what)) + "`"
}

//go:embed missed.md
var missedText string

// explained is what missed.md says of a workload: what limits it, and what was tried.
func explained(name string) string {
	_, text, _ := strings.Cut(missedText, "\n## "+name+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text)
}
