// Package places opens the place where a table of Delta Lake lies, by its name.
//
// # What
//
// Open takes a folder, "file:///…", or "s3://bucket/prefix": a bucket of Amazon S3 or of a store that speaks its
// language. The usual variables of the environment say how to reach it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. S3 (s3.go) implements
// delta.Files by the library of Amazon; it repeats requests whose failure may pass (try.go).
//
// # Invariants
//
// A commit is written with If-None-Match: *, so that of two writers one wins. Before the first such request the store
// is asked whether it keeps to that header (probe.go), because a store that ignores it would lose commits. The answer
// to a request may be lost after it was obeyed: then the object's content tells whose it is. What is read is as long as
// was asked for, or an error. The context given to Open ends all requests.
//
// # Errors
//
// *sqlerr.Error with the object's URL and what the server said. Missing objects are fs.ErrNotExist, present ones
// fs.ErrExist, as delta.Files asks.
//
// # Where to add
//
// Another kind of place: a type that implements delta.Files, and its scheme in Open. internal/deltatest tests it.
package places
