package tensor

import "math"

// Philox is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
// a counter-based generator, so that a draw depends on its key and counter only.
func Philox(key [2]uint32, ctr [4]uint32) [4]uint32 {
	for range 10 {
		p0 := uint64(0xD2511F53) * uint64(ctr[0])
		p1 := uint64(0xCD9E8D57) * uint64(ctr[2])
		ctr = [4]uint32{uint32(p1>>32) ^ ctr[1] ^ key[0], uint32(p1), uint32(p0>>32) ^ ctr[3] ^ key[1], uint32(p0)}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return ctr
}

// HashKey folds integers into 64 bits (the finaliser of SplitMix64 after each); an empty list gives a constant.
func HashKey(parts ...int64) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	for _, p := range parts {
		h = Mix(h ^ uint64(p))
	}
	return h
}

// Mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func Mix(h uint64) uint64 {
	h += 0x9E3779B97F4A7C15
	h = (h ^ h>>30) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>27) * 0x94D049BB133111EB
	return h ^ h>>31
}

// HashText folds a string into 64 bits (FNV-1a, then Mix).
func HashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return Mix(h)
}

// Block returns block i of the stream (seed, key): four words of 32 random bits.
func Block(seed int64, key uint64, i int) [4]uint32 {
	return Philox([2]uint32{uint32(seed), uint32(uint64(seed) >> 32)},
		[4]uint32{uint32(i), uint32(uint64(i) >> 32), uint32(key), uint32(key >> 32)})
}

// Dropped reports whether element i of a mask of dropout with probability p in [0,1) is 0: whether word i mod 4 of
// block i / 4 of the stream (seed, key) is below Threshold(p).
func Dropped(seed int64, key uint64, i int, p float64) bool {
	return Block(seed, key, i/4)[i%4] < Threshold(p)
}

// Threshold is how many of the 2³² words drop an element with probability p in [0,1): round(p·2³²), so that p is met to
// 2⁻³²; for 0 < p at least one and never all, so that what is rare stays possible.
func Threshold(p float64) uint32 {
	if p == 0 {
		return 0
	}
	return uint32(min(max(math.Floor(p*(1<<32)+0.5), 1), 1<<32-1))
}

// Uniform returns element i of the stream (seed, key) in [0,1), with 53 random bits: the first of those of block i.
func Uniform(seed int64, key uint64, i int) float64 {
	c := Block(seed, key, i)
	return float64((uint64(c[0])<<32|uint64(c[1]))>>11) / (1 << 53)
}

// Normal returns element i of the stream (seed, key) from the standard normal distribution (Box–Muller).
func Normal(seed int64, key uint64, i int) float64 {
	c := Block(seed, key, i)
	u := (float64((uint64(c[0])<<32|uint64(c[1]))>>11) + 1) / (1 << 53) // in (0,1]
	v := float64((uint64(c[2])<<32|uint64(c[3]))>>11) / (1 << 53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}
