package plpgsql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/script"
	"github.com/relgrad/relgrad/sqlfront/ast"
	"github.com/relgrad/relgrad/sqlfront/plpgsql"
)

// signal tells how a list of statements ended: at its end, or by EXIT, CONTINUE or RETURN.
type signal struct {
	kind  signalKind
	label string
}

type signalKind uint8

const (
	sigNone signalKind = iota
	sigExit
	sigContinue
	sigReturn
)

// block runs a block with its own variables.
func (f *frame) block(b *plpgsql.Block) (sig signal, err error) {
	f.push(b.Label)
	defer f.pop()
	for i := range b.Decls {
		f.step(b.Decls[i], "statement block local variable initialization")
		if err := declareVar(f, &b.Decls[i]); err != nil {
			return sig, err
		}
	}
	if b.Exceptions == nil {
		sig, err = f.list(b.Body)
	} else {
		sig, err = f.guardedBody(b)
	}
	if sig.kind == sigExit && sig.label != "" && sig.label == b.Label {
		sig = signal{}
	}
	return sig, err
}

// list runs statements until one of them leaves the list.
func (f *frame) list(body []plpgsql.PLStmt) (signal, error) {
	for _, s := range body {
		if err := script.Canceled(f.ctx); err != nil {
			return signal{}, err
		}
		if sig, err := f.statement(s); err != nil || sig.kind != sigNone {
			return sig, err
		}
	}
	return signal{}, nil
}

// guardedBody runs a block with handlers inside a savepoint: an error undoes what the block did.
func (f *frame) guardedBody(b *plpgsql.Block) (signal, error) {
	f.saves++
	save := fmt.Sprintf("relgrad_block_%d_%d", f.in.calls, f.saves)
	defer func() { f.saves-- }()
	if err := f.in.Transaction(f.ctx, "savepoint", save); err != nil {
		return signal{}, err
	}
	f.guarded++
	sig, err := f.list(b.Body)
	f.guarded--
	if err == nil {
		return sig, f.in.Transaction(f.ctx, "release", save)
	}
	h := f.handler(b, err)
	if h == nil {
		return sig, err
	}
	if err := f.in.Transaction(f.ctx, "rollback_to", save); err != nil {
		return sig, err
	}
	if err := f.in.Transaction(f.ctx, "release", save); err != nil {
		return sig, err
	}
	var caught *sqlerr.Error
	errors.As(f.annotate(err), &caught)
	f.handling = append(f.handling, caught)
	f.push("")
	f.declare(&variable{name: "sqlstate", decl: typeName("text"), val: value{caught.Code, "text"}, constant: true})
	f.declare(&variable{name: "sqlerrm", decl: typeName("text"), val: value{caught.Message, "text"}, constant: true})
	sig, err = f.list(h.Body)
	f.pop()
	f.handling = f.handling[:len(f.handling)-1]
	return sig, err
}

// handler finds the handler of an error. A cancelled statement and a failed ASSERT are caught only by their own names.
func (f *frame) handler(b *plpgsql.Block, err error) *plpgsql.Handler {
	code := sqlerr.Code(err)
	for i, h := range b.Exceptions {
		for _, c := range h.Conds {
			if c.State != "" && matches(c.State, code) || c.Name == "others" && code != sqlerr.QueryCanceled && code != "P0004" {
				return &b.Exceptions[i]
			}
			for _, s := range conditions[c.Name] {
				if matches(s, code) {
					return &b.Exceptions[i]
				}
			}
		}
	}
	return nil
}

// matches reports whether a state covers a code: the same, or its class where the state ends in 000.
func matches(state, code string) bool {
	return state == code || strings.HasSuffix(state, "000") && code[:2] == state[:2]
}

func (f *frame) statement(s plpgsql.PLStmt) (signal, error) {
	switch x := s.(type) {
	case *plpgsql.Block:
		f.step(x, "statement block entry")
		return f.block(x)
	case *plpgsql.PLIf:
		return ifStmt(f, x)
	case *plpgsql.PLCase:
		return caseStmt(f, x)
	case *plpgsql.PLForInt:
		return forInt(f, x)
	case *plpgsql.PLForQuery:
		return forQuery(f, x)
	case *plpgsql.PLForEach:
		return forEach(f, x)
	case *plpgsql.PLWhile:
		return whileStmt(f, x)
	case *plpgsql.PLExit:
		return exitStmt(f, x)
	case *plpgsql.PLReturn:
		return returnStmt(f, x)
	}
	return signal{}, f.simple(s)
}

// simple runs a statement that never ends a loop or the function.
func (f *frame) simple(s plpgsql.PLStmt) error {
	switch x := s.(type) {
	case *plpgsql.PLAssign:
		f.step(x, "assignment")
		v, err := f.eval(x.X)
		if err != nil {
			return err
		}
		return assignTo(f, x.Target, v)
	case *plpgsql.PLRaise:
		f.step(x, "RAISE")
		return raiseStmt(f, x)
	case *plpgsql.PLSQL:
		return sqlStmt(f, x)
	case *plpgsql.PLPerform:
		f.step(x, "PERFORM")
		res, err := f.query(x.Query)
		if err != nil {
			return err
		}
		f.rowCount = int64(len(res.Rows))
		f.setFound(f.rowCount > 0)
		return nil
	case *plpgsql.PLExecute:
		f.step(x, "EXECUTE")
		return executeStmt(f, x)
	case *plpgsql.PLTransaction:
		f.step(x, map[bool]string{false: "COMMIT", true: "ROLLBACK"}[x.Rollback])
		return transactionStmt(f, x)
	case *plpgsql.PLNull:
		return nil
	case *plpgsql.PLGetDiagnostics:
		f.step(x, "GET DIAGNOSTICS")
		return diagnosticsStmt(f, x)
	case *plpgsql.PLAssert:
		f.step(x, "ASSERT")
		return assertStmt(f, x)
	}
	return sqlerr.New(sqlerr.Internal, "internal error: no interpreter for %T", s)
}

// transactionStmt is COMMIT or ROLLBACK; a new transaction begins at once.
func transactionStmt(f *frame, x *plpgsql.PLTransaction) error {
	if f.guarded > 0 {
		return f.fail(x.At, sqlerr.InvalidTransaction, "cannot %s while a subtransaction is active",
			map[bool]string{false: "commit", true: "roll back"}[x.Rollback])
	}
	if f.atomic {
		e := sqlerr.At(int(x.At), sqlerr.InvalidTransaction, "invalid transaction termination")
		e.Text = f.text
		return e.WithHint("COMMIT and ROLLBACK work in DO blocks and procedures outside BEGIN … COMMIT, not in functions.")
	}
	kind := "commit"
	if x.Rollback {
		kind = "rollback"
	}
	if err := f.in.Transaction(f.ctx, kind, ""); err != nil {
		return err
	}
	return f.in.Transaction(f.ctx, "begin", "")
}

// cond evaluates a condition; NULL counts as false.
func (f *frame) cond(x ast.Expr) (bool, error) {
	v, err := f.eval(x)
	if err != nil {
		return false, err
	}
	if v.typ != "boolean" {
		if v, err = f.in.cast(f.ctx, v, typeName("boolean"), f.text); err != nil {
			return false, f.at(err, x.Position())
		}
	}
	b, _ := v.v.(bool)
	return b, nil
}

func ifStmt(f *frame, x *plpgsql.PLIf) (signal, error) {
	for _, a := range x.Arms {
		f.step(a, "IF")
		ok, err := f.cond(a.Cond)
		if err != nil {
			return signal{}, err
		}
		if ok {
			return f.list(a.Body)
		}
	}
	return f.list(x.Else)
}

func caseStmt(f *frame, x *plpgsql.PLCase) (signal, error) {
	f.step(x, "CASE")
	var arg value
	if x.Arg != nil {
		var err error
		if arg, err = f.eval(x.Arg); err != nil {
			return signal{}, err
		}
	}
	for _, a := range x.Arms {
		conds := []ast.Expr{a.Cond}
		if x.Arg != nil {
			conds = conds[:0]
			for _, m := range a.Match {
				conds = append(conds, &ast.Binary{Node: ast.Node{At: m.Position()}, Op: "=", L: arg.bound(m.Position()), R: m})
			}
		}
		for _, c := range conds {
			f.step(a, "CASE")
			ok, err := f.cond(c)
			if err != nil {
				return signal{}, err
			}
			if ok {
				return f.list(a.Body)
			}
		}
	}
	if !x.HasElse {
		e := sqlerr.New("20000", "case not found").WithHint("CASE statement is missing ELSE part.")
		return signal{}, f.at(e, x.At)
	}
	return f.list(x.Else)
}

func exitStmt(f *frame, x *plpgsql.PLExit) (signal, error) {
	f.step(x, map[bool]string{false: "EXIT", true: "CONTINUE"}[x.Continue])
	if x.When != nil {
		if ok, err := f.cond(x.When); err != nil || !ok {
			return signal{}, err
		}
	}
	if x.Continue {
		return signal{sigContinue, x.Label}, nil
	}
	return signal{sigExit, x.Label}, nil
}

// after decides what a loop does with the signal of its body: leave with out, or go on.
func after(sig signal, label string) (out signal, leave bool) {
	mine := sig.label == "" || sig.label == label
	switch {
	case sig.kind == sigExit && mine:
		return signal{}, true
	case sig.kind == sigContinue && mine:
		return signal{}, false
	}
	return sig, sig.kind != sigNone
}

func whileStmt(f *frame, x *plpgsql.PLWhile) (signal, error) {
	for {
		if err := script.Canceled(f.ctx); err != nil {
			return signal{}, err
		}
		f.step(x, "LOOP")
		if x.Cond != nil {
			f.what = "WHILE"
			if ok, err := f.cond(x.Cond); err != nil || !ok {
				return signal{}, err
			}
		}
		sig, err := f.list(x.Body)
		if err != nil {
			return sig, err
		}
		if out, leave := after(sig, x.Label); leave {
			return out, nil
		}
	}
}

// bound evaluates a bound of an integer loop.
func (f *frame) bound(x ast.Expr, what string) (int64, error) {
	v, err := f.eval(x)
	if err == nil {
		v, err = f.in.cast(f.ctx, v, typeName("integer"), f.text)
	}
	if err != nil {
		return 0, f.at(err, x.Position())
	}
	if v.v == nil {
		return 0, f.fail(x.Position(), sqlerr.NullNotAllowed, "%s of FOR loop cannot be null", what)
	}
	return v.v.(int64), nil
}

func forInt(f *frame, x *plpgsql.PLForInt) (signal, error) {
	f.step(x, "FOR with integer loop variable")
	from, err := f.bound(x.From, "lower bound")
	if err != nil {
		return signal{}, err
	}
	to, err := f.bound(x.To, "upper bound")
	if err != nil {
		return signal{}, err
	}
	by := int64(1)
	if x.By != nil {
		if by, err = f.bound(x.By, "BY value"); err != nil {
			return signal{}, err
		}
		if by <= 0 {
			return signal{}, f.fail(x.By.Position(), sqlerr.InvalidParameter, "BY value of FOR loop must be greater than zero")
		}
	}
	f.push(x.Label)
	defer f.pop()
	v := &variable{name: x.Var, decl: typeName("integer")}
	f.declare(v)
	if x.Reverse {
		by = -by
	}
	found := false
	for i := from; by > 0 && i <= to || by < 0 && i >= to; i += by {
		found = true
		v.val = intValue(i)
		sig, err := f.list(x.Body)
		if err != nil {
			return sig, err
		}
		if out, leave := after(sig, x.Label); leave {
			f.setFound(found)
			return out, nil
		}
		if err := script.Canceled(f.ctx); err != nil {
			return signal{}, err
		}
	}
	f.setFound(found)
	return signal{}, nil
}
