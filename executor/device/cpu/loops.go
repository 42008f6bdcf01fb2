package cpu

import (
	"github.com/relgrad/relgrad/column"
	"github.com/relgrad/relgrad/executor/device"
)

// loop computes an operation for the rows of a block.
type loop func(b *block, o *device.Op) error

// loops are the loops of all operations: one for single precision, one for all other kinds.
var loops = [...][2]loop{
	device.OpConst:             {runConst, runConst},
	device.OpLoad:              {loadRows, loadRows},
	device.OpConvert:           {convertCell, convertCell},
	device.OpReference:         {runReference, runReference},
	device.OpUnary:             {runUnary[float32], runUnary[float64]},
	device.OpBinary:            {runBinary[float32], runBinary[float64]},
	device.OpSelect:            {runSelect[float32], runSelect[float64]},
	device.OpBroadcast:         {runBroadcast[float32], runBroadcast[float64]},
	device.OpElem:              {runElem[float32], runElem[float64]},
	device.OpLanes:             {runLanes[float32], runLanes[float64]},
	device.OpInts:              {runInts, runInts},
	device.OpExtreme:           {runExtreme, runExtreme},
	device.OpCompare:           {runCompare, runCompare},
	device.OpTruth:             {runTruth, runTruth},
	device.OpIsNull:            {runIsNull, runIsNull},
	device.OpChoose:            {runChoose, runChoose},
	device.OpToInt:             {runToInt, runToInt},
	device.OpPair:              {runPair[float32], runPair[float64]},
	device.OpMatmul:            {runMatmul[float32], runMatmul[float64]},
	device.OpTurned:            {runTurned[float32], runTurned[float64]},
	device.OpOuter:             {runOuter[float32], runOuter[float64]},
	device.OpSumAll:            {runSumAll[float32], runSumAll[float64]},
	device.OpReduce:            {runReduce[float32], runReduce[float64]},
	device.OpSumTo:             {runSumTo[float32], runSumTo[float64]},
	device.OpPermute:           {runPermute[float32], runPermute[float64]},
	device.OpSubscript:         {runSubscript[float32], runSubscript[float64]},
	device.OpSoftmax:           {runSoftmax[float32], runSoftmax[float64]},
	device.OpLogSoftmax:        {runLogSoftmax[float32], runLogSoftmax[float64]},
	device.OpLogSoftmaxSlope:   {runLogSoftmaxSlope[float32], runLogSoftmaxSlope[float64]},
	device.OpSoftmaxGrad:       {runSoftmaxGrad[float32], runSoftmaxGrad[float64]},
	device.OpSoftmaxGradOfOne:  {runSoftmaxGradOfOne[float32], runSoftmaxGradOfOne[float64]},
	device.OpCrossEntropy:      {runCrossEntropy[float32], runCrossEntropy[float64]},
	device.OpCrossEntropySlope: {runCrossEntropySlope[float32], runCrossEntropySlope[float64]},
	device.OpOneHot:            {runOneHot, runOneHot},
	device.OpMinusLabel:        {runMinusLabel[float32], runMinusLabel[float64]},
	device.OpUniform:           {runUniform, runUniform},
	device.OpRandomInt:         {runRandomInt, runRandomInt},
	device.OpIntArray:          {runIntArray, runIntArray},
	device.OpDropMask:          {runDropMask[float32], runDropMask[float64]},
	device.OpRowKey:            {runRowKey, runRowKey},
}

// ready is an operation with its loop.
type ready struct {
	*device.Op
	loop loop
}

// readied pairs operations with their loops.
func readied(ops []*device.Op) []ready {
	out := make([]ready, len(ops))
	for i, o := range ops {
		if out[i] = (ready{o, loops[o.Code][1]}); o.Kind == column.F32 {
			out[i].loop = loops[o.Code][0]
		}
	}
	return out
}
