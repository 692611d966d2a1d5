module collector

go 1.26
