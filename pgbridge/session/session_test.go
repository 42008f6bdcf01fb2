package session

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

// TestPartsForget: each part of a session that keeps answers of the server drops them on forget.
func TestPartsForget(t *testing.T) {
	type dropper = interface{ drop() }
	s := New(&noted{})
	parts := map[reflect.Type]bool{}
	var visit func(v reflect.Value)
	visit = func(v reflect.Value) {
		if v.Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Struct || v.IsNil() || parts[v.Type()] {
			return
		}
		parts[v.Type()] = true
		if d, ok := v.Interface().(dropper); ok && !slices.Contains(s.known, d) {
			t.Errorf("%s keeps answers, and is not told that they may have changed", v.Type())
		}
		for i := range v.Elem().NumField() {
			f := v.Elem().Field(i)
			visit(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()) // the field is not exported
		}
	}
	for _, part := range []any{s.settings, s.searchPath, s.types, s.names, s.reach, s.statements, s.rows, s.runs} {
		visit(reflect.ValueOf(part))
	}
	if len(s.known) < 7 {
		t.Errorf("%d parts keep answers", len(s.known))
	}
}
