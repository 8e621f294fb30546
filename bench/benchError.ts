/** An error that the user of the benchmark can fix. Only its message is printed. */
export class BenchError extends Error {}
