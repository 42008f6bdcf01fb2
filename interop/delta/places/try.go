package places

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/relgrad/relgrad/internal/sqlerr"
)

// patience says how often a request is repeated and how long it is waited for.
type patience struct {
	tries  int
	pause  time.Duration // before the second try; each further one waits twice as long
	answer time.Duration // for the answer to begin
	rate   int64         // bytes a second: the least that a transfer must reach
}

// attempt is one try of a request, which ends with its context.
type attempt struct {
	ctx   context.Context
	timer *time.Timer
	p     *patience
}

// errSlow ends an attempt that takes too long.
var errSlow = errors.New("the server is too slow")

// extend gives an attempt the time to transfer so many bytes.
func (a *attempt) extend(bytes int64) { a.timer.Reset(a.p.time(bytes)) }

func (p *patience) time(bytes int64) time.Duration {
	return p.answer + time.Duration(float64(bytes)/float64(p.rate)*float64(time.Second))
}

// given is the error of the last of some tries.
type given struct {
	error
	tries int
}

func (g given) Unwrap() error { return g.error }

// cut is the error of an answer that ends before its end.
type cut struct{ error }

func (c cut) Unwrap() error { return c.error }

// try makes a request again while its failure may pass. size is what it transfers. unsure reports whether a try before
// the last one, or the last one, may have been obeyed though its answer was lost.
func (s *S3) try(size int64, request func(a *attempt) error) (unsure bool, err error) {
	for n, pause := 1, s.patience.pause; ; n, pause = n+1, 2*pause {
		ctx, cancel := context.WithCancelCause(s.ctx)
		a := &attempt{ctx, time.AfterFunc(s.patience.time(size), func() { cancel(errSlow) }), &s.patience}
		err = request(a)
		a.timer.Stop()
		if err != nil && s.ctx.Err() == nil && context.Cause(ctx) == errSlow {
			err = fmt.Errorf("%w: no whole answer within %v", errSlow, s.patience.time(size).Round(time.Millisecond))
		}
		cancel(nil)
		passes, lost := judge(err)
		unsure = unsure || lost
		if !passes || n == s.patience.tries || s.ctx.Err() != nil {
			if passes {
				err = given{err, n}
			}
			return unsure, err
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// judge reports whether a failure may pass, and whether the request may have been obeyed all the same.
func judge(err error) (passes, lost bool) {
	var send *smithyhttp.RequestSendError
	status := statusOf(err)
	switch {
	case err == nil:
		return false, false
	case errors.Is(err, errSlow) || errors.As(err, &send) || errors.As(err, new(cut)):
		return true, true
	case status >= 500 && status != 501:
		return true, true
	case slices.Contains([]string{"RequestTimeout", "SlowDown"}, code(err)),
		status == 409, status == 429, status == 408:
		return true, false
	case status == 200: // an answer that ends early, or makes no sense
		return true, true
	}
	return false, false
}

// statusOf is the status of the answer; 0 where there was none.
func statusOf(err error) int {
	var e *smithyhttp.ResponseError
	if !errors.As(err, &e) {
		return 0
	}
	return e.HTTPStatusCode()
}

func answered(err error, status int) bool { return statusOf(err) == status }

// code is the server's name of an error.
func code(err error) string {
	var e smithy.APIError
	if !errors.As(err, &e) {
		return ""
	}
	return e.ErrorCode()
}

// failed is the error of a request; nil where err is nil.
func (s *S3) failed(err error, what, name string) error {
	var e *sqlerr.Error
	switch {
	case err == nil || errors.As(err, &e):
		return err
	case s.ctx.Err() != nil:
		return sqlerr.Canceled(s.ctx.Err())
	}
	say := func(sqlstate, format string, args ...any) *sqlerr.Error {
		e := sqlerr.New(sqlstate, what+" \"%s\": "+format, append([]any{s.url(name)}, args...)...).Wrap(err)
		if g := (given{}); errors.As(err, &g) {
			e = e.WithDetail("It was tried %d times.", g.tries)
		}
		return e
	}
	var api smithy.APIError
	answer := err.Error()
	if status := statusOf(err); status > 200 {
		if answer = fmt.Sprintf("the server answers %d", status); errors.As(err, &api) {
			answer += fmt.Sprintf(" %s: %s", api.ErrorCode(), api.ErrorMessage())
		}
	}
	switch status := statusOf(err); {
	case code(err) == "NoSuchBucket":
		return say(sqlerr.UndefinedFile, "there is no bucket \"%s\"", s.bucket)
	case status == 404:
		return say(sqlerr.UndefinedFile, "there is no such object").Wrap(errors.Join(fs.ErrNotExist, err))
	case status == 401 || status == 403:
		return say(sqlerr.InsufficientPrivilege, "%s", answer).
			WithHint("Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what the key may do with the bucket.")
	case status == 301 || code(err) == "AuthorizationHeaderMalformed":
		return say(sqlerr.InvalidParameter, "%s", answer).WithHint("Set AWS_REGION to the region of the bucket.")
	}
	return say(sqlerr.IO, "%s", answer)
}
