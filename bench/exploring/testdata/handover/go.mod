module example.com/handover

go 1.26.0
