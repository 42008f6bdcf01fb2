package columns

import "strings"

// OtherTypes are names of Postgres's types of which the store has no values. A function may use them in its signature,
// and fails when it is called.
var OtherTypes = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Split(`void,record,trigger,event_trigger,any,anyelement,anyarray,anynonarray,anyenum,`+
		`anyrange,anymultirange,anycompatible,`+
		`anycompatiblearray,anycompatiblenonarray,anycompatiblerange,anycompatiblemultirange,`+
		`cstring,internal,unknown,refcursor,`+
		`character varying,name,"char",character,oid,bytea,time,time without time zone,time with time `+
		`zone,interval,inet,cidr,macaddr,macaddr8,money,bit,bit varying,`+
		`box,circle,line,lseg,path,point,polygon,tsquery,tsvector,xml,regproc,regprocedure,regtype,`+
		`regnamespace,regrole,pg_lsn,xid,cid,tid,`+
		`int4range,int8range,numrange,tsrange,tstzrange,daterange,timestamp without time zone`, ",") {
		out[name] = true
	}
	return out
}()
