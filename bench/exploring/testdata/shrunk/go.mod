module example.com/shrunk

go 1.26.0
