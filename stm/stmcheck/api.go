package stmcheck

import (
	"go/types"
)

// stmPath is the package that transactions come from.
const stmPath = "github.com/cofferdam-go/cofferdam/stm"

// isTx reports whether a type is *stm.Tx.
func isTx(t types.Type) bool {
	if t == nil {
		return false
	}
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), stmPath, "Tx")
}

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	obj := n.Obj()
	return obj.Name() == name && obj.Pkg() != nil && obj.Pkg().Path() == path
}

// txParameter returns the parameter of type *stm.Tx.
func txParameter(sig *types.Signature) *types.Var {
	for p := range sig.Params().Variables() {
		if isTx(p.Type()) {
			return p
		}
	}
	return nil
}

// symbol names a function the way the tables here do: Load, Tx.Check.
func symbol(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name() + "." + fn.Name()
	}
	return fn.Name()
}

// stmSymbol returns the symbol if the function is one of package stm, else "".
func stmSymbol(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != stmPath {
		return ""
	}
	return symbol(fn)
}

// checkpoints are the functions that look at the transaction's flag. Make does
// so above a limit only. Retry does not return, which is as good. A transaction
// in a transaction begins with one.
var checkpoints = map[string]bool{
	"Load": true, "Store": true, "Var.Load": true, "Var.Store": true,
	"Tx.Check": true, "Tx.Validate": true, "Tx.Irrevocable": true, "Tx.Perform": true, "Tx.Observe": true, "Retry": true,
	"MapLoad": true, "MapStore": true, "MapDelete": true, "MapClear": true, "MapLen": true,
	"Atomically": true, "Options.Atomically": true, "Value": true, "ValueWith": true,
}

// runners call their function arguments, in the transaction that runs or in a new
// one; the number is that of the arguments before the first function that
// is surely called.
var runners = map[string]int{
	"Atomically": 0, "Options.Atomically": 0, "Value": 0, "ValueWith": 1, "OrElse": 1,
}

// afterwards call their function arguments when the transaction is over.
var afterwards = map[string]bool{"Tx.OnCommit": true, "Tx.OnAbort": true}
