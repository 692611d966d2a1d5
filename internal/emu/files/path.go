package files

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// Absolute returns a path from the root, of one that is relative to dir.
func Absolute(dir, name string) string {
	if path.IsAbs(name) {
		return Resolve(name)
	}
	return Resolve(path.Join(dir, name))
}

// Resolve follows the symbolic links of the directories in a path of the host, so that a
// file has one name.
func Resolve(name string) string {
	name = path.Clean(name)
	dir, base := path.Split(name)
	if real, ok := strings.CutPrefix(name, "/proc/self/"); ok && !strings.Contains(real, "/") {
		return name
	}
	if dir == "" || dir == "/" {
		return name
	}
	if info, err := os.Lstat(strings.TrimSuffix(dir, "/")); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if link, err := os.Readlink(strings.TrimSuffix(dir, "/")); err == nil {
			if !path.IsAbs(link) {
				link = path.Join(path.Dir(strings.TrimSuffix(dir, "/")), link)
			}
			return Resolve(path.Join(link, base))
		}
	}
	return path.Join(Resolve(strings.TrimSuffix(dir, "/")), base)
}
