// Package privatize takes a structure out of the readers' reach and tears it down,
// although a reader may have picked it up just before: figure 1 of the paper.
package privatize

// A Session is what readers use.
type Session struct {
	user *User
}

// A User is who the session belongs to.
type User struct {
	name string
}

// A Table holds the current session.
type Table struct {
	current *Session
}

// Login makes a session current.
func (t *Table) Login(name string) {
	t.current = &Session{user: &User{name: name}}
}

// Logout makes the session private again, and empties it.
func (t *Table) Logout() {
	s := t.current
	t.current = nil
	s.user = nil
}

// Name returns who is logged in.
func (t *Table) Name() string {
	s := t.current
	if s == nil {
		return "nobody"
	}
	return s.user.name
}
