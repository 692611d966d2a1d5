package latest

import (
	"errors"
	"fmt"
	"testing"
)

func namedResults(how int) (n int, ok named, err error) {
	defer func() {
		n, ok = n*2, !ok
		if err != nil {
			err = fmt.Errorf("wrapped %w", err)
		}
	}()
	switch how {
	case 0:
		return 1, true, nil
	case 1:
		n = 7
		return n, n == 7, errors.New("seven")
	case 2:
		return other3()
	case 3:
		ok, err = true, errors.New("bare")
		return
	case 4:
		return n + how, how > 3 && n == 0,
			fmt.Errorf("multi %d",
				how)
	case 5:
		{
			n := 3
			err := error(nil)
			return n, false, err
		}
	}
	return -n, ok, err
}

func other3() (int, named, error) { return 5, true, errors.New("five") }

func swapped() (a, b int) {
	defer func() { a += 10; b += 20 }()
	a, b = 1, 2
	return b, a
}

func panics() (err error) {
	defer func() { err = fmt.Errorf("%v", recover()) }()
	return func() error { panic("in the result") }()
}

func TestNamedResults(t *testing.T) {
	for how := range 7 {
		n, ok, err := namedResults(how)
		fmt.Println(n, ok, err)
	}
	fmt.Println(swapped())
	fmt.Println(panics())
	f := func() (x int) { g := func() { x++ }; g(); return x + 1 }
	fmt.Println(f())
}
