const statuses = {
  ConflictException: 409,
  ResourceNotFoundException: 404,
  ValidationException: 400,
} as const;

/** A refusal in Scheduler's own words: `type` is the exception's name in the SDK. */
export class SchedulerError extends Error {
  readonly type: keyof typeof statuses;
  readonly status: number;

  constructor(type: keyof typeof statuses, message: string) {
    super(message);
    this.type = type;
    this.status = statuses[type];
  }
}
