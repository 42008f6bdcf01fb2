// Package board serves the pages of relgrad board: training runs, their curves and parameters, and plans of losses.
//
// # What
//
// A Board answers HTTP requests about one store or server: the pages in static, which are plain ES modules and the
// chart library uPlot, and JSON under /api. It reads by sessions of its own, one for quick questions and one for plans.
//
// # Invariants
//
// Nothing is written: a store is opened for reading, a server's transactions are read-only. A request is answered only
// if it names the listener's own address as host, and carries the token in its URL or as the cookie that the first
// request with the token has set. Each request reads what is stored now; what is kept between requests are steps of
// runs, which are counted before they are used again. Smoothing is computed over all steps, and a picture of fewer
// points keeps the extremes of the steps that it leaves out.
//
// # Errors
//
// An error of a session is answered as JSON with its text, SQLSTATE, detail and hint, which the page shows; the
// session is opened anew for the next request.
//
// # Where to add
//
// A question is a row of routes. A page is a module in static and a row of pages in main.js.
package board
