/** An error of an AWS service. `code` is the exception's name in the SDK. */
export class AwsError extends Error {
  readonly code: string;
  readonly status: number;
  /** Other fields of the exception, such as the row that failed a condition. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 400, members: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.members = members;
  }
}

/** The error of DynamoDB and Scheduler for an invalid request. */
export const refused = (message: string): AwsError => new AwsError('ValidationException', message);
