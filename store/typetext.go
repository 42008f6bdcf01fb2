package store

import "strings"

func typeText(t Type, modifier []int) string {
	name := t.String()
	if len(modifier) == 0 {
		return name
	}
	if t.Name == "text" {
		name = "character varying"
	}
	mods := make([]string, len(modifier))
	for i, m := range modifier {
		mods[i] = itoa(m)
	}
	if t.is(tNumeric) && len(mods) == 1 {
		mods = append(mods, "0")
	}
	base, array := strings.CutSuffix(name, "[]")
	base, zone, _ := strings.Cut(base, " with") // timestamp(3) without time zone
	if zone != "" {
		zone = " with" + zone
	}
	name = base + "(" + strings.Join(mods, ",") + ")" + zone
	if array {
		name += "[]"
	}
	return name
}

// otherTypes are names of Postgres's types that the store has no values of. A function may name them: it fails when it
// is called.
var otherTypes = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Split(`void,record,trigger,event_trigger,any,anyelement,anyarray,anynonarray,anyenum,anyrange,anymultirange,anycompatible,`+
		`anycompatiblearray,anycompatiblenonarray,anycompatiblerange,anycompatiblemultirange,cstring,internal,unknown,refcursor,`+
		`character varying,name,"char",character,oid,bytea,time,time without time zone,time with time zone,interval,inet,cidr,macaddr,macaddr8,money,bit,bit varying,`+
		`box,circle,line,lseg,path,point,polygon,tsquery,tsvector,xml,regproc,regprocedure,regtype,regnamespace,regrole,pg_lsn,xid,cid,tid,`+
		`int4range,int8range,numrange,tsrange,tstzrange,daterange,timestamp without time zone`, ",") {
		out[name] = true
	}
	return out
}()

// declared prints the type with its brackets as declared: real[][].
func (t Type) declared() string {
	if !t.Array {
		return t.String()
	}
	return t.elem().String() + strings.Repeat("[]", max(1, t.Rank))
}
