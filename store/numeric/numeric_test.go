package numeric

import "testing"

func num(t *testing.T, s string) Num {
	n, err := Parse(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return n
}

// The expected texts are PostgreSQL 15's.
func TestArithmetic(t *testing.T) {
	two := map[string]func(a, b Num) (Num, error){
		"+": func(a, b Num) (Num, error) { return a.Add(b), nil }, "-": func(a, b Num) (Num, error) { return a.Sub(b), nil },
		"*": func(a, b Num) (Num, error) { return a.Mul(b), nil }, "/": Num.Div, "%": Num.Mod, "^": Num.Pow, "log": Num.Log,
		"round": func(a, b Num) (Num, error) { i, _ := b.Int64(); return a.Round(int(i)), nil },
	}
	for _, c := range []struct{ a, op, b, want string }{
		{"1", "/", "3", "0.33333333333333333333"},
		{"6.0", "/", "1449", "0.00414078674948240166"},
		{"10", "/", "4", "2.5000000000000000"},
		{"12345678.9", "/", "0.07", "176366841.42857143"},
		{"1e-10", "/", "3", "0.0000000000333333333333333333"},
		{"0.1", "+", "0.25", "0.35"},
		{"1.5", "*", "-2.25", "-3.375"},
		{"-7.5", "%", "2", "-1.5"},
		{"2", "^", "10", "1024.0000000000000000"},
		{"2.5", "^", "0.5", "1.5811388300841897"},
		{"2", "^", "-2", "0.2500000000000000"},
		{"0.5", "^", "3", "0.1250000000000000"}, {"1.1", "^", "100", "13780.6123398222701841"},
		{"10", "log", "1000", "3.0000000000000000"},
		{"2", "log", "10", "3.3219280948873623"},
		{"0.81449", "round", "4", "0.8145"},
		{"2.5", "round", "0", "3"},
		{"-2.5", "round", "0", "-3"},
		{"1250", "round", "-2", "1300"},
		{"1", "round", "3", "1.000"},
	} {
		got, err := two[c.op](num(t, c.a), num(t, c.b))
		if err != nil || got.String() != c.want {
			t.Errorf("%s %s %s = %v, %v; want %s", c.a, c.op, c.b, got, err, c.want)
		}
	}
	one := map[string]func(a Num) (Num, error){"sqrt": Num.Sqrt, "exp": Num.Exp, "ln": Num.Ln,
		"floor": func(a Num) (Num, error) { return a.Floor(), nil }, "ceil": func(a Num) (Num, error) {
			return a.Ceil(),
				nil
		}}
	for _, c := range []struct{ f, a, want string }{
		{"sqrt", "2", "1.414213562373095"},
		{"sqrt", "0.00414078674948240166", "0.06434894520877868795"},
		{"sqrt", "10000", "100.0000000000000"},
		{"exp", "1", "2.7182818284590452"},
		{"exp", "-2.5", "0.08208499862389880"},
		{"ln", "2", "0.6931471805599453"},
		{"ln", "1.05", "0.048790164169432003"}, {"ln", "0.0001", "-9.2103403719761827"}, {"sqrt", "0.0001",
			"0.01000000000000000"},
		{"sqrt", "123456.789", "351.3641828644462"},
		{"ln", "10", "2.3025850929940457"},
		{"floor", "-1.5", "-2"}, {"ceil", "-1.5", "-1"}, {"ceil", "1.01", "2"},
	} {
		got, err := one[c.f](num(t, c.a))
		if err != nil || got.String() != c.want {
			t.Errorf("%s(%s) = %v, %v; want %s", c.f, c.a, got, err, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"1", "1.0", 0}, {"-0", "0.00", 0}, {"10", "9", 1}, {"-10", "-9", -1}, {"0.5", "0.45", 1}, {"-1", "1", -1}, {"00.5",
		".5", 0}} {
		if got := Compare([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("%s <=> %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range [][2]string{{" 1e3 ", "1000"}, {"-.5", "-0.5"}, {"1.50", "1.50"}, {"1e-3", "0.001"}, {"+7", "7"}} {
		if got := num(t, c[0]).String(); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
	for _, s := range []string{"", "x", "1.2.3", "--1", "1e", "."} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
	if n, err := Float(0.1, false); err != nil || n.String() != "0.1" {
		t.Error(n, err)
	}
}
