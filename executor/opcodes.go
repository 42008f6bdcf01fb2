package executor

// opcode says which loop computes an operation.
type opcode uint8

const (
	opConst            opcode = iota // the constant of v
	opLoad                           // rows of v, through idx where there is one
	opConvert                        // numbers in another kind
	opReference                      // the kernel's reference code, value by value
	opUnary                          // *elem: one argument, number by number
	opBinary                         // *elem: two arguments, each whole or one number
	opSelect                         // *elem: three
	opBroadcast                      // *elem: two or three, which are seen as rows and columns
	opElem                           // *elem: the kernel's code, number by number
	opLanes                          // the kernel's code, lane by lane
	opInts                           // arithmetic of bigint
	opExtreme                        // int: 1 for the greatest, -1 for the least
	opCompare                        // [3]int64: for which outcomes it holds
	opTruth                          // *truths
	opIsNull                         // bool: NULL, or not
	opChoose                         // int: how many of the arguments are conditions
	opToInt                          // a number to bigint
	opPair                           // *pairing
	opMatmul                         // product
	opTurned                         // *turned
	opOuter                          // product
	opSumAll                         // int: numbers of a chunk
	opReduce                         // reduction
	opSumTo                          // []int32: to which place each number goes
	opPermute                        // []int32: from which place each number comes, -1: zero
	opSubscript                      // int: the place of the number
	opSoftmax                        // int: the length of the last axis
	opLogSoftmax                     // int
	opLogSoftmaxSlope                // int
	opSoftmaxGrad                    // int
	opSoftmaxGradOfOne               // int
	opCrossEntropy
	opCrossEntropySlope
	opOneHot
	opMinusLabel
	opUniform
	opRandomInt
	opIntArray
	opDropMask
	opRowKey
)

// unary and binary are the kernels of one and of two arguments that a device computes with opUnary and opBinary.
var (
	unary = setOf("neg", "abs", "square", "sqrt", "relu", "sign", "exp", "ln", "tanh", "sigmoid", "softplus", "silu", "sech2",
		"sigmoid_slope", "gauss", "normal_pdf")
	binary = setOf("add", "sub", "mul", "div", "maximum", "minimum", "greater", "eq_mask", "bce_slope")
)

func setOf(names ...string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}
