// The benchmarks are a module of their own, so that what they are compared with is in
// no go.sum but theirs.
module github.com/cofferdam-go/cofferdam/bench

go 1.26.0

require (
	github.com/anacrolix/stm v0.5.0
	github.com/cofferdam-go/cofferdam v0.0.0
	golang.org/x/tools v0.52.0
)

require (
	github.com/alecthomas/atomic v0.1.0-alpha2 // indirect
	github.com/antithesishq/antithesis-sdk-go v0.8.0-default-no-op // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/nats-io/jwt/v2 v2.8.2 // indirect
	github.com/nats-io/nats-server/v2 v2.15.2 // indirect
	github.com/nats-io/nats.go v1.55.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

replace github.com/cofferdam-go/cofferdam => ../
