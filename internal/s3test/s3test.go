// Package s3test is a server of objects for tests, which speaks as much of the language of Amazon S3 as tables need.
//
// # What
//
// New starts a server with one bucket, in memory: list (version 2, by pages), get with a range, head, put with
// If-None-Match, delete. Fault lets a test spoil answers.
//
// # Invariants
//
// A request must be signed with the key, and its content must be that which was signed.
//
// # Errors
//
// Answers of the codes that Amazon's servers give.
//
// # Where to add
//
// A request: a case in serve. A way to fail: a field of Fault.
package s3test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key and Secret are what requests are signed with, Bucket is the server's only one.
const (
	Key, Secret = "the-key", "the-secret"
	Bucket      = "tables"
)

// Fault is a way to spoil an answer.
type Fault struct {
	Status int           // the request is not obeyed and answered with this status
	Code   string        // of that answer
	Lose   bool          // the request is obeyed; the connection is cut before the answer
	Half   bool          // the connection is cut in the middle of the answer
	Wait   time.Duration // before the answer
}

// Server is a server of objects.
type Server struct {
	URL      string
	Fault    func(r *http.Request) Fault // asked for each request, by one goroutine at a time
	Page     int                         // how many objects a page of a list has
	Ignores  bool                        // If-None-Match
	Requests map[string]int              // by method

	mu      sync.Mutex
	objects map[string]object
}

type object struct {
	data  []byte
	since time.Time
}

// New starts a server, which ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Page: 1000, Requests: map[string]int{}, objects: map[string]object{}}
	h := httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Environment makes the server that of tables in buckets, for the rest of a test.
func (s *Server) Environment(t testing.TB) { Environment(t, s.URL) }

// Environment sets the variables that say how an object store is reached.
func Environment(t testing.TB, endpoint string) {
	for name, v := range map[string]string{"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret,
		"AWS_ENDPOINT_URL": endpoint, "AWS_ENDPOINT_URL_S3": "", "AWS_REGION": "eu-central-1", "AWS_SESSION_TOKEN": ""} {
		t.Setenv(name, v)
	}
}

// Object is the content of an object, nil if there is none.
func (s *Server) Object(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key].data
}

// Set writes an object, or deletes it where data is nil.
func (s *Server) Set(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] = (object{data, time.Now()}); data == nil {
		delete(s.objects, key)
	}
}

// handle answers a request, or spoils the answer.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.Requests[r.Method]++
	f := Fault{}
	if s.Fault != nil {
		f = s.Fault(r)
	}
	out := httptest.NewRecorder()
	if f.Status != 0 {
		fail(out, f.Status, f.Code)
	} else {
		s.serve(out, r, body)
	}
	s.mu.Unlock()
	select {
	case <-time.After(f.Wait):
	case <-r.Context().Done():
	}
	if f.Lose {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), out.Header())
	w.WriteHeader(out.Code)
	if b := out.Body.Bytes(); r.Method != http.MethodHead {
		if f.Half {
			_, _ = w.Write(b[:len(b)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(b)
	}
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>the server says %s</Message></Error>", code, code)
}

// serve obeys a request.
func (s *Server) serve(w *httptest.ResponseRecorder, r *http.Request, body []byte) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	sum := sha256.Sum256(body)
	o, there := s.objects[key]
	switch {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+Key+"/"):
		fail(w, 403, "InvalidAccessKeyId")
	case r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
		fail(w, 400, "XAmzContentSHA256Mismatch")
	case bucket != Bucket:
		fail(w, 404, "NoSuchBucket")
	case key == "" && r.URL.Query().Get("list-type") == "2":
		s.list(w, r)
	case r.Method == http.MethodPut:
		if there && r.Header.Get("If-None-Match") == "*" && !s.Ignores {
			fail(w, 412, "PreconditionFailed")
			return
		}
		s.objects[key] = object{body, time.Now()}
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(204)
	case !there:
		fail(w, 404, "NoSuchKey")
	default:
		http.ServeContent(w, r, "", o.since, bytes.NewReader(o.data))
	}
}

// list answers a list of objects.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	type content struct {
		Key          string
		Size         int
		LastModified string
	}
	out := struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string `xml:",omitempty"`
		Contents              []content
	}{}
	q := r.URL.Query()
	after := max(q.Get("start-after"), q.Get("continuation-token"))
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= after {
			continue
		}
		if len(out.Contents) == s.Page {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[s.Page-1].Key
			break
		}
		o := s.objects[key]
		out.Contents = append(out.Contents, content{key, len(o.data), o.since.UTC().Format("2006-01-02T15:04:05.000000Z")})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}
