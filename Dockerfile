# Cofferdam with the version of Go that it supports, and a C compiler for the race detector:
#
#	docker build -t cofferdam .
#	docker run --rm -v "$PWD:/src" cofferdam explore ./...
FROM golang:1.26 AS build
WORKDIR /cofferdam
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -o /cofferdam-command ./cmd/cofferdam

FROM golang:1.26
COPY --from=build /cofferdam-command /usr/local/bin/cofferdam
WORKDIR /src
ENTRYPOINT ["cofferdam"]
