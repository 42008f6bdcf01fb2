package places

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
)

// IsURL reports whether a name is that of a URL, not of a folder.
func IsURL(name string) bool { return strings.Contains(name, "://") }

// Resolve is the name of a folder that is written with a relative one, which begins at dir, or at the process's folder
// where dir is "". A URL is itself; ~/ is the user's home.
func Resolve(dir, name string) string {
	if IsURL(name) || name == "" {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) || dir == "" {
		return name
	}
	return filepath.Join(dir, name)
}

// Open returns the place of a name: of a folder, or of a URL. Nothing is asked of the place yet.
func Open(ctx context.Context, name string) (delta.Files, error) {
	scheme, rest, isURL := strings.Cut(name, "://")
	switch {
	case name == "":
		return nil, sqlerr.New(sqlerr.InvalidParameter, "a table without a name").WithHint("Name a folder or a URL.")
	case !isURL:
		return delta.NewLocal(name), nil
	case scheme == "file":
		u, err := url.Parse(name)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return nil, sqlerr.New(sqlerr.InvalidParameter, "\"%s\" names no folder of this machine", name)
		}
		return delta.NewLocal(filepath.FromSlash(u.Path)), nil
	case scheme == "s3" || scheme == "s3a":
		o, err := fromEnvironment()
		if err != nil {
			return nil, err
		}
		bucket, prefix, _ := strings.Cut(rest, "/")
		return NewS3(ctx, bucket, prefix, o)
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported, "\"%s\" is at a kind of place, \"%s\", that is not known", name,
		scheme).WithHint("Name a folder, or s3://bucket/prefix.")
}

// Options say how an object store is reached.
type Options struct {
	Key, Secret, Token string
	Region             string
	Endpoint           string // a URL; "" for Amazon's own
}

// fromEnvironment reads the variables that Amazon's own programs read.
func fromEnvironment() (Options, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := os.Getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	o := Options{Key: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		Token: os.Getenv("AWS_SESSION_TOKEN"), Region: first("AWS_REGION", "AWS_DEFAULT_REGION"),
		Endpoint: first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.Key == "" || o.Secret == "" {
		return o, sqlerr.New(sqlerr.InvalidParameter, "an object store needs a key and its secret").
			WithHint("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_REGION or AWS_ENDPOINT_URL.")
	}
	return o, nil
}

// check refuses names that no object can have.
func (o Options) check(bucket, prefix string) error {
	if bucket == "" {
		return sqlerr.New(sqlerr.InvalidParameter, "a URL without a bucket").WithHint("Write s3://bucket/prefix.")
	}
	for _, bad := range []string{"", ".", ".."} {
		if prefix != "" && slices.Contains(strings.Split(prefix, "/"), bad) {
			return sqlerr.New(sqlerr.InvalidParameter, "the prefix \"%s\" has a step \"%s\"", prefix, bad)
		}
	}
	if u, err := url.Parse(o.Endpoint); o.Endpoint != "" && (err != nil || u.Host == "" ||
		u.Scheme != "http" && u.Scheme != "https") {
		return sqlerr.New(sqlerr.InvalidParameter, "the endpoint \"%s\" is no URL of http or https", o.Endpoint).
			WithHint("It is that of AWS_ENDPOINT_URL, such as http://localhost:9000.")
	}
	return nil
}
