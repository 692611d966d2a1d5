package ring

import (
	"errors"
	"fmt"
	"os"
)

// inMemory is a folder whose files are in memory alone, on systems that have one. Files
// elsewhere do as well, but the system keeps writing them to the disk.
const inMemory = "/dev/shm"

// Create makes a ring, and the file for a program to open it by. The file has no name any
// more where the system permits that, and is gone with the processes that have it open.
func Create() (*Ring, *os.File, error) {
	f, err := os.CreateTemp(inMemory, "cofferdam")
	if err != nil {
		f, err = os.CreateTemp("", "cofferdam")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("making memory for the events of a run: %w", err)
	}
	removal := os.Remove(f.Name())
	r, err := create(f)
	if err != nil {
		f.Close()
		return nil, nil, errors.Join(fmt.Errorf("making memory for the events of a run: %w", err), removal)
	}
	return r, f, nil
}

func create(f *os.File) (*Ring, error) {
	if err := f.Truncate(int64(fileSize)); err != nil {
		return nil, err
	}
	return Open(f)
}

// Open maps the ring of a file, which can be closed then.
func Open(f *os.File) (*Ring, error) {
	memory, err := mapFile(f)
	if err != nil {
		return nil, fmt.Errorf("mapping the events of a run: %w", err)
	}
	return view(memory), nil
}

// Close gives the memory back. Nothing of the ring may be used after it.
func (r *Ring) Close() error {
	if err := unmap(r.memory); err != nil {
		return fmt.Errorf("giving back the memory for events of a run: %w", err)
	}
	return nil
}
