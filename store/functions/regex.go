package functions

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/relgrad/relgrad/catalog"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/store/lite"
)

// pattern is a regular expression that means the same in Postgres and in RE2.
type pattern struct {
	*regexp.Regexp
	open bool // groups can match in several ways, and RE2 may choose differently from Postgres
}

// patterns caches compiled ones.
var patterns = struct {
	sync.Mutex
	m map[string]*pattern
}{m: map[string]*pattern{}}

func compiled(key string, compile func() (*pattern, error)) (*pattern, error) {
	patterns.Lock()
	p := patterns.m[key]
	patterns.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := compile() // compiling may take long
	if err != nil || len(key) > longBytes {
		return p, err
	}
	patterns.Lock()
	defer patterns.Unlock()
	if len(patterns.m) > 1000 {
		clear(patterns.m)
	}
	patterns.m[key] = p
	return p, nil
}

func badRegex(format string, args ...any) error {
	return sqlerr.New("2201B", "invalid regular expression: "+format, args...)
}

func noRegex(what string) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s in a regular expression is not supported by the embedded store",
		what).WithHint("The embedded store reads the expressions that mean the same to RE2.")
}

// regex compiles a regular expression. fold: ignore case.
func regex(p string, fold bool) (*pattern, error) {
	return compiled(strconv.FormatBool(fold)+" "+p, func() (*pattern, error) { return newPattern(p, fold) })
}

func newPattern(p string, fold bool) (*pattern, error) {
	t := &translator{s: p}
	if rest, ok := strings.CutPrefix(p, "(?i)"); ok {
		t.s, fold = rest, true
	}
	if err := t.run(); err != nil {
		return nil, err
	}
	text := "(?s)" + t.out.String()
	if fold {
		text = "(?is)" + t.out.String()
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, badRegex("%v", err)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, badRegex("%v", err)
	}
	// Postgres takes the longest match, or the shortest where the quantifiers are lazy. Where an expression has both
	// kinds, RE2 cannot follow it.
	greedy, lazy := quantifiers(tree)
	switch {
	case lazy && greedy:
		return nil, noRegex("a greedy quantifier beside a lazy one")
	case lazy && t.alternatives:
		return nil, noRegex("a lazy quantifier beside |")
	case !lazy:
		re.Longest()
	}
	return &pattern{re, !distinct(tree)}, nil
}

func quantifiers(re *syntax.Regexp) (greedy, lazy bool) {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if re.Op != syntax.OpRepeat || re.Min != re.Max {
			lazy = re.Flags&syntax.NonGreedy != 0
			greedy = !lazy
		}
	}
	for _, sub := range re.Sub {
		g, l := quantifiers(sub)
		greedy, lazy = greedy || g, lazy || l
	}
	return greedy, lazy
}

// distinct reports whether the alternatives of every choice begin with different characters, so that there is only one
// way to match.
func distinct(re *syntax.Regexp) bool {
	if re.Op == syntax.OpAlternate {
		var seen [][]rune
		for _, sub := range re.Sub {
			first := leading(sub)
			if first == nil {
				return false
			}
			for _, other := range seen {
				if overlap(first, other) {
					return false
				}
			}
			seen = append(seen, first)
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !distinct(sub) })
}

// leading returns ranges of the characters with which an expression can begin, nil where it may be empty or they are
// unknown.
func leading(re *syntax.Regexp) []rune {
	switch re.Op {
	case syntax.OpLiteral:
		r := re.Rune[0]
		if re.Flags&syntax.FoldCase != 0 {
			l, u := unicode.ToLower(r), unicode.ToUpper(r)
			return []rune{l, l, u, u}
		}
		return []rune{r, r}
	case syntax.OpCharClass:
		return re.Rune
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		return leading(re.Sub[0])
	}
	return nil
}

func overlap(a, b []rune) bool {
	for i := 0; i < len(a); i += 2 {
		for j := 0; j < len(b); j += 2 {
			if a[i] <= b[j+1] && b[j] <= a[i+1] {
				return true
			}
		}
	}
	return false
}

// translator translates an advanced regular expression of Postgres to RE2. It refuses what RE2 would understand
// differently.
type translator struct {
	s            string
	out          strings.Builder
	alternatives bool
}

var (
	bound = regexp.MustCompile(`^\{(\d+)(?:,(\d*))?\}`)
	class = regexp.MustCompile(`^\[:(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]`)
)

func (t *translator) run() error {
	if strings.HasPrefix(t.s, "***") {
		return noRegex("a director such as ***=")
	}
	for t.s != "" {
		c := t.s[0]
		var err error
		switch {
		case c == '\\':
			err = t.escape(false)
		case c == '[':
			err = t.bracket()
		case strings.HasPrefix(t.s, "(?") && !strings.HasPrefix(t.s, "(?:"):
			return noRegex("(" + t.s[1:min(3, len(t.s))])
		case c == '{' && len(t.s) > 1 && t.s[1] >= '0' && t.s[1] <= '9':
			err = t.repeat()
		case c == '^' && len(t.s) > 1 && strings.IndexByte("*+?", t.s[1]) >= 0:
			return badRegex("quantifier operand invalid")
		case c == '{':
			t.take(1, `\{`)
		default:
			t.alternatives = t.alternatives || c == '|'
			t.take(1, t.s[:1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take skips n bytes and writes their translation.
func (t *translator) take(n int, as string) {
	t.s = t.s[n:]
	t.out.WriteString(as)
}

func (t *translator) repeat() error {
	m := bound.FindStringSubmatch(t.s)
	if m == nil {
		return badRegex("braces {} not balanced")
	}
	for _, n := range m[1:] {
		if k, _ := strconv.Atoi(n); k > 255 || len(n) > 3 {
			return badRegex("invalid repetition count(s)")
		}
	}
	t.take(len(m[0]), m[0])
	return nil
}

// escape translates a backslash and what follows. Inside brackets only sets of characters are allowed.
func (t *translator) escape(inside bool) error {
	if len(t.s) < 2 {
		return badRegex("invalid escape \\ sequence")
	}
	as := map[byte]string{'n': `\n`, 't': `\t`, 'r': `\r`, 'f': `\f`, 'v': `\v`, 'a': `\a`, 'e': `\x1b`, 'b': `\x08`,
		'B': `\\`,
		'd': `\d`, 'w': `\w`, 's': `[\s\v]`}
	if inside {
		as['s'] = `\s\v`
	} else {
		as['D'], as['W'], as['S'], as['A'], as['Z'], as['y'], as['Y'] = `\D`, `\W`, `[^\s\v]`, `\A`, `\z`, `\b`, `\B`
	}
	c := t.s[1]
	switch letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'; {
	case as[c] != "":
		t.take(2, as[c])
	case letter:
		return noRegex("the escape \\" + string(rune(c)))
	case c < 0x80:
		t.take(2, regexp.QuoteMeta(t.s[1:2]))
	default:
		t.take(1, "")
	}
	return nil
}

// bracket translates a set of characters.
func (t *translator) bracket() error {
	t.take(1, "[")
	if strings.HasPrefix(t.s, "^") {
		t.take(1, "^")
	}
	for first := true; t.s != ""; first = false {
		switch c := t.s[0]; {
		case c == ']' && !first:
			t.take(1, "]")
			return nil
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case strings.HasPrefix(t.s, "[:") || strings.HasPrefix(t.s, "[.") || strings.HasPrefix(t.s, "[="):
			m := class.FindString(t.s)
			if m == "" {
				return noRegex(t.s[:2] + "…]")
			}
			t.take(len(m), m)
		case c == '[' || c == ']' || c == '&' || c == '~':
			t.take(1, `\`+t.s[:1])
		default:
			t.take(1, t.s[:1])
		}
	}
	return badRegex("brackets [] not balanced")
}

// groups finds the first match: the whole and each group, nil for one that takes no part.
func (p *pattern) groups(s string) ([]any, error) {
	at := p.FindStringSubmatchIndex(s)
	if at == nil {
		return nil, nil
	}
	if len(at) > 2 && p.open {
		return nil, noRegex("a group beside alternatives that begin alike")
	}
	out := make([]any, len(at)/2)
	for i := range out {
		if at[2*i] >= 0 {
			out[i] = s[at[2*i]:at[2*i+1]]
		}
	}
	return out, nil
}

// firstMatch returns the groups of the first match of a[1] in the text a[0], nil where there is none.
func firstMatch(a []lite.Cell) ([]any, error) {
	p, err := regex(a[1].String(), false)
	if err != nil {
		return nil, err
	}
	return p.groups(a[0].String())
}

func regexSubstr(a []lite.Cell, r lite.Result) error {
	m, err := firstMatch(a)
	if err != nil || m == nil {
		return err
	}
	if s, ok := m[min(1, len(m)-1)].(string); ok {
		r.Text(s)
	}
	return nil
}

func regexMatch(a []lite.Cell, r lite.Result) error {
	m, err := firstMatch(a)
	if err != nil || m == nil {
		return err
	}
	if len(m) > 1 {
		m = m[1:]
	}
	return giveValue(r, m, catalog.ArrayOf(catalog.Text))
}

func regexSplit(a []lite.Cell, r lite.Result) error {
	p, err := regex(a[1].String(), false)
	if err != nil {
		return err
	}
	return giveValue(r, anys(p.Split(a[0].String(), -1)), catalog.ArrayOf(catalog.Text))
}

// regexFlags reads the options of a regexp function.
func regexFlags(flags string) (fold, global bool, err error) {
	for _, c := range flags {
		switch {
		case c == 'g':
			global = true
		case c == 'i' || c == 'c':
			fold = c == 'i'
		case c == 's':
		case strings.ContainsRune("bemnpqtwx", c):
			return false, false, sqlerr.New(sqlerr.FeatureNotSupported,
				"the option \"%c\" of a regular expression is not supported by the embedded store", c)
		default:
			return false, false, sqlerr.New(sqlerr.InvalidParameter, "invalid regular expression option: \"%c\"", c)
		}
	}
	return fold, global, nil
}

func regexpReplace(a []lite.Cell) (string, error) {
	flags := ""
	if len(a) > 3 {
		flags = a[3].String()
	}
	fold, global, err := regexFlags(flags)
	if err != nil {
		return "", err
	}
	p, err := regex(a[1].String(), fold)
	if err != nil {
		return "", err
	}
	s, with, n := a[0].String(), a[2].String(), 1
	if global {
		n = -1
	}
	var b strings.Builder
	last := 0
	for _, at := range p.FindAllStringSubmatchIndex(s, n) {
		if global && at[1] > at[0] && p.MatchString("") {
			return "", noRegex("a match that may be empty, with the option \"g\",")
		}
		b.WriteString(s[last:at[0]])
		if err := p.expand(&b, with, s, at); err != nil {
			return "", err
		}
		last = at[1]
	}
	return b.String() + s[last:], nil
}

// expand writes a replacement: \1 to \9 and \& refer to groups, \\ is a backslash.
func (p *pattern) expand(b *strings.Builder, with, s string, at []int) error {
	for i := 0; i < len(with); i++ {
		if c := with[i]; c != '\\' || i+1 == len(with) {
			b.WriteByte(c)
			continue
		}
		n := int(with[i+1]) - '0'
		switch i++; {
		case with[i] == '\\':
			b.WriteByte('\\')
			continue
		case with[i] == '&':
			n = 0
		case n < 1 || n > 9:
			b.WriteByte('\\')
			b.WriteByte(with[i])
			continue
		}
		if n > 0 && p.open {
			return noRegex("a group beside alternatives that begin alike")
		}
		if 2*n < len(at) && at[2*n] >= 0 {
			b.WriteString(s[at[2*n]:at[2*n+1]])
		}
	}
	return nil
}
