package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"testing"
	"time"

	"github.com/relgrad/relgrad/internal/deltatest"
	"github.com/relgrad/relgrad/internal/s3test"
	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/internal/sqlerr/sqlerrtest"
	"github.com/relgrad/relgrad/interop"
	"github.com/relgrad/relgrad/interop/delta"
)

// at opens a place of a server and makes it impatient.
func at(t testing.TB, name string) *S3 {
	t.Helper()
	files, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	s := files.(*S3)
	s.patience = patience{tries: 3, pause: time.Millisecond, answer: 5 * time.Second, rate: 1 << 20}
	return s
}

// TestS3 tests tables in a bucket, whose lists come in pages, with and without a prefix.
func TestS3(t *testing.T) {
	for _, name := range []string{"s3://tables/a table/ünter/", "s3a://tables"} {
		deltatest.Run(t, func(t *testing.T) delta.Files {
			server := s3test.New(t)
			server.Page = 3
			server.Environment(t)
			return at(t, name)
		})
	}
}

// TestUnreliable tests tables in a bucket whose server fails every third request, in all ways that pass, also after it
// has obeyed.
func TestUnreliable(t *testing.T) {
	deltatest.Run(t, func(t *testing.T) delta.Files {
		server := s3test.New(t)
		server.Environment(t)
		n := 0
		server.Fault = func(r *http.Request) s3test.Fault {
			if n++; n%3 != 0 {
				return s3test.Fault{}
			}
			return []s3test.Fault{{Status: 500, Code: "InternalError"}, {Lose: true}, {Status: 503, Code: "SlowDown"},
				{Half: true}, {Status: 409, Code: "ConditionalRequestConflict"}, {Lose: true}}[n/3%6]
		}
		s := at(t, "s3://tables/t")
		s.patience.tries = 10
		return s
	})
}

// create creates a table and appends a row to it; it returns the error of the second.
func create(t testing.TB, files delta.Files, spoil func()) error {
	t.Helper()
	s, err := first(files)
	if err != nil {
		t.Fatal(err)
	}
	spoil()
	tx, err := s.Begin(delta.WriteOptions{})
	if err == nil {
		err = tx.Write([]any{int64(2)})
	}
	if err == nil {
		_, err = tx.Commit("WRITE")
	}
	return err
}

func first(files delta.Files) (*delta.Snapshot, error) {
	tx, err := delta.Create(files, []interop.Field{{Name: "k", Type: "long"}}, delta.TableOptions{}, delta.WriteOptions{})
	if err != nil {
		return nil, err
	}
	if err := tx.Write([]any{int64(1)}); err != nil {
		return nil, err
	}
	return tx.Commit("CREATE")
}

// TestFailures: a failure that does not pass is a clear error, and the table is what it was before.
func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		fault s3test.Fault
		code  string
		words []string
	}{
		"500": {s3test.Fault{Status: 500, Code: "InternalError"}, sqlerr.IO, []string{"500 InternalError", "part-"}},
		"403": {s3test.Fault{Status: 403, Code: "AccessDenied"}, sqlerr.InsufficientPrivilege,
			[]string{"403 AccessDenied", "AWS_ACCESS_KEY_ID"}},
		"cut": {s3test.Fault{Lose: true, Status: 500}, sqlerr.IO, []string{"EOF", "s3://tables/t/part-"}},
		"slow": {s3test.Fault{Wait: 300 * time.Millisecond, Status: 500}, sqlerr.IO,
			[]string{"too slow", "50ms", "s3://tables/t/part-"}},
		"region":  {s3test.Fault{Status: 301, Code: "PermanentRedirect"}, sqlerr.InvalidParameter, []string{"AWS_REGION"}},
		"no more": {s3test.Fault{Status: 507, Code: "Full"}, sqlerr.IO, []string{"507 Full"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := s3test.New(t)
			server.Environment(t)
			files := at(t, "s3://tables/t")
			err := create(t, files, func() {
				server.Fault = func(r *http.Request) s3test.Fault {
					if r.Method != http.MethodPut {
						return s3test.Fault{}
					}
					return c.fault
				}
				if c.fault.Wait > 0 {
					files.patience = patience{tries: 2, pause: time.Millisecond, answer: 50 * time.Millisecond, rate: 1 << 30}
				}
			})
			sqlerrtest.Refused(t, err, c.code, c.words...)
			server.Fault = nil
			files.patience.answer = time.Second
			if s, err := delta.Open(files, delta.Latest()); err != nil || s.Version != 0 {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
	server := s3test.New(t)
	server.Environment(t)
	_, err := delta.Open(at(t, "s3://elsewhere/t"), delta.Latest())
	sqlerrtest.Refused(t, err, sqlerr.UndefinedFile, "no bucket \"elsewhere\"")
	_, err = at(t, "s3://tables/t").Get("x", 0, -1)
	sqlerrtest.Refused(t, err, sqlerr.UndefinedFile, "s3://tables/t/x")
	t.Setenv("AWS_ACCESS_KEY_ID", "another")
	_, err = delta.Open(at(t, "s3://tables/t"), delta.Latest())
	sqlerrtest.Refused(t, err, sqlerr.InsufficientPrivilege, "InvalidAccessKeyId")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	_, err = delta.Open(at(t, "s3://tables/t"), delta.Latest())
	sqlerrtest.Refused(t, err, sqlerr.IO, "refused", "3 times")
	ctx, cancel := context.WithCancel(context.Background())
	files, err := Open(ctx, "s3://tables/t")
	cancel()
	if err == nil {
		_, err = files.List("", "")
	}
	sqlerrtest.Refused(t, err, sqlerr.QueryCanceled)
}

// TestLostAnswer: where the answer to a conditional write is lost, the writer learns whose object is there.
func TestLostAnswer(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	s := at(t, "s3://tables/t")
	if err := s.probe(); err != nil {
		t.Fatal(err)
	}
	mine, other := []byte("mine"), []byte("other")
	// each fault is of one write; ahead: another has written before the write is repeated
	for i, c := range []struct {
		faults []s3test.Fault
		ahead  bool
		want   error
	}{
		{[]s3test.Fault{{Lose: true}}, false, nil},
		{[]s3test.Fault{{Lose: true}, {Lose: true}, {Lose: true}}, false, nil},
		{[]s3test.Fault{{Status: 500}}, false, nil},
		{[]s3test.Fault{{Status: 500}}, true, fs.ErrExist},
		{[]s3test.Fault{{Status: 409, Code: "ConditionalRequestConflict"}}, true, fs.ErrExist},
		{[]s3test.Fault{{Status: 500}, {Status: 500}, {Status: 500}}, true, fs.ErrExist},
	} {
		name := fmt.Sprint("object ", i)
		key, k := "t/"+name, 0
		server.Fault = func(r *http.Request) (f s3test.Fault) {
			if r.Method == http.MethodPut && k < len(c.faults) {
				f = c.faults[k]
				k++
			}
			return f
		}
		if c.ahead {
			server.Set(key, other)
		}
		if err := s.PutIfAbsent(name, mine); !errors.Is(err, c.want) {
			t.Errorf("%d: %v", i, err)
		}
		want := mine
		if c.ahead {
			want = other
		}
		if got := server.Object(key); !bytes.Equal(got, want) {
			t.Errorf("%d: the object is %q", i, got)
		}
	}
	server.Fault = nil
	server.Set("t/z", mine) // the same content, but of somebody else: nothing was lost
	if err := s.PutIfAbsent("z", mine); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

// TestCuts: answers that are cut are read again; in the end the error says so.
func TestCuts(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	s := at(t, "s3://tables/t")
	data := bytes.Repeat([]byte("0123456789"), 100000)
	server.Set("t/x", data)
	cuts := 0
	server.Fault = func(*http.Request) s3test.Fault { cuts--; return s3test.Fault{Half: cuts >= 0} }
	for n := range 3 {
		cuts = n
		if b, err := s.Get("x", 10, 900000); err != nil || !bytes.Equal(b, data[10:900010]) {
			t.Errorf("%d cuts: %d bytes, %v", n, len(b), err)
		}
	}
	cuts = 3
	_, err := s.Get("x", 0, -1)
	sqlerrtest.Refused(t, err, sqlerr.IO, "s3://tables/t/x", "unexpected EOF", "3 times")
	cuts = 3
	_, err = s.List("", "")
	sqlerrtest.Refused(t, err, sqlerr.IO, "EOF", "3 times")
}

// TestUnconditional: a store that ignores If-None-Match is not written to. What is there is read.
func TestUnconditional(t *testing.T) {
	server := s3test.New(t)
	server.Environment(t)
	if _, err := first(at(t, "s3://tables/t")); err != nil {
		t.Fatal(err)
	}
	server.Ignores = true
	s := at(t, "s3://tables/t")
	if _, err := delta.Open(s, delta.Latest()); err != nil {
		t.Error(err)
	}
	for range 2 {
		sqlerrtest.Refused(t, s.PutIfAbsent("x", []byte("x")), sqlerr.FeatureNotSupported, "If-None-Match", "s3://tables/t")
	}
	if server.Object("t/x") != nil {
		t.Error("it was written")
	}
	server.Ignores = false
	server.Fault = func(r *http.Request) s3test.Fault {
		if r.Header.Get("If-None-Match") != "" {
			return s3test.Fault{Status: 501, Code: "NotImplemented"}
		}
		return s3test.Fault{}
	}
	sqlerrtest.Refused(t, at(t, "s3://tables/t").PutIfAbsent("x", nil), sqlerr.FeatureNotSupported, "If-None-Match")
}

// TestOpen opens folders and refuses names that are none.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, "file://" + dir, "file://localhost" + dir} {
		files, err := Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Put("x", []byte(name)); err != nil {
			t.Error(err)
		}
	}
	if b, err := delta.NewLocal(dir).Get("x", 0, -1); string(b) != "file://localhost"+dir {
		t.Errorf("%q, %v", b, err)
	}
	s3test.Environment(t, "")
	for name, words := range map[string]string{"": "without a name", "gs://b/t": "\"gs\"", "file://far/x": "no folder",
		"s3://": "without a bucket", "s3:///x": "without a bucket", "s3://b/a/../c": "\"..\"", "s3://b//c": "step \"\""} {
		_, err := Open(t.Context(), name)
		want := sqlerr.InvalidParameter
		if name == "gs://b/t" {
			want = sqlerr.FeatureNotSupported
		}
		sqlerrtest.Refused(t, err, want, words)
	}
	t.Setenv("AWS_ENDPOINT_URL", "localhost:9000")
	_, err := Open(t.Context(), "s3://b/t")
	sqlerrtest.Refused(t, err, sqlerr.InvalidParameter, "localhost:9000", "http://localhost:9000")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	_, err = Open(t.Context(), "s3://b/t")
	sqlerrtest.Refused(t, err, sqlerr.InvalidParameter, "AWS_SECRET_ACCESS_KEY")
}
