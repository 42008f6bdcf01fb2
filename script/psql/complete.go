package psql

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/kernels"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/parse"
	"github.com/relgrad/relgrad/train"
)

// Completion is a way to go on with what has been typed.
type Completion struct {
	Text string // replaces the word
	Kind string // "table", "column", "keyword", …
}

// Complete lists how the word at the end of a text may go on, and where that word begins. The text follows the content
// of the shell's query buffer. A session without a catalogue has no names.
func (r *Runner) Complete(text string) (word int, out []Completion) {
	c := &completer{r: r, objects: &catalog.Objects{}}
	if d, ok := r.session.(lister); ok {
		c.path = d.SearchPath()
		if o, err := d.Objects(); err == nil {
			c.objects = o
		}
	}
	s := &scanner{}
	if r.buffer != nil {
		s = r.buffer.copy()
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		if command := s.skip(strings.TrimSuffix(line, "\n")); command != "" && !strings.HasSuffix(line, "\n") {
			return c.backslash(text, command)
		}
		if strings.HasSuffix(line, "\n") {
			s.endLine()
		}
	}
	word = len(text)
	for word > 0 && isNameByte(text[word-1]) {
		word--
	}
	switch {
	case s.quote == '\'' || s.quote == 'E':
		c.inString(s.buf.String())
	case s.quote != 0:
	case word > 0 && text[word-1] == ':' && (word < 2 || text[word-2] != ':'):
		c.add("variable", slices.Sorted(maps.Keys(r.vars))...)
	default:
		c.inStatement(s.buf.String(), text[word:])
	}
	return word, c.matching(text[word:])
}

// skip scans a line without running anything. It returns the backslash command in which the line ends, "" if none.
func (s *scanner) skip(line string) (command string) {
	unset := func(string) (string, bool) { return "", false }
	for i := 0; i < len(line); {
		why, _, at := s.scan(line, i, 1, unset)
		switch why {
		case stopSemicolon:
			s.reset()
		case stopBackslash:
			return line[at-1:]
		}
		i = at
	}
	return ""
}

// backslash completes the backslash command at the end of the text.
func (c *completer) backslash(text, command string) (word int, out []Completion) {
	space := strings.LastIndexAny(command, " \t")
	if space < 0 {
		for _, n := range slices.Sorted(maps.Keys(commandNames)) {
			c.add("command", "\\"+n)
		}
		return len(text) - len(command), c.matching(command)
	}
	arg := strings.TrimPrefix(command[space+1:], ":")
	if len(arg) < len(command)-space-1 {
		c.add("variable", slices.Sorted(maps.Keys(c.r.vars))...)
	} else {
		c.argument(strings.Fields(command)[0][1:], arg)
	}
	return len(text) - len(arg), c.matching(arg)
}

// completer collects completions.
type completer struct {
	r       *Runner
	objects *catalog.Objects
	path    []string
	out     []Completion
}

func (c *completer) add(kind string, names ...string) {
	for _, n := range names {
		c.out = append(c.out, Completion{n, kind})
	}
}

// matching returns the completions of a word, sorted. Keywords get the case of the word.
func (c *completer) matching(word string) []Completion {
	lower := word != "" && word == strings.ToLower(word)
	var out []Completion
	seen := map[string]bool{}
	for _, x := range c.out {
		if x.Kind == "keyword" && lower {
			x.Text = strings.ToLower(x.Text)
		}
		if strings.HasPrefix(strings.ToLower(x.Text), strings.ToLower(word)) && !seen[x.Text] {
			seen[x.Text] = true
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Completion) int { return strings.Compare(a.Text, b.Text) })
	return out
}

// argument completes an argument of a backslash command.
func (c *completer) argument(name, word string) {
	switch strings.TrimSuffix(name, "+") {
	case "d", "dt", "dv", "di":
		c.relations()
		if schema, _, ok := strings.Cut(word, "."); ok {
			c.qualified(schema)
		}
	case "df", "h", "help":
		c.functions()
		for i := range c.out { // without parentheses
			c.out[i].Kind = "name"
		}
	case "dn":
		c.add("schema", c.objects.Schemas...)
	case "set", "unset", "prompt":
		c.add("variable", slices.Sorted(maps.Keys(c.r.vars))...)
	case "x", "t", "timing":
		c.add("value", "on", "off")
	case "pset":
		c.add("option", printOptions...)
		c.add("value", Formats...)
	case "i", "include", "ir", "include_relative", "o", "out", "w", "write", "e", "edit", "cd", "g", "gx":
		c.files(word)
	}
}

// files completes a file's name.
func (c *completer) files(word string) {
	dir, _ := filepath.Split(word)
	entries, err := os.ReadDir(c.r.resolve(dir + "."))
	if err != nil {
		return
	}
	for _, e := range entries {
		name := dir + e.Name()
		if e.IsDir() {
			name += "/"
		}
		c.add("file", name)
	}
}

// relations adds the relations visible on the search path.
func (c *completer) relations() {
	for _, t := range c.objects.Tables {
		if t.Schema == "pg_temp" || slices.Contains(c.path, t.Schema) {
			c.add("table", sqlName(t.Name))
		}
	}
	for _, v := range c.objects.Views {
		if v.Schema == "pg_temp" || slices.Contains(c.path, v.Schema) {
			c.add("view", sqlName(v.Name))
		}
	}
}

// qualified adds the relations of a schema, qualified with its name.
func (c *completer) qualified(schema string) {
	for _, t := range c.objects.Tables {
		if t.Schema == schema {
			c.add("table", schema+"."+sqlName(t.Name))
		}
	}
	for _, v := range c.objects.Views {
		if v.Schema == schema {
			c.add("view", schema+"."+sqlName(v.Name))
		}
	}
}

func (c *completer) functions() {
	for _, f := range c.objects.Functions {
		c.add("function", sqlName(f.Name))
	}
	for _, f := range relgrad.Surface {
		c.add("function", f.Name)
	}
	for _, k := range kernels.All() {
		if !k.Internal {
			c.add("function", k.Name)
		}
	}
	c.add("function", aggregates...)
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_$]*$`)

// sqlName quotes a name where SQL needs it.
func sqlName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// inString completes inside a string: values of an option of train, or relations for functions that take a relation's
// name.
func (c *completer) inString(sql string) {
	tokens := lex(sql)
	if n := len(tokens); n >= 2 && tokens[n-1].Is("=>") {
		if values := train.Choices(tokens[n-2].Word); values != nil {
			c.add("value", values...)
			return
		}
	}
	if name := call(tokens); name != "" && !slices.Contains(ast.Ranges, name) { // theirs are folders
		c.relations()
	}
}

// call returns the function of relgrad inside whose arguments the tokens end, "" for none.
func call(tokens []parse.Token) string {
	depth := 0
	for i := len(tokens) - 1; i > 0; i-- {
		switch {
		case tokens[i].Is(")"):
			depth++
		case tokens[i].Is("(") && depth > 0:
			depth--
		case tokens[i].Is("("):
			for _, f := range relgrad.Surface {
				if tokens[i-1].Is(f.Name) {
					return f.Name
				}
			}
			return ""
		}
	}
	return ""
}

// optional lists the optional arguments of a function of relgrad by their names.
func optional(name string) (out []string) {
	for _, f := range relgrad.Surface {
		if f.Name != name {
			continue
		}
		for arg := range strings.SplitSeq(f.Args, ", ") {
			if arg, _, ok := strings.Cut(arg, " DEFAULT "); ok {
				word, _, _ := strings.Cut(arg, " ")
				out = append(out, word+" =>")
			}
		}
	}
	return out
}

// inStatement completes a word of SQL; sql ends with it.
func (c *completer) inStatement(sql, word string) {
	tokens := lex(sql)
	if word != "" && len(tokens) > 0 {
		tokens = tokens[:len(tokens)-1]
	}
	last := func(i int) parse.Token {
		if len(tokens) < i {
			return parse.Token{}
		}
		return tokens[len(tokens)-i]
	}
	switch prev := last(1); {
	case prev.Is("."):
		c.behindDot(tokens, last(2).Word)
	case len(tokens) == 0:
		c.add("keyword", beginnings...)
	case relationComes(prev.Word) && prev.Kind == parse.TokIdent:
		c.relations()
		c.add("schema", c.objects.Schemas...)
		if prev.Is("from") || prev.Is("join") {
			c.add("function", "gradient", "check_gradient", "generate_series", "unnest", "delta_table",
				"delta_tensor", "file_table")
		}
	case prev.Is("call"):
		c.add("procedure", "train")
		for _, f := range c.objects.Functions {
			if f.Procedure {
				c.add("procedure", sqlName(f.Name))
			}
		}
	case call(tokens) == "train" && (prev.Is(",") || prev.Is("(")):
		for _, n := range train.OptionNames() {
			c.add("option", n+" =>")
		}
	case prev.Is(",") && optional(call(tokens)) != nil:
		c.add("option", optional(call(tokens))...)
		c.functions()
	default:
		c.columns(tokens)
		c.functions()
		c.add("keyword", keywords...)
	}
}

// behindDot completes after a dot: the columns of a relation or alias, and the relations of a schema.
func (c *completer) behindDot(tokens []parse.Token, name string) {
	for _, x := range c.mentioned(tokens) {
		if x.alias == name {
			c.add("column", x.cols...)
		}
	}
	for _, t := range c.objects.Tables {
		if t.Schema == name {
			c.add("table", sqlName(t.Name))
		}
	}
	for _, v := range c.objects.Views {
		if v.Schema == name {
			c.add("view", sqlName(v.Name))
		}
	}
}

// columns adds the columns of the relations that a statement names, or of all relations while it names none.
func (c *completer) columns(tokens []parse.Token) {
	found := c.mentioned(tokens)
	for _, x := range found {
		c.add("column", x.cols...)
	}
	if len(found) > 0 {
		return
	}
	for _, t := range c.objects.Tables {
		if slices.Contains(c.path, t.Schema) {
			c.add("column", columnNames(t, nil)...)
		}
	}
	for _, v := range c.objects.Views {
		if slices.Contains(c.path, v.Schema) {
			c.add("column", columnNames(nil, v)...)
		}
	}
}

// mention is a relation in a statement.
type mention struct {
	alias string
	cols  []string
}

// mentioned finds the relations that tokens name, and their aliases.
func (c *completer) mentioned(tokens []parse.Token) []mention {
	var out []mention
	for i, t := range tokens {
		if t.Kind != parse.TokIdent && t.Kind != parse.TokQuoted {
			continue
		}
		var cols []string
		for _, o := range c.objects.Tables {
			if o.Name == t.Word {
				cols = columnNames(o, nil)
			}
		}
		for _, o := range c.objects.Views {
			if o.Name == t.Word {
				cols = columnNames(nil, o)
			}
		}
		if cols == nil || i > 0 && tokens[i-1].Is(".") && (i < 2 || !slices.Contains(c.objects.Schemas, tokens[i-2].Word)) {
			continue
		}
		out = append(out, mention{t.Word, cols})
		next := i + 1
		if next < len(tokens) && tokens[next].Is("as") {
			next++
		}
		if next < len(tokens) && tokens[next].Kind == parse.TokIdent &&
			!slices.Contains(keywords, strings.ToUpper(tokens[next].Word)) {
			out = append(out, mention{tokens[next].Word, cols})
		}
	}
	return out
}

func columnNames(t *catalog.TableDef, v *catalog.ViewDef) []string {
	var out []string
	if t != nil {
		for _, c := range t.Cols {
			out = append(out, sqlName(c.Name))
		}
	}
	if v != nil {
		for _, c := range v.Cols {
			out = append(out, sqlName(c.Name))
		}
	}
	return out
}

// lex splits SQL into tokens. It stops at an unfinished token.
func lex(sql string) []parse.Token {
	var out []parse.Token
	for at := 0; ; {
		t := parse.Lex(sql, at)
		if t.Kind == parse.TokEOF || t.Kind == parse.TokUnfinished {
			return out
		}
		out = append(out, t)
		at = t.End
	}
}
