/** An error whose cause the developer can fix. Only its message, a sentence, is printed. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

/** Whether `error` is Node's system error `code`, such as `EADDRINUSE`. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
