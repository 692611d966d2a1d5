// Other STM libraries that bench stm compares with: a module of its own, so that
// nobody who uses Cofferdam has them in a go.sum.
module github.com/cofferdam-go/cofferdam/bench/peers

go 1.26.0

require github.com/anacrolix/stm v0.5.0

require github.com/alecthomas/atomic v0.1.0-alpha2 // indirect
