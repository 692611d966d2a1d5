module example.com/outside

go 1.24

require example.com/keeper v1.0.0
