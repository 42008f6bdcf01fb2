package kernels

// Role says what a kernel's value is of its arguments, for who asks what a column of a loss is for: whether it is a
// target, which the loss compares with what a model makes.
type Role int

const (
	RoleOther      Role = iota
	RoleSum             // of its arguments, with either sign
	RoleScaled          // its argument, up to a constant factor or its type
	RoleChoice          // one of its arguments (see Chosen)
	RoleProduct         // of two arguments, element by element
	RoleQuotient        // of two arguments
	RoleScalar          // the sum of products of two arguments
	RoleDistance        // from zero, of its first argument; where there is a second one, it is a parameter of the measure
	RoleDifference      // a measure of how far its two arguments are apart
	RoleLikelihood      // of its second argument under a distribution that the first one describes
	RoleLogarithm       // of its argument, or of a distribution that it describes
)
