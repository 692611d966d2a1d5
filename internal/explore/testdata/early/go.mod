module example.com/early

go 1.24
