// Package device is the border between a program and the machine that runs it: instructions as data.
//
// # What
//
// An Instr says which Vals it computes, over how many rows, and in which form: a Tree of operations (tree.go,
// opcodes.go) whose rows are stored or summed, one of the forms of kinds.go and parts.go, such as SpMM or GEMM, or a
// part of a step of training (updates.go). A Device makes a list of them ready, as Code, and runs it as often as is
// wanted. The numbers of Vals are the numbers of the buffers: Val.ID, whose memory is Val.Data.
//
//	forms.Lower ─► []*Instr ─► Device.Prepare ─► Code.Run (each step)
//
// cpu is the device of the processors. plain computes every Val by its definition and knows no form but those of a step
// of training: tests run on it, so that nothing but what is here passes the border.
//
// # Invariants
//
// An instruction holds no function and no state of a run. An Exchange runs even where it brings no rows, since other
// sites wait for it. What it reads is in Tree.Loads, and nothing else that has
// been computed. A device may compute a Val in another way than the instruction's form says; the result is the same
// but for rounding.
//
// # Errors
//
// Those of the device that runs the list: an *sqlerr.Error, or the context's error.
//
// # Where to add
//
// An operation of a tree: an Opcode, and its loop in each device. A form: its type in kinds.go, how it is found in
// package forms, how it runs in each device that has it. A device: a package beside cpu that implements Device.
package device
