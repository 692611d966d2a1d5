package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
)

// contentHash is the name of a file by what is in it.
func contentHash(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// textHash is the name of a text by what is in it.
func textHash(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// putFile puts a file into the object store, unless the object is there.
func (s *Store) putFile(ctx context.Context, name, file string) error {
	if _, err := s.objects.GetInfo(ctx, name); err == nil {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("storing %s: %w", filepath.Base(file), err)
	}
	defer f.Close()
	if _, err := s.objects.Put(ctx, jetstream.ObjectMeta{Name: name}, f); err != nil {
		return fmt.Errorf("storing %s: %w", filepath.Base(file), err)
	}
	return nil
}

// getFile puts an object into a file that is named by its contents. The file is whole or is not there,
// and has the contents that its name says, whatever the store says they are.
func (s *Store) getFile(ctx context.Context, object, hash, file string) error {
	if is, err := contentHash(file); err == nil && is == hash {
		return nil
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return fmt.Errorf("fetching %s: %w", object, err)
	}
	defer os.Remove(temp.Name())
	err = s.copyObject(ctx, object, temp)
	if err = errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("fetching %s: %w", object, err)
	}
	if is, err := contentHash(temp.Name()); err != nil || hash != "" && is != hash {
		return fmt.Errorf("fetching %s: its contents are not what its name says: %w", object, errors.Join(errTampered, err))
	}
	return os.Rename(temp.Name(), file)
}

// errTampered is why something that was received is not used.
var errTampered = errors.New("it was changed on its way, or the store is damaged")

func (s *Store) copyObject(ctx context.Context, object string, to io.Writer) error {
	from, err := s.objects.Get(ctx, object)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// removeObject removes an object that nothing points to any more. One that stays is removed by
// the next retention.
func (s *Store) removeObject(ctx context.Context, name string) {
	_ = s.objects.Delete(ctx, name)
}
