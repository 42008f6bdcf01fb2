// Package apart joins the sites of a plan that are in different processes, of which one conducts.
//
// # What
//
// A Conductor has all sites do a command at once: each Member in a process of its own, which is reached by calls that
// are answered, and its own site here. A command may take turns (device.Turns): a member answers a call with what it
// sends, and the next call brings what other sites have sent. So nothing but calls goes from process to process, such
// as statements to a server, and a member needs no connection to another one.
//
// # Invariants
//
// A turn ends for all sites or for none. When a command has failed at one site, it has ended at the conductor; members
// end it when they are asked for another one, or closed. A member computes between calls, but reaches its database only
// within them (Member.Within).
//
// # Errors
//
// An error of a member has the SQLSTATE and the texts that it has there, and a *Failed around it that tells the site. A
// site that takes another turn than the others is an internal error.
//
// # Where to add
//
// Another way to reach a member: a Caller.
package apart
