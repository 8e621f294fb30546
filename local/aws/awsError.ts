/** A refusal in the words of the AWS service that is played: `code` is the name of the exception in the SDK. */
export class AwsError extends Error {
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}
