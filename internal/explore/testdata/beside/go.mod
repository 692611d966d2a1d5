module example.com/beside

go 1.24
