module example.com/latest

go 1.26
