module example.com/again

go 1.24
