package ir_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

func TestWordsKeepTheirSizeAndSign(t *testing.T) {
	for _, test := range []struct {
		size     int
		word     uint64
		unsigned uint64
		signed   int64
	}{
		{1, 0x1ff, 0xff, -1},
		{2, 0x8000, 0x8000, math.MinInt16},
		{3, 0x800000, 0x800000, -0x800000},
		{4, 0x7fffffff, 0x7fffffff, math.MaxInt32},
		{8, 1 << 63, 1 << 63, math.MinInt64},
	} {
		v := ir.Word(test.size, test.word)
		if v.Uint() != test.unsigned || v.Int() != test.signed || v.Size != test.size {
			t.Errorf("Word(%d, %#x) is %#x and %d of %d bytes", test.size, test.word, v.Uint(), v.Int(), v.Size)
		}
		if got := ir.Bytes(v.Append(nil)); got != v {
			t.Errorf("Word(%d, %#x) through its bytes is %v", test.size, test.word, got)
		}
	}
}

func TestWideValuesAreCutAndPutTogether(t *testing.T) {
	header := make([]byte, 24)
	for i := range header {
		header[i] = byte(i + 1)
	}
	v := ir.Bytes(header)
	if !bytes.Equal(v.Append(nil), header) {
		t.Errorf("the bytes are %x", v.Append(nil))
	}
	if got := v.Slice(8, 8).Uint(); got != 0x100f0e0d0c0b0a09 {
		t.Errorf("the second word is %#x", got)
	}
	if got := v.Slice(4, 12); !bytes.Equal(got.Append(nil), header[4:16]) {
		t.Errorf("the middle is %v", got)
	}
	if got := ir.Word(4, 0x04030201).Slice(1, 2).Uint(); got != 0x0302 {
		t.Errorf("a part of a word is %#x", got)
	}
	for _, bad := range []ir.Value{v.Slice(20, 8), v.Slice(-1, 2), ir.Unknown(24).Slice(0, 8)} {
		if bad.Known {
			t.Errorf("what is not there is %v", bad)
		}
	}
	if got := ir.Zero(24); !bytes.Equal(got.Append(nil), make([]byte, 24)) {
		t.Errorf("zero is %v", got)
	}
}

func TestValuesAsText(t *testing.T) {
	for want, v := range map[string]ir.Value{
		"?": ir.Unknown(8), "-1": ir.Word(4, 1<<32-1), "65536": ir.Word(8, 1<<16), "0xc000010000": ir.Word(8, 0xc000010000),
		"010000000000000002": ir.Bytes([]byte{1, 0, 0, 0, 0, 0, 0, 0, 2}),
	} {
		if got := v.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFloatsHaveTwoSizes(t *testing.T) {
	if got := ir.Word(4, uint64(math.Float32bits(1.5))).Float(); got != 1.5 {
		t.Errorf("4 bytes: %v", got)
	}
	if got := ir.Word(8, math.Float64bits(-0.1)).Float(); got != -0.1 {
		t.Errorf("8 bytes: %v", got)
	}
}
