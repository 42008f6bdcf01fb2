package plpgsql

import (
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// raiseStmt is RAISE: a notice, or an error.
func raiseStmt(f *frame, x *plpgsql.PLRaise) error {
	if !x.HasFormat && x.Cond == "" && x.State == "" && x.Using == nil {
		if len(f.handling) == 0 {
			return f.fail(x.At, "0Z002", "RAISE without parameters cannot be used outside an exception handler")
		}
		return f.handling[len(f.handling)-1]
	}
	e := &sqlerr.Error{Code: sqlerr.RaiseException, Pos: -1}
	switch {
	case x.HasFormat:
		msg, err := formatMessage(f, x)
		if err != nil {
			return err
		}
		e.Message = msg
	case x.State != "":
		e.Code, e.Message = x.State, x.State
	case x.Cond != "":
		states, ok := conditions[x.Cond]
		if !ok {
			return f.fail(x.At, sqlerr.UndefinedObject, "unrecognized exception condition \"%s\"", x.Cond)
		}
		e.Code, e.Message = states[0], x.Cond
	}
	if err := usingOptions(f, x, e); err != nil {
		return err
	}
	if x.Level == "exception" {
		return e
	}
	if x.Level != "debug" && x.Level != "log" && f.in.Notice != nil {
		f.in.Notice(script.Notice{Level: strings.ToUpper(x.Level), Message: e.Message, Detail: e.Detail, Hint: e.Hint})
	}
	return nil
}

// formatMessage fills RAISE's % with values.
func formatMessage(f *frame, x *plpgsql.PLRaise) (string, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(x.Format); i++ {
		if x.Format[i] != '%' {
			b.WriteByte(x.Format[i])
			continue
		}
		if i+1 < len(x.Format) && x.Format[i+1] == '%' {
			b.WriteByte('%')
			i++
			continue
		}
		v, err := f.eval(x.Params[next])
		if err != nil {
			return "", err
		}
		next++
		if v.v == nil {
			b.WriteString("<NULL>")
		} else {
			b.WriteString(Format(v.v, v.typ))
		}
	}
	return b.String(), nil
}

// usingOptions applies RAISE … USING.
func usingOptions(f *frame, x *plpgsql.PLRaise, e *sqlerr.Error) error {
	for _, o := range x.Using {
		v, err := f.eval(o.X)
		if err != nil {
			return err
		}
		if v.v == nil {
			return f.fail(o.At, sqlerr.NullNotAllowed, "RAISE statement option cannot be null")
		}
		s := Format(v.v, v.typ)
		switch o.Name {
		case "message":
			if x.HasFormat {
				return f.fail(o.At, sqlerr.Syntax, "RAISE option already specified: MESSAGE")
			}
			e.Message = s
		case "detail":
			e.Detail = s
		case "hint":
			e.Hint = s
		case "errcode":
			switch states, ok := conditions[s]; {
			case ok:
				e.Code = states[0]
			case len(s) == 5:
				e.Code = s
			default:
				return f.fail(o.At, sqlerr.UndefinedObject, "unrecognized exception condition \"%s\"", s)
			}
			if !x.HasFormat && x.Cond == "" && x.State == "" && e.Message == "" {
				e.Message = s
			}
		case "column", "constraint", "datatype", "table", "schema": // only in the wire protocol
		default:
			return f.fail(o.At, sqlerr.Syntax, "unrecognized RAISE statement option")
		}
	}
	return nil
}

// diagnosticsStmt is GET DIAGNOSTICS.
func diagnosticsStmt(f *frame, x *plpgsql.PLGetDiagnostics) error {
	for _, it := range x.Items {
		out := value{"", "text"}
		if !x.Stacked {
			switch it.Item {
			case "row_count":
				out = value{f.rowCount, "bigint"}
			case "pg_context":
				out.v = "PL/pgSQL function " + f.name
			default:
				return f.fail(it.Target.At, sqlerr.Syntax, "diagnostics item %s is not allowed in GET CURRENT DIAGNOSTICS",
					strings.ToUpper(it.Item))
			}
		} else {
			if len(f.handling) == 0 {
				return f.fail(x.At, "0Z002", "GET STACKED DIAGNOSTICS cannot be used outside an exception handler")
			}
			e := f.handling[len(f.handling)-1]
			switch it.Item {
			case "returned_sqlstate":
				out.v = e.Code
			case "message_text":
				out.v = e.Message
			case "pg_exception_detail":
				out.v = e.Detail
			case "pg_exception_hint":
				out.v = e.Hint
			case "pg_exception_context":
				out.v = e.Context
			case "column_name", "constraint_name", "pg_datatype_name", "table_name", "schema_name":
			default:
				return f.fail(it.Target.At, sqlerr.Syntax, "diagnostics item %s is not allowed in GET STACKED DIAGNOSTICS",
					strings.ToUpper(it.Item))
			}
		}
		if err := assignTo(f, it.Target, out); err != nil {
			return err
		}
	}
	return nil
}

func assertStmt(f *frame, x *plpgsql.PLAssert) error {
	if ok, err := f.cond(x.Cond); err != nil || ok {
		return err
	}
	e := sqlerr.New("P0004", "assertion failed")
	if x.Message != nil {
		v, err := f.eval(x.Message)
		if err != nil {
			return err
		}
		if v.v != nil {
			e.Message = Format(v.v, v.typ)
		}
	}
	return f.at(e, x.At)
}
