package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// writeText writes the text of a file, into a directory or where it is kept, and returns where.
// Texts of the standard library are the same for all programs, and a build has hundreds of
// them: they are kept in the user's cache, since to make and remove so many files takes a
// file system longer than to find that they are there.
func (o *Overlay) writeText(dir, file, text string) (written string, err error) {
	sum := sha256.Sum256([]byte(file + "\x00" + text))
	name := hex.EncodeToString(sum[:16]) + filepath.Ext(file)
	if o.env.InStd(file) {
		if kept := filepath.Join(userCache(), "texts", name); isKept(kept, text) || keep(kept, text) == nil {
			return kept, nil
		}
	}
	written = filepath.Join(dir, name)
	return written, os.WriteFile(written, []byte(text), 0o666)
}

// isKept reports whether a text was kept whole.
func isKept(name, text string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == int64(len(text))
}

// keep keeps a text. Several processes may do so at the same time.
func keep(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error is that it could not be kept
	}
	return err
}

// userCache is where the user's programs keep what they can make again.
func userCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "cofferdam")
}
