package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// browsers are the names under which systems have the browser that reports are tested in.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// installLimit is how long a package manager may take, which may be waiting for a network that is
// not there.
const installLimit = 3 * time.Minute

// findBrowser looks for a browser, and has one installed beside the steps that do not need it.
func (c *check) findBrowser(ctx context.Context) error {
	c.browser = make(chan error, 1)
	if hasBrowser() {
		c.browser <- nil
		return nil
	}
	if os.Getuid() != 0 {
		c.browser <- errors.New("install chromium, or be root for the check to do so")
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		c.browser <- errors.New("install chromium: there is no apt-get to do so")
		return nil
	}
	go func() { c.browser <- installBrowser(ctx) }()
	return nil
}

func hasBrowser() bool {
	for _, name := range browsers {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

func installBrowser(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "chromium"}} {
		cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, out)
		}
	}
	if !hasBrowser() {
		return errors.New("apt-get has installed chromium, but there is no command of that name")
	}
	return nil
}

// awaitBrowser waits for what findBrowser has begun. Where there is no browser the tests of reports
// check nothing in one, and that is said.
func (c *check) awaitBrowser() {
	if c.browser == nil && hasBrowser() {
		return
	}
	err := errors.New("install chromium")
	if c.browser != nil {
		err = <-c.browser
	}
	if err != nil {
		fmt.Fprintf(c.stderr, "check: no browser (%v), so reports are NOT checked in one\n", err)
	}
}
