package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to end by itself.
const patience = time.Second

// interruptible returns a context that an interrupt ends.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errors.New("interrupted"))
			// What is in the middle of a computation does not look at contexts.
			time.Sleep(patience)
			fmt.Fprintln(os.Stderr, "cofferdam: interrupted")
			os.Exit(2)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
