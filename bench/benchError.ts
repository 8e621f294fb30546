/** An error that the user of the benchmark can correct. Only its sentence is printed. */
export class BenchError extends Error {}
