// twice doubles n numbers.
extern "C" __global__ void twice(double *x, long long n)
{
	long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= 2;
}
