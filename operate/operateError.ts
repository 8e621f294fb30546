/** An error that the operator can fix. Only its message is printed. */
export class OperateError extends Error {}
