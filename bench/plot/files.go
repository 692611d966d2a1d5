package plot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Files writes charts into a directory, which it makes, as SVG files of these names.
func Files(dir string, charts map[string]io.WriterTo) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for name, chart := range charts {
		errs = append(errs, picture(filepath.Join(dir, name+".svg"), chart))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("plotting into %s: %w", dir, err)
	}
	return nil
}

func picture(file string, chart io.WriterTo) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = chart.WriteTo(f)
	return errors.Join(err, f.Close())
}
