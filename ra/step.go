package ra

// What a column stands for in an expression that says how a row of a parameter changes in a step of training
// (kernels.Col.Input).
const (
	StepValue    = iota // the value before the step
	StepGradient        // its gradient; zero in rows without one
	StepBuffer          // buffer number Col.ID of the optimizer, before the step
	StepNumber          // number Col.ID, which changes from step to step
	StepScale           // the factor of the gradients that bounds their norm (clip_norm)
)
