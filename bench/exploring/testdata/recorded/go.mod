module example.com/recorded

go 1.26.0
