package main

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/relgrad/relgrad"
	"github.com/relgrad/relgrad/train"
)

// showProgress draws a bar for train() on a terminal; elsewhere there is none.
func showProgress(db *relgrad.DB, quiet bool) {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return
	}
	var bar *progressbar.ProgressBar
	db.OnStep = func(row train.LossRow, steps int64) {
		if bar == nil || row.Step == 1 {
			bar = progressbar.NewOptions64(steps, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(30),
				progressbar.OptionShowCount(), progressbar.OptionThrottle(65e6), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetPredictTime(true))
		}
		text := fmt.Sprintf("loss %.5g", row.Loss)
		if row.Validation != nil {
			text += fmt.Sprintf("  validation %.5g", *row.Validation)
		}
		bar.Describe(text)
		_ = bar.Set64(row.Step) // a bar that cannot be drawn must not stop training
	}
	db.OnEnd = func() {
		if bar != nil {
			_ = bar.Clear()
			bar = nil
		}
	}
}
