/** An error whose cause the operator can correct. Only its sentence is printed. */
export class OperateError extends Error {}
