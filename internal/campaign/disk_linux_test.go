package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskEndsACampaignWhichGoesOnWhenThereIsRoom: in a process with a small disk of its own, as
// any user may have one where namespaces are allowed.
func TestAFullDiskEndsACampaignWhichGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	p := start(t, "fulldisk "+t.TempDir(), &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	})
	if p == nil {
		t.Log("this system allows no namespaces to its users: see TestAStateThatCannotBeWrittenEndsTheCampaign")
		return
	}
	last, ok := p.expect(t, "done")
	if !ok {
		t.Fatal("it has ended before")
	}
	t.Log(last) // why there was no disk, if there was none
}

func init() { roles["fulldisk"] = playFullDisk }

// playFullDisk runs campaigns on a disk that is full when the first one starts, that becomes full
// while the second one works, and that has room again for the third.
func playFullDisk(dir string) int {
	const size = 4 << 20
	q := quiet{dir: dir}
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		q.Fatal(err)
	}
	if err := syscall.Mount("none", disk, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		fmt.Println("done: no disk can be mounted here:", err)
		return 0
	}
	state, ballast := filepath.Join(disk, "state"), filepath.Join(disk, "ballast")
	for _, room := range []int{40 << 10, 100 << 10} {
		if err := os.WriteFile(ballast, make([]byte, size-room), 0o666); err != nil {
			q.Fatal(err)
		}
		var unwritable *UnwritableError
		if err := toySession(q, state); !errors.As(err, &unwritable) || !errors.Is(err, syscall.ENOSPC) {
			q.Fatal("with a room of", room, "the campaign ends with", err)
		}
		if err := os.Remove(ballast); err != nil {
			q.Fatal(err)
		}
	}
	if err := toySession(q, state); err != nil {
		q.Fatal("when there is room:", err)
	}
	if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(q, state), want) {
		q.Fatal("found", found(q, state))
	}
	checkLedgers(q, state)
	if aside, err := filepath.Glob(state + "/store.damaged*"); err != nil || len(aside) > 0 {
		q.Fatal("a full disk was taken for damage:", aside, err)
	}
	fmt.Println("done")
	return 0
}

// toySession runs a campaign of the toy to its end, in a process that is no test.
func toySession(q quiet, state string) error {
	dir, err := OpenDir(state)
	if err != nil {
		return err
	}
	defer dir.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, store, err := OpenLocal(ctx, dir, 0, Listening{}, func(text string) { fmt.Println("notice:", strings.TrimSpace(text)) })
	if err != nil {
		return err
	}
	defer server.Close()
	defer store.Close()
	public, err := dir.Key.PublicKey()
	if err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = NewWorker(store, WorkerOptions{Name: "toy", Trusted: []string{public}, Slots: 2, Do: (&toy{steps: 4, bugs: planted}).do("1")}).Run(ctx)
	}()
	_, err = Run(ctx, dir, store, toyTargets(q, "1"), &Options{Search: toySearch})
	cancel()
	<-over
	return err
}
