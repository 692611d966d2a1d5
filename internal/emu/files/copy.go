package files

import (
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// A fileCopier copies files that change, each once.
type Copier struct {
	Sockets sockets.Copier
	nodes   map[*Node]*Node
}

// Tree copies what a program sees of files.
func (k *Copier) Tree(f *Tree) *Tree {
	c := *f
	c.over = maps.Clone(f.over)
	for name, n := range c.over {
		c.over[name] = k.Node(n)
	}
	return &c
}

// Node copies a file, if it can change.
func (k *Copier) Node(n *Node) *Node {
	if n == nil || !n.Own && n.Pipe == nil && n.Socket == nil && n.Watched == nil {
		return n
	}
	if k.nodes == nil {
		k.nodes = map[*Node]*Node{}
	}
	if k.nodes[n] == nil {
		m := *n
		m.Data = slices.Clone(n.Data)
		if n.Pipe != nil {
			pp := *n.Pipe
			pp.Data = slices.Clone(pp.Data)
			m.Pipe = &pp
		}
		m.Socket = k.Sockets.Socket(n.Socket)
		m.Watched = n.Watched.copy()
		k.nodes[n] = &m
	}
	return k.nodes[n]
}
