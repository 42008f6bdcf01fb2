package kernels

import "strings"

// Spec is the labelled form of a call: the sum, over the labels that Out lacks, of the product of the arguments.
type Spec struct {
	In     []string // labels of the arguments, a letter for each axis; no argument has a letter twice
	Out    string   // labels of the value, each of which some argument has
	Divide []bool   // the arguments whose reciprocals are multiplied
	Neg    bool     // the sign of the product
}

// Spec is the labelled form of a call of d with arguments of these types. ok is false where it has none: then it is
// not linear in its arguments, or the arguments repeat along axes that they lack.
func (d *Def) Spec(a []Type, at Attr) (s Spec, ok bool) {
	if at.Spec != "" {
		return labelled(at.Spec, a)
	}
	for _, form := range d.Labels {
		if s, ok := labelled(form, a); ok {
			return s, true
		}
	}
	return Spec{}, false
}

// labelled is a form of Def.Labels for arguments of these types.
func labelled(form string, a []Type) (s Spec, ok bool) {
	form, s.Neg = strings.CutPrefix(form, "-")
	in, out, arrow := strings.Cut(form, "->")
	of := strings.Split(in, ",")
	if !arrow || len(of) != len(a) {
		return Spec{}, false
	}
	length, any := map[byte]int{}, 0 // any: how many axes the dots are
	for i, labels := range of {
		labels, divide := strings.CutPrefix(labels, "/")
		own := 0
		if strings.Contains(labels, dots) {
			own = max(len(a[i].Shape)+len(dots)-len(labels), 0)
		}
		switch {
		case own == 0:
		case any > 0 && any != own: // kernels count axes from the right: the shorter one repeats along the first
			return Spec{}, false
		default:
			any = own
		}
		if labels = axes(labels, own); len(labels) != len(a[i].Shape) || distinct(labels) != labels {
			return Spec{}, false
		}
		for d, n := range a[i].Shape {
			if known, met := length[labels[d]]; met && known != n {
				return Spec{}, false
			}
			length[labels[d]] = n
		}
		s.In, s.Divide = append(s.In, labels), append(s.Divide, divide)
	}
	s.Out = axes(out, any)
	return s, distinct(s.Out) == s.Out
}

const dots = "..."

// axes puts one capital letter for each axis that the dots of a form stand for.
func axes(labels string, n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return strings.Replace(labels, dots, letters[:min(n, len(letters))], 1)
}
