module example.com/outside

go 1.24
