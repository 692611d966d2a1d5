package wire

import (
	"reflect"
	"testing"
)

// TestPrimeReadsAndWritesEverything: no field of a message is left out, so that nothing is met
// for the first time later.
func TestPrimeReadsAndWritesEverything(t *testing.T) {
	if err := Prime(); err != nil {
		t.Fatal(err)
	}
	var order Order
	fill(reflect.ValueOf(&order).Elem(), 0)
	v := reflect.ValueOf(order)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && v.Field(i).IsZero() {
			t.Errorf("Order.%s is not filled", f.Name)
		}
	}
}
