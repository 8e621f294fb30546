/** The error of a job or request that must be retried: its cause is temporary, or an operator must fix it. */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}
