/** An error whose cause the operator can correct: its sentence says all. */
export class OperateError extends Error {}
