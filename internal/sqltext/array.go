package sqltext

import (
	"errors"
	"strings"
)

// Array is the text of an array of texts.
func Array(texts []string) string {
	var b strings.Builder
	for i, s := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`)
	}
	return "{" + b.String() + "}"
}

// ParseArray reads the text of an array of texts of one dimension without NULLs, as Postgres writes it.
func ParseArray(text string) (out []string, err error) {
	bad := errors.New("it is no array of texts")
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, bad
	}
	text = text[1 : len(text)-1]
	for more := text != ""; more; {
		var word strings.Builder
		quoted := strings.HasPrefix(text, `"`)
		i, ended := 0, false
		if quoted {
			i = 1
		}
		for ; i < len(text) && !ended; i++ {
			switch c := text[i]; {
			case c == '\\' && i+1 < len(text):
				i++
				word.WriteByte(text[i])
			case quoted && c == '"', !quoted && c == ',':
				ended = true
			case !quoted && strings.IndexByte(`{}"`, c) >= 0:
				return nil, bad
			default:
				word.WriteByte(c)
			}
		}
		rest := text[i:]
		switch {
		case quoted && !ended, !quoted && (word.Len() == 0 || word.String() == "NULL"):
			return nil, bad
		case quoted && rest != "" && rest[0] != ',':
			return nil, bad
		case quoted && rest != "":
			rest, ended = rest[1:], true
		case quoted:
			ended = false
		}
		out, text, more = append(out, word.String()), rest, ended
	}
	return out, nil
}
