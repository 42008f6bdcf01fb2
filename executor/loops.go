package executor

// loop computes an operation for the rows of a block.
type loop func(b *block, o *op) error

// loops are those of all operations, one for single precision and one for all other kinds.
var loops = [...][2]loop{
	opConst:             {runConst, runConst},
	opLoad:              {loadRows, loadRows},
	opConvert:           {convertCell, convertCell},
	opReference:         {runReference, runReference},
	opUnary:             {runUnary[float32], runUnary[float64]},
	opBinary:            {runBinary[float32], runBinary[float64]},
	opSelect:            {runSelect[float32], runSelect[float64]},
	opBroadcast:         {runBroadcast[float32], runBroadcast[float64]},
	opElem:              {runElem[float32], runElem[float64]},
	opLanes:             {runLanes[float32], runLanes[float64]},
	opInts:              {runInts, runInts},
	opExtreme:           {runExtreme, runExtreme},
	opCompare:           {runCompare, runCompare},
	opTruth:             {runTruth, runTruth},
	opIsNull:            {runIsNull, runIsNull},
	opChoose:            {runChoose, runChoose},
	opToInt:             {runToInt, runToInt},
	opPair:              {runPair[float32], runPair[float64]},
	opMatmul:            {runMatmul[float32], runMatmul[float64]},
	opTurned:            {runTurned[float32], runTurned[float64]},
	opOuter:             {runOuter[float32], runOuter[float64]},
	opSumAll:            {runSumAll[float32], runSumAll[float64]},
	opReduce:            {runReduce[float32], runReduce[float64]},
	opSumTo:             {runSumTo[float32], runSumTo[float64]},
	opPermute:           {runPermute[float32], runPermute[float64]},
	opSubscript:         {runSubscript[float32], runSubscript[float64]},
	opSoftmax:           {runSoftmax[float32], runSoftmax[float64]},
	opLogSoftmax:        {runLogSoftmax[float32], runLogSoftmax[float64]},
	opLogSoftmaxSlope:   {runLogSoftmaxSlope[float32], runLogSoftmaxSlope[float64]},
	opSoftmaxGrad:       {runSoftmaxGrad[float32], runSoftmaxGrad[float64]},
	opSoftmaxGradOfOne:  {runSoftmaxGradOfOne[float32], runSoftmaxGradOfOne[float64]},
	opCrossEntropy:      {runCrossEntropy[float32], runCrossEntropy[float64]},
	opCrossEntropySlope: {runCrossEntropySlope[float32], runCrossEntropySlope[float64]},
	opOneHot:            {runOneHot, runOneHot},
	opMinusLabel:        {runMinusLabel[float32], runMinusLabel[float64]},
	opUniform:           {runUniform, runUniform},
	opRandomInt:         {runRandomInt, runRandomInt},
	opIntArray:          {runIntArray, runIntArray},
	opDropMask:          {runDropMask[float32], runDropMask[float64]},
	opRowKey:            {runRowKey, runRowKey},
}

// ready is an operation with its loop.
type ready struct {
	*op
	loop loop
}

// readied finds the loops of operations.
func readied(ops []*op) []ready {
	out := make([]ready, len(ops))
	for i, o := range ops {
		if out[i] = (ready{o, loops[o.code][1]}); o.kind == f32 {
			out[i].loop = loops[o.code][0]
		}
	}
	return out
}
