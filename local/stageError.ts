/** Something the person at the keyboard can put right: its message is one whole sentence and all they are shown. */
export class StageError extends Error {
  override readonly name = 'StageError';
}

/** Whether `error` is Node's system error `code`, such as `EADDRINUSE`. */
export function isSystemError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
