package browser

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// names are those under which systems install the browser.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// find is the browser's file; "" if there is none.
func find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// required is the variable by which the check of everything says that a browser must be there.
const required = "COFFERDAM_BROWSER"

// browser is the one that all tests share: starting one takes longer than any of them.
var browser struct {
	once  sync.Once
	ctx   context.Context
	err   error
	close func()
}

// TestMain runs the tests where there is a browser. Where there is none it says so; the check of
// everything installs one if it can, and says so too.
func TestMain(m *testing.M) {
	flag.Parse()
	if find() == "" && os.Getenv(required) == "" {
		fmt.Printf("NOT CHECKED in a browser: there is none of %s\n", strings.Join(names, ", "))
		return
	}
	code := m.Run()
	if browser.close != nil {
		browser.close()
	}
	os.Exit(code)
}

// limit is for tests that hang; nothing waits for it otherwise.
const limit = time.Minute

func start() {
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(find()), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU)
	ctx, end := chromedp.NewContext(allocator)
	browser.ctx, browser.close = ctx, func() { end(); stop() }
	browser.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// A tab is a page in the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab opens a tab, as wide as a desk has it.
func newTab(t *testing.T) *tab {
	t.Helper()
	if find() == "" {
		t.Fatalf("there is no browser: install chromium, or unset %s", required)
	}
	browser.once.Do(start)
	if browser.err != nil {
		t.Fatalf("starting the browser: %v", browser.err)
	}
	ctx, end := chromedp.NewContext(browser.ctx)
	t.Cleanup(end)
	ctx, stop := context.WithTimeout(ctx, limit)
	t.Cleanup(stop)
	b := &tab{t, ctx}
	b.do(chromedp.EmulateViewport(1440, 1000))
	b.watchErrors()
	return b
}

// watchErrors has a test fail by what goes wrong in the scripts of its pages, of which a person would see
// nothing but a page that does not answer.
func (b *tab) watchErrors() {
	b.t.Helper()
	const script = `window.wrong = [];
		addEventListener("error", (e) => wrong.push(e.message));
		addEventListener("unhandledrejection", (e) => wrong.push(String(e.reason && e.reason.stack || e.reason)));`
	if _, err := chromedp.Call(b.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if b.t.Failed() {
			return
		}
		for _, wrong := range eval[[]string](b, "window.wrong || []") {
			b.t.Errorf("in the page's scripts: %s", wrong)
		}
	})
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// phone makes the tab as narrow as one, and touched.
func (b *tab) phone() {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// dark has the tab ask for dark pages.
func (b *tab) dark() {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// open writes a document to a file and opens that, as a person would from a disk.
func (b *tab) open(d *page.Document) {
	b.t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, d); err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.visit((&url.URL{Scheme: "file", Path: file}).String())
}

func (b *tab) visit(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
	b.await("document.documentElement.dataset.ready === 'true'")
}

// await waits until an expression is true in the page. A page that loads itself again meanwhile
// ends the wait, and another one begins.
func (b *tab) await(expression string) {
	b.t.Helper()
	if !b.comes(expression) {
		b.t.Fatalf("waited in vain for %s\n%s", expression, b.text("body"))
	}
}

func (b *tab) comes(expression string) bool {
	for begun := time.Now(); time.Since(begun) < limit/2 && b.ctx.Err() == nil; {
		if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(limit/2))); err == nil {
			return true
		}
	}
	return false
}

// said is what a person reads in an element; pictures have no innerText.
func said(selector string) string {
	return fmt.Sprintf("((e) => e ? e.innerText ?? e.textContent : 'NOT THERE')(document.querySelector(%q))", selector)
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, said(selector))
}

// awaitText waits until an element says something.
func (b *tab) awaitText(selector, want string) {
	b.t.Helper()
	if !b.comes(fmt.Sprintf("%s.includes(%q)", said(selector), want)) {
		b.t.Fatalf("%s does not say %q but:\n%s", selector, want, b.text(selector))
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// picture leaves a screenshot, if a folder for them is named.
func (b *tab) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("COFFERDAM_SCREENSHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// focusLanes gives the picture the keyboard.
func focusLanes() chromedp.Action[chromedp.Void] {
	return chromedp.Focus(chromedp.CSS("section:not([hidden]) .lanes canvas"))
}

func (b *tab) clickAt(x, y float64) {
	b.t.Helper()
	b.do(chromedp.MouseClickXY(x, y))
}

// choose picks the option of a list that begins with a text.
func (b *tab) choose(selector, text string) {
	b.t.Helper()
	done := eval[bool](b, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q), o = [...s.options].find((o) => o.text.startsWith(%q));
		if (!o) return false;
		s.value = o.value;
		s.dispatchEvent(new Event("change"));
		return true;
	})()`, selector, text))
	if !done {
		b.t.Fatalf("%s has no option %q", selector, text)
	}
}

// focus gives an element the keyboard.
func focus(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Focus(chromedp.CSS(selector))
}
