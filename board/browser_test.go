package board

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/internal/need"
	"github.com/relgrad/relgrad/internal/sqlerr"
)

// tab is a page of Chromium. What its console says besides notes is kept.
type tab struct {
	t   *testing.T
	ctx context.Context
	sync.Mutex
	said []string
}

func openTab(t *testing.T) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(need.Chromium(t)), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, func(event any) {
		b.Lock()
		defer b.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.said = append(b.said, fmt.Sprint(e.ExceptionDetails.Text, " ", e.ExceptionDetails.Exception.Description))
		case *runtime.EventConsoleAPICalled:
			for _, a := range e.Args {
				b.said = append(b.said, fmt.Sprint(e.Type, " ", string(a.Value), a.Description))
			}
		case *cdplog.EventEntryAdded:
			b.said = append(b.said, e.Entry.Text+" "+e.Entry.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of an expression in JavaScript, or what it promises.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	x, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// wait waits until a condition in JavaScript holds.
func (b *tab) wait(what, condition string) {
	b.t.Helper()
	for end := time.Now().Add(40 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if eval[bool](b, "Boolean("+condition+")") {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s: never\n%.600s\n%v", what, eval[string](b, "document.body.innerText"), b.said)
		}
	}
}

// quiet fails if the console has said something.
func (b *tab) quiet(where string) {
	b.t.Helper()
	b.Lock()
	defer b.Unlock()
	if len(b.said) > 0 {
		b.t.Errorf("%s: the console says %q", where, b.said)
	}
	b.said = nil
}

// overflow lists what is wider than its box though it does not scroll, and a page that is wider than the window.
const overflow = `(() => {
	const out = [];
	const d = document.scrollingElement;
	if (d.scrollWidth > innerWidth) out.push('the page: ' + d.scrollWidth + ' of ' + innerWidth);
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('svg') || e.closest('.uplot') || !e.clientWidth) continue;
		const style = getComputedStyle(e);
		if (e.scrollWidth > e.clientWidth + 1 && style.overflowX === 'visible' && style.display !== 'inline')
			out.push(e.tagName + '.' + e.className + ': ' + e.scrollWidth + ' of ' + e.clientWidth);
	}
	for (const g of document.querySelectorAll('.picture .node')) {
		const box = g.querySelector('.box').getBBox();
		for (const t of g.querySelectorAll('text')) {
			const b = t.getBBox();
			if (b.x < box.x || b.x + b.width > box.x + box.width) out.push('node: ' + t.textContent);
		}
		const [op, figure] = g.querySelectorAll('text:not(.what)');
		if (figure && op.getBBox().x + op.getBBox().width > figure.getBBox().x) out.push('node: ' + g.textContent);
	}
	return out.join('\n');
})()`

// looks are how a page is seen.
var looks = []struct {
	name, scheme string
	width        int64
}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"phone", "light", 390}, {"phone-dark", "dark", 390}}

// Every page loads without a word on the console, shows what it is for, and nothing juts out of its box. Pictures go
// into the folder RELGRAD_SHOTS.
func TestPages(t *testing.T) {
	b := openTab(t)
	s := serve(t, onStore(filled(t, model)))
	b.do(chromedp.Navigate(s.URL()))
	base := s.URL()[:strings.Index(s.URL(), "?")]
	for _, look := range looks {
		b.do(chromedp.EmulateViewport(look.width, 800))
		if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, p := range []struct{ name, hash, ready string }{
			{"runs", "runs", `document.querySelectorAll('tbody tr').length === 3`},
			{"curves", "curves/1,2,3", `document.querySelector('#chart canvas') &&
				document.querySelectorAll('.legend button').length === 5`},
			{"parameters", "parameters/1", `document.querySelectorAll('.card rect').length === 96`},
			{"plan", "plan/1/opt", `document.querySelectorAll('.picture .node').length > 8`},
			{"program", "plan/1/analyze", `document.querySelectorAll('.picture .share').length > 2`},
			{"sites", "plan/1/sites/3", `document.querySelectorAll('.picture .node').length > 8`},
			{"sql", "sql/1", `document.querySelectorAll('pre').length > 3`},
			{"error", "plan/77/opt", `document.querySelector('#error').innerText.includes('run 77 does not exist')`},
		} {
			where := look.name + ", " + p.name
			b.do(chromedp.Navigate(base + "#" + p.hash))
			b.wait(where, p.ready)
			b.do(chromedp.Sleep(150 * time.Millisecond))
			if wide := eval[string](b, overflow); wide != "" {
				t.Errorf("%s: too wide:\n%s", where, wide)
			}
			if dir := os.Getenv("RELGRAD_SHOTS"); dir != "" {
				png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, look.name+"-"+p.name+".png"), png, 0o600); err != nil {
					t.Error(err)
				}
			}
			if p.name == "error" { // Chromium itself notes the status of the answer
				b.Lock()
				if len(b.said) != 1 || !strings.Contains(b.said[0], "404") {
					t.Errorf("%s: the console says %q", where, b.said)
				}
				b.said = nil
				b.Unlock()
			}
			b.quiet(where)
		}
	}
}

// A plan can be walked by mouse and keys.
func TestWalk(t *testing.T) {
	b := openTab(t)
	s := serve(t, onStore(filled(t, model)))
	const chosen = `document.querySelector('.node[aria-pressed=true] title').textContent`
	b.do(chromedp.Navigate(s.URL()))
	b.do(chromedp.Navigate(s.URL()[:strings.Index(s.URL(), "?")] + "#plan/1/ra"))
	b.wait("plan", `document.querySelectorAll('.picture .node').length > 3`)
	press := func(key string) string {
		return eval[string](b, `document.querySelector('.node[aria-pressed=true]').dispatchEvent(
			new KeyboardEvent('keydown', {key: '`+key+`', bubbles: true})); `+chosen)
	}
	first, down, up := eval[string](b, chosen), press("ArrowDown"), press("ArrowUp")
	link := eval[string](b, `document.querySelector('aside dd button').click(); `+chosen)
	if first == "" || down == first || up != first || link != down {
		t.Errorf("chosen %q, below it %q, back %q, by the link %q", first, down, up, link)
	}
	b.quiet("walk")
}

// The chart moves while a run trains in another session, and shows when it has ended.
func TestCurvesMove(t *testing.T) {
	b := openTab(t)
	file := filled(t, model)
	s := serve(t, onStore(file))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		db, err := relgrad.Open(file)
		if err == nil {
			_, err = db.Run(ctx, `CALL train('loss', ARRAY['w','v'], optimizer => 'adam', lr => 1e-5, epochs => 100000000)`)
			err = errors.Join(err, db.Close())
		}
		done <- err
	}()
	defer stop()
	b.do(chromedp.Navigate(s.URL()))
	b.wait("the run is listed", `document.querySelector('.status.running')`)
	b.do(chromedp.Navigate(s.URL()[:strings.Index(s.URL(), "?")] + "#curves/4"))
	b.wait("a chart", `document.querySelector('#chart canvas')`)
	const draws = `performance.getEntriesByName('chart').length`
	const pixels = `document.querySelector('#chart canvas').toDataURL()`
	first := eval[string](b, pixels)
	b.wait("three more pictures", draws+" > 4")
	if first == eval[string](b, pixels) {
		t.Error("the picture is the same")
	}
	stop()
	if err := <-done; sqlerr.Code(err) != sqlerr.QueryCanceled {
		t.Errorf("the training ended with %v", err)
	}
	b.do(chromedp.Navigate(s.URL()[:strings.Index(s.URL(), "?")] + "#runs"))
	b.wait("the run's end is listed", `!document.querySelector('.status.running')`)
	b.quiet("curves")
}

// redraw bounds the time in which 100 runs of 10,000 steps are drawn again: half a second on a busy machine of two
// processors, where it takes up to a fifth of that.
const redraw = 500 * time.Millisecond

// A chart of 100 runs of 10,000 steps stays usable.
func TestManyRuns(t *testing.T) {
	b := openTab(t)
	file := filled(t, `CREATE TABLE w (id int PRIMARY KEY);
INSERT INTO relgrad.run (run, loss, parameters, keys, options, seed, status, step, waited, started, updated)
  SELECT g, 'loss', '{w}', '', '{}', 0, 'finished', 10000, 0, '2026-01-01', '2026-01-01'
  FROM generate_series(1, 100) AS g;
INSERT INTO relgrad.loss (run, step, epoch, loss, at)
  SELECT r, s, s, r / 10.0 + 100.0 / s + random(), '2026-01-01'
  FROM generate_series(1, 100) AS r, generate_series(1, 10000) AS s;`)
	s := serve(t, onStore(file))
	b.do(chromedp.EmulateViewport(1280, 800), chromedp.Navigate(s.URL()))
	list := strings.TrimSuffix(strings.Join(strings.Fields(strings.Trim(fmt.Sprint(upTo(100)), "[]")), ","), ",")
	begin := time.Now()
	b.do(chromedp.Navigate(s.URL()[:strings.Index(s.URL(), "?")] + "#curves/" + list))
	b.wait("100 lines", `document.querySelectorAll('.legend button').length === 100 &&
		performance.getEntriesByName('chart').length > 0`)
	t.Logf("the first picture after %v", time.Since(begin))
	// Choices that make the chart anew, and a zoom, each with its picture.
	const set = `(e => { e.value = %[2]s; e.dispatchEvent(new Event('%[3]s')); })(document.querySelector('[name=%[1]s]'))`
	for i, js := range []string{`document.querySelector('[name=log]').click()`,
		`document.querySelector('[name=log]').click()`, fmt.Sprintf(set, "to", "5000", "change"),
		fmt.Sprintf(set, "smooth", ".9", "input")} {
		eval[any](b, js+"; null")
		b.wait("another picture", fmt.Sprintf(`performance.getEntriesByName('chart').length > %d`, i+1))
	}
	all := eval[[]float64](b, `performance.getEntriesByName('chart').map(e => e.duration)`)
	worst := slices.Max(all)
	moving := eval[float64](b, moves)
	t.Logf("pictures took %.0f ms; with a moving mouse the median frame %.0f ms", all, moving)
	if worst > float64(redraw.Milliseconds()) || moving > float64(redraw.Milliseconds()) {
		t.Errorf("pictures take up to %.0f ms and frames %.0f ms, more than %v", worst, moving, redraw)
	}
	b.quiet("many runs")
}

// moves moves the mouse over the chart for 30 frames and gives the median time of a frame in milliseconds.
const moves = `new Promise(done => {
	const over = document.querySelector('.u-over'), box = over.getBoundingClientRect(), times = [];
	let last = performance.now(), i = 0;
	const next = now => {
		times.push(now - last);
		last = now;
		over.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: box.left + 20 + 10 * i,
			clientY: box.top + 100 + 3 * i}));
		if (++i < 30) requestAnimationFrame(next); else done(times.sort((a, b) => a - b)[15]);
	};
	requestAnimationFrame(next);
})`

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}
