package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// Prime reads and writes messages that have everything in them. Packages reflect and json keep
// what they find out about types, in maps that the program uses as well: after Prime they hold
// the same in every process, whatever it is ordered and however often it reports.
func Prime() error {
	var order Order
	fill(reflect.ValueOf(&order).Elem(), 0)
	text, err := json.Marshal(&order)
	if err != nil {
		return fmt.Errorf("writing an order: %w", err)
	}
	if err := json.Unmarshal(text, new(Order)); err != nil {
		return fmt.Errorf("reading an order: %w", err)
	}
	var report Report
	fill(reflect.ValueOf(&report).Elem(), 0)
	if err := json.NewEncoder(io.Discard).Encode(&report); err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	return nil
}

// deepest is how far messages are filled: types may contain themselves.
const deepest = 8

// fill gives a value, and all that it refers to, something to write. What has a text of its
// own stays zero: not every value of it has one.
func fill(v reflect.Value, depth int) {
	if depth > deepest || !v.CanSet() {
		return
	}
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	}
}
