module example.com/crowds

go 1.26.0
