/** A refusal in the words of the AWS service that is played: `code` is the name of the exception in the SDK. */
export class AwsError extends Error {
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** Other members of the exception, as the row on which a condition failed. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 400, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.members = members;
  }
}
