/** An error that whoever runs the benchmark can correct: its sentence is printed alone. */
export class BenchError extends Error {}
