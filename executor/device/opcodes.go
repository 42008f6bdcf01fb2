package device

// Opcode says which loop computes an operation.
type Opcode uint8

const (
	OpConst            Opcode = iota // the constant of v
	OpLoad                           // rows of v, through idx unless that is nil
	OpConvert                        // numbers in another kind
	OpReference                      // the kernel's reference code, value by value
	OpUnary                          // *elem: one argument, number by number
	OpBinary                         // *elem: two arguments, each whole or one number
	OpSelect                         // *elem: three
	OpBroadcast                      // *elem: two or three, seen as matrices with rows and columns
	OpElem                           // *elem: the kernel's code, number by number
	OpLanes                          // the kernel's code, lane by lane
	OpInts                           // arithmetic of bigint
	OpExtreme                        // int: 1 for the greatest, -1 for the least
	OpCompare                        // [3]int64: for which outcomes it holds
	OpTruth                          // *truths
	OpIsNull                         // bool: NULL, or not
	OpChoose                         // int: how many of the arguments are conditions
	OpToInt                          // a number to bigint
	OpPair                           // *pairing
	OpMatmul                         // product
	OpTurned                         // *turned
	OpOuter                          // product
	OpSumAll                         // int: numbers of a chunk
	OpReduce                         // reduction
	OpSumTo                          // []int32: to which place each number goes
	OpPermute                        // []int32: from which place each number comes, -1: zero
	OpSubscript                      // int: the place of the number
	OpSoftmax                        // int: the length of the last axis
	OpLogSoftmax                     // int
	OpLogSoftmaxSlope                // int
	OpSoftmaxGrad                    // int
	OpSoftmaxGradOfOne               // int
	OpCrossEntropy
	OpCrossEntropySlope
	OpOneHot
	OpMinusLabel
	OpUniform
	OpRandomInt
	OpIntArray
	OpDropMask
	OpRowKey
)

// Unary and binary are the kernels of one and of two arguments that a device computes with OpUnary and OpBinary.
var (
	Unary = setOf("neg", "abs", "square", "sqrt", "relu", "sign", "exp", "ln", "tanh", "sigmoid", "softplus", "silu",
		"sech2", "sigmoid_slope", "gauss", "normal_pdf")
	Binary = setOf("add", "sub", "mul", "div", "maximum", "minimum", "greater", "eq_mask", "bce_slope")
)

func setOf(names ...string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}
