// Package files is what emulated processes see of files: those of the host, which are read and
// never written, and over them, in memory, what the processes made, changed and removed.
//
// A [Tree] finds a [Node] by its path. A node of the host is shared by all runs; the first
// change makes a copy of it that belongs to the processes ([Tree.Owned]), and a snapshot has
// its own of each of those ([Copier]). Pipes, sockets and epoll instances are nodes, too, that
// no path leads to.
//
//	tree.go   paths to nodes, the host's and those over them
//	node.go   nodes, pipes, what an epoll instance watches
//	path.go   absolute paths, and links in them
//	stat.go   what stat says of a node
//	copy.go   copies for snapshots
//	errno.go  errors of the host
package files
