package campaign

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Tests read files beside them. What is around a package is sent to other machines with its program:
// the files of its module, or those of the package alone where the module is large.

// maxFiles is how many bytes of files are sent along.
const maxFiles = 64 << 20

// errTooLarge is why files are not sent along.
var errTooLarge = errors.New("the files are too large")

// leftAtHome reports whether a file or directory is nothing that tests read, or that is not to be sent.
func leftAtHome(name string) bool {
	return name != "." && (strings.HasPrefix(name, ".") || name == "node_modules")
}

// packFiles writes an archive of the files below a directory, which is the same whenever the files
// are.
func packFiles(dir, archive string) error {
	out, err := os.Create(archive)
	if err != nil {
		return fmt.Errorf("packing files: %w", err)
	}
	defer out.Close()
	zip := gzip.NewWriter(out)
	w := tar.NewWriter(zip)
	left := int64(maxFiles)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, name)
		switch {
		case err != nil:
			return err
		case relErr != nil:
			return relErr
		case d.IsDir() && leftAtHome(d.Name()) && rel != ".":
			return filepath.SkipDir
		case !d.Type().IsRegular(), leftAtHome(d.Name()):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 {
			return errTooLarge
		}
		return packFile(w, name, filepath.ToSlash(rel), info)
	})
	if err = errors.Join(err, w.Close(), zip.Close(), out.Close()); err != nil {
		os.Remove(archive)
		return fmt.Errorf("packing the files of %s: %w", dir, err)
	}
	return nil
}

func packFile(w *tar.Writer, name, rel string, info fs.FileInfo) error {
	// No times: they are others in each checkout.
	if err := w.WriteHeader(&tar.Header{Name: rel, Mode: int64(info.Mode().Perm()), Size: info.Size(), Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// unpackFiles writes the files of an archive below a directory, and none outside of it.
func unpackFiles(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("unpacking files: %w", err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("unpacking files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpacking files: %w", err)
	}
	defer root.Close()
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackFile(root, h, io.LimitReader(r, maxFiles))
		}
		if err != nil {
			return fmt.Errorf("unpacking files: %w", err)
		}
	}
}

func unpackFile(root *os.Root, h *tar.Header, from io.Reader) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%s is no file", h.Name)
	}
	name := filepath.FromSlash(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fs.FileMode(h.Mode)&0o777)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}
