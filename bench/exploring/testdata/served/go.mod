module example.com/served

go 1.26.0
