/** A refusal as the AWS service would answer it: `code` is the name of the exception in the SDK. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  /** Other members of the exception, such as the row on which a condition failed. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 400, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.members = members;
  }
}
