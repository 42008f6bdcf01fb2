package places

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/relgrad/relgrad/internal/sqlerr"
	"github.com/relgrad/relgrad/interop/delta"
)

// S3 is a table in a bucket: its objects are those whose keys begin with the prefix.
type S3 struct {
	ctx            context.Context
	client         *s3.Client
	bucket, prefix string // prefix ends with "/" or is empty
	patience       patience

	mu     sync.Mutex
	keeps  bool // If-None-Match, as was seen
	cannot error
}

var _ delta.Files = (*S3)(nil)

// NewS3 returns the place in a bucket.
func NewS3(ctx context.Context, bucket, prefix string, o Options) (*S3, error) {
	if prefix = strings.TrimSuffix(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	if err := o.check(bucket, strings.TrimSuffix(prefix, "/")); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	client := s3.New(s3.Options{Region: o.Region, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: o.Key, SecretAccessKey: o.Secret, SessionToken: o.Token}, nil
		}),
		Retryer: aws.NopRetryer{}, // try.go repeats, and knows what may have been obeyed
		// not all stores know the newer checksums; the request's signature covers the content
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}, func(s *s3.Options) {
		if o.Endpoint != "" {
			s.BaseEndpoint, s.UsePathStyle = &o.Endpoint, true
		}
	})
	return &S3{ctx: ctx, client: client, bucket: bucket, prefix: prefix, patience: usual}, nil
}

func (s *S3) key(name string) *string { return aws.String(s.prefix + name) }

func (s *S3) url(name string) string { return "s3://" + s.bucket + "/" + s.prefix + name }

// List implements delta.Files.
func (s *S3) List(prefix, after string) (out []delta.Info, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix)}
	if after != "" {
		in.StartAfter = s.key(after)
	}
	for {
		var page *s3.ListObjectsV2Output
		_, err := s.try(0, func(a *attempt) (err error) {
			page, err = s.client.ListObjectsV2(a.ctx, in)
			return err
		})
		if err != nil {
			return nil, s.failed(err, "could not list", prefix)
		}
		for _, o := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(o.Key), s.prefix)
			if name != "" && !strings.HasSuffix(name, "/") { // some programs make objects that stand for folders
				out = append(out, delta.Info{Name: name, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)})
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return out, nil
		}
		if aws.ToString(page.NextContinuationToken) == "" {
			return nil, s.failed(errors.New("the list is cut, and the server does not say how it goes on"), "could not list",
				prefix)
		}
		in.ContinuationToken = page.NextContinuationToken
	}
}

// Get implements delta.Files.
func (s *S3) Get(name string, from, n int64) (b []byte, err error) {
	if from < 0 || n == 0 {
		return nil, s.inside(name, from, n)
	}
	in := &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(name)}
	switch {
	case n > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, from+n-1))
	case from > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	_, err = s.try(max(n, 0), func(a *attempt) error {
		out, err := s.client.GetObject(a.ctx, in)
		if err != nil {
			return err
		}
		defer out.Body.Close()
		length := aws.ToInt64(out.ContentLength)
		if in.Range != nil && aws.ToString(out.ContentRange) == "" {
			return errors.New("the server ignores ranges")
		}
		if n >= 0 && length < n {
			return s.short(name, from+length, from, n)
		}
		a.extend(length)
		b = make([]byte, length)
		_, err = io.ReadFull(out.Body, b)
		if err != nil {
			return cut{err}
		}
		return nil
	})
	if answered(err, 416) {
		return nil, s.inside(name, from, n)
	}
	return b, s.failed(err, "could not read", name)
}

// inside checks that n bytes from a place are within an object; none is for those that follow its end.
func (s *S3) inside(name string, from, n int64) error {
	var size int64
	_, err := s.try(0, func(a *attempt) error {
		out, err := s.client.HeadObject(a.ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(name)})
		if err == nil {
			size = aws.ToInt64(out.ContentLength)
		}
		return err
	})
	if err != nil {
		return s.failed(err, "could not read", name)
	}
	if from < 0 || from+max(n, 0) > size {
		return s.short(name, size, from, max(n, 0))
	}
	return nil
}

// short is the error of an object that has fewer bytes than are asked for.
func (s *S3) short(name string, size, from, n int64) error {
	return sqlerr.New(sqlerr.DataCorrupted, "file \"%s\" has %d bytes, no %d from byte %d", s.url(name), size, n, from).
		Wrap(io.ErrUnexpectedEOF)
}

// put writes an object once, or as often as it takes.
func (s *S3) put(name string, data []byte, condition *string) (unsure bool, err error) {
	return s.try(int64(len(data)), func(a *attempt) error {
		_, err := s.client.PutObject(a.ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: s.key(name), IfNoneMatch: condition,
			Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data)))})
		return err
	})
}

// Put implements delta.Files.
func (s *S3) Put(name string, data []byte) error {
	_, err := s.put(name, data, nil)
	return s.failed(err, "could not write", name)
}

// PutIfAbsent implements delta.Files. Where an answer was lost, the object that is there is this one if it has the same
// content.
func (s *S3) PutIfAbsent(name string, data []byte) error {
	if err := s.probe(); err != nil {
		return err
	}
	unsure, err := s.put(name, data, aws.String("*"))
	if err == nil {
		return nil
	}
	there := answered(err, 412)
	if unsure {
		if b, e := s.Get(name, 0, -1); e == nil {
			if bytes.Equal(b, data) {
				return nil
			}
			there = true
		} else if there {
			return e // nobody knows whose it is
		}
	}
	if there {
		return sqlerr.New(sqlerr.IO, "could not write \"%s\": there is such an object", s.url(name)).Wrap(fs.ErrExist)
	}
	return s.failed(err, "could not write", name)
}

// Delete implements delta.Files.
func (s *S3) Delete(name string) error {
	_, err := s.try(0, func(a *attempt) error {
		_, err := s.client.DeleteObject(a.ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(name)})
		return err
	})
	if code(err) == "NoSuchKey" {
		return nil
	}
	return s.failed(err, "could not delete", name)
}

// usual is how long requests are waited for.
var usual = patience{tries: 5, pause: 100 * time.Millisecond, answer: 30 * time.Second, rate: 256 << 10}
