package campaign

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// The headers of a lease's message.
const (
	signerHeader    = "Cofferdam-Signer"
	signatureHeader = "Cofferdam-Signature"
)

// signed is the message of a lease.
func signed(subject string, l *Lease, key nkeys.KeyPair) (*nats.Msg, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("writing a lease: %w", err)
	}
	signature, err := key.Sign(text)
	if err != nil {
		return nil, fmt.Errorf("signing a lease: %w", err)
	}
	signer, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("signing a lease: %w", err)
	}
	m := nats.NewMsg(subject)
	m.Data = text
	m.Header.Set(signerHeader, signer)
	m.Header.Set(signatureHeader, base64.StdEncoding.EncodeToString(signature))
	return m, nil
}

// errNotTrusted is why a lease is not done.
var errNotTrusted = errors.New("it is not signed by a coordinator that this worker was told to trust (-trust)")

// verified returns the lease of a message, if one of some public keys has signed it.
func verified(text []byte, header nats.Header, trusted []string) (*Lease, error) {
	signer := header.Get(signerHeader)
	if !slices.Contains(trusted, signer) {
		return nil, errNotTrusted
	}
	key, err := nkeys.FromPublicKey(signer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotTrusted, err)
	}
	signature, err := base64.StdEncoding.DecodeString(header.Get(signatureHeader))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotTrusted, err)
	}
	if err := key.Verify(text, signature); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotTrusted, err)
	}
	l := &Lease{}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("reading a lease: %w", err)
	}
	return l, nil
}

// CheckKey refuses what is no public key of a coordinator.
func CheckKey(key string) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("-trust %s: that is no public key: cofferdam campaign prints its own, which begins with U", key)
	}
	return nil
}
