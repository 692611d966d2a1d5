package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"
)

// Version is that of the layout of a state directory.
const Version = 1

// DefaultDir is where the state is kept unless the user says otherwise.
const DefaultDir = ".cofferdam"

// A Dir is a state directory that this process has to itself.
//
//	state.json      the version of the layout, and the identity of the coordinator
//	lock            held while a coordinator is at work
//	key             the key that leases are signed with
//	store/          the files of the server
//	traces/         the runs of findings, as ID.trace
//	status.json     how far the campaign is, for others to read
//	findings.json   the findings, likewise
//	marks/          what people say of findings, until the coordinator has read it
type Dir struct {
	Path string
	// ID is the coordinator's, which stays the same as long as the directory does.
	ID   string
	Key  nkeys.KeyPair
	lock *os.File
}

// description is what state.json has.
type description struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Made    time.Time `json:"made"`
}

// ErrBusy is why a state directory cannot be used now.
var ErrBusy = errors.New("another campaign is at work in it")

// A VersionError says that a state directory is of another version.
type VersionError struct {
	Dir string
	Is  int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has the layout of version %d, and this cofferdam knows version %d: use the cofferdam that made it, or give another directory with -state", e.Dir, e.Is, Version)
}

// An UnwritableError says that nothing can be written to a state directory that was written to before.
type UnwritableError struct {
	Dir string
	Err error
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("%v: nothing can be remembered in %s; make room, or let it be written to, and start again: what was acknowledged is there", e.Err, e.Dir)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// OpenDir opens a state directory, and makes it if it does not exist.
func OpenDir(path string) (_ *Dir, err error) {
	for _, sub := range []string{"traces", "marks"} {
		if err := os.MkdirAll(filepath.Join(path, sub), 0o777); err != nil {
			return nil, fmt.Errorf("making the state directory: %w; give another one with -state", err)
		}
	}
	d := &Dir{Path: path}
	if d.lock, err = lockPatiently(d.file("lock")); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := errors.Join(d.describe(), d.readKey()); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// lockPatiently locks a file, and tries some times before it says that another has it: a process that
// asks whether there is a campaign (see ReadReport) has it for a moment.
func lockPatiently(name string) (f *os.File, err error) {
	for range 10 {
		if f, err = lockFile(name); !errors.Is(err, ErrBusy) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return f, err
}

// Close lets others use the directory.
func (d *Dir) Close() { unlockFile(d.lock) }

func (d *Dir) file(name string) string { return filepath.Join(d.Path, name) }

// describe reads the description of the directory, or makes one.
func (d *Dir) describe() error {
	text, err := os.ReadFile(d.file("state.json"))
	var is description
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Nothing in it is for a repository; the file can be removed to have it otherwise.
		if err := os.WriteFile(d.file(".gitignore"), []byte("*\n"), 0o666); err != nil {
			return fmt.Errorf("making the state directory: %w", err)
		}
		is = description{Version: Version, ID: randomID(), Made: time.Now()}
		d.ID = is.ID
		return writeJSON(d.file("state.json"), &is)
	case err != nil:
		return fmt.Errorf("reading the state directory: %w", err)
	}
	if err := json.Unmarshal(text, &is); err != nil || is.ID == "" {
		return fmt.Errorf("%s is damaged: move the directory away, or give another one with -state", d.file("state.json"))
	}
	if d.ID = is.ID; is.Version != Version {
		return &VersionError{Dir: d.Path, Is: is.Version}
	}
	return nil
}

// readKey reads the key that leases are signed with, or makes one.
func (d *Dir) readKey() error {
	seed, err := os.ReadFile(d.file("key"))
	if errors.Is(err, fs.ErrNotExist) {
		if d.Key, err = nkeys.CreateUser(); err != nil {
			return fmt.Errorf("making a key: %w", err)
		}
		if seed, err = d.Key.Seed(); err != nil {
			return fmt.Errorf("making a key: %w", err)
		}
		return writeFile(d.file("key"), seed, 0o600)
	}
	if err != nil {
		return fmt.Errorf("reading the key of the campaign: %w", err)
	}
	if d.Key, err = nkeys.FromSeed(seed); err != nil {
		return fmt.Errorf("reading the key of the campaign, %s: %w; if it is lost, remove the file, and tell workers the new public key", d.file("key"), err)
	}
	return nil
}

// writeJSON writes a value to a file, whole or not at all.
func writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	return writeFile(name, append(text, '\n'), 0o666)
}

// writeFile writes a file, whole or not at all.
func writeFile(name string, text []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	return nil
}
