package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/explore"
)

// A parcel is a program as it is sent: what is known of it, and the names of its files by their
// contents. Its own name is that of its text, so that a lease which names it names all of it.
type parcel struct {
	explore.Manifest
	// Binary, Sites and Files are hashes; Files is "" if nothing is sent along, and otherwise an
	// archive of what is around the package, which is at Dir in it.
	Binary, Sites, Files, Dir string
	// Variables are the environment of the program.
	Variables []string `json:",omitempty"`
}

// name is that of the parcel among the objects.
func (p *parcel) name() (string, []byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", nil, fmt.Errorf("describing a program: %w", err)
	}
	return textHash(text), text, nil
}

// send puts a program with its files where workers of other machines find it, and returns its name.
func (s *Store) send(ctx context.Context, p *parcel, program *explore.Program, archive string) error {
	name, text, err := p.name()
	if err != nil {
		return err
	}
	if _, err := s.objects.GetInfo(ctx, "program-"+name); err == nil {
		return nil
	}
	files := map[string]string{p.Binary: program.Path, p.Sites: program.SitesFile()}
	if p.Files != "" {
		files[p.Files] = archive
	}
	for hash, file := range files {
		if err := s.putFile(ctx, "file-"+hash, file); err != nil {
			return err
		}
	}
	// Last, so that a program that is there is whole.
	if _, err := s.objects.PutBytes(ctx, "program-"+name, text); err != nil {
		return fmt.Errorf("storing a program: %w", err)
	}
	return nil
}

// programs are those that a worker has at hand, by their names.
type programs struct {
	dir         string // where those are that were fetched
	environment []string
	limits      explore.Limits

	mu    sync.Mutex
	known map[string]*explore.Program
}

// add has a program at hand that was built on this machine.
func (p *programs) add(name string, program *explore.Program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]*explore.Program{}
	}
	p.known[name] = program
}

// get returns a program, which is fetched if it is not at hand.
func (p *programs) get(ctx context.Context, s *Store, name string) (*explore.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock() // also while it is fetched: all that ask want the same
	if program := p.known[name]; program != nil {
		return program, nil
	}
	text, err := s.objects.GetBytes(ctx, "program-"+name)
	if err != nil {
		return nil, fmt.Errorf("fetching program %s: %w", name, err)
	}
	var it parcel
	if err := json.Unmarshal(text, &it); err != nil || textHash(text) != name {
		return nil, fmt.Errorf("fetching program %s: %w", name, errTampered)
	}
	program, err := p.unpack(ctx, s, name, &it)
	if err != nil {
		return nil, fmt.Errorf("fetching program %s: %w", name, err)
	}
	if p.known == nil {
		p.known = map[string]*explore.Program{}
	}
	p.known[name] = program
	return program, nil
}

// unpack fetches the files of a program.
func (p *programs) unpack(ctx context.Context, s *Store, name string, it *parcel) (*explore.Program, error) {
	at := filepath.Join(p.dir, name)
	place := explore.Place{Binary: filepath.Join(at, "program"), Sites: filepath.Join(at, "sites"), Dir: filepath.Join(at, "files"), Limits: p.limits}
	if err := os.MkdirAll(place.Dir, 0o777); err != nil {
		return nil, err
	}
	for _, f := range []struct{ hash, file string }{{it.Binary, place.Binary}, {it.Sites, place.Sites}, {it.Files, filepath.Join(at, "archive")}} {
		if f.hash == "" {
			continue
		}
		if err := s.getFile(ctx, "file-"+f.hash, f.hash, f.file); err != nil {
			return nil, err
		}
	}
	if it.Files != "" {
		if err := unpackFiles(filepath.Join(at, "archive"), place.Dir); err != nil {
			return nil, err
		}
		if !filepath.IsLocal(it.Dir) {
			return nil, fmt.Errorf("its directory is %q: %w", it.Dir, errTampered)
		}
		place.Dir = filepath.Join(place.Dir, it.Dir)
	}
	if err := os.Chmod(place.Binary, 0o755); err != nil {
		return nil, err
	}
	place.Environment = append(append([]string{}, p.environment...), it.Variables...)
	return explore.Open(&it.Manifest, place)
}
