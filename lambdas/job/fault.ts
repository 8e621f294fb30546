/**
 * Outages and faults. A job that meets an outage (of AWS, of the network, or one that an operator has to mend) is done again for
 * as long as the outage lasts. Every other error is a fault of the service itself, and would be raised again each time.
 */
import { TransientError } from '../error/transientError.ts';

/** Statuses of AWS that are outages, and pass by themselves or are mended by an operator. So are all from 500 on. */
const outageStatuses = new Set([401, 402, 403, 408, 409, 429]);

/**
 * Names of errors that are outages whatever their status: DynamoDB, SQS and Secrets Manager answer 400 to nearly everything.
 * Each is a stem, because services spell one thing differently (`Throttling`, `ThrottlingException`, `RequestThrottled`).
 */
const outageNames: readonly RegExp[] = [
  // No answer in time, or no answer.
  /^(Abort|Timeout)Error$|RequestTimeout|RequestAborted|NetworkingError/,
  // Too much at once, or more than AWS allows for now.
  /Throttl|ThroughputExceeded|TooManyRequests|LimitExceeded|QuotaExceeded|^OverLimit|SlowDown|^PriorRequest/,
  /TransactionInProgress|TransactionConflict|ReplicatedWriteConflict|OperationAborted/,
  /^Internal|ServiceUnavailable|ServiceFailure/,
  // Credentials and permissions.
  /AccessDenied|NotAuthorized|Unauthorized|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId/,
  /ExpiredToken|TokenRefreshRequired|RequestExpired|RequestTimeTooSkewed|Signature|InvalidSecurity/,
  /MissingAuthenticationToken|OptInRequired|ProviderError$/,
  // Keys of encryption; tables, queues and buckets that are missing or being changed.
  /^KMS|DecryptionFailure|EncryptionFailure|InaccessibleEncryption/i,
  /ResourceNotFound|TableNotFound|NoSuchBucket|QueueDoesNotExist|NonExistentQueue|ResourceInUse/,
  // Secrets Manager says this of a secret that is about to be deleted.
  /^InvalidRequestException$/,
];

/** Node's codes for a connection that could not be made or was lost, where the error names no system call. */
const connectionCodes =
  /^(E[A-Z]*CONN|EPIPE|EPROTO|EAI_|ETIMEDOUT|ERR_(SOCKET|TLS|SSL|STREAM_PREMATURE)|CERT_|.*_CERT)/;

const field = (value: object, name: string): unknown => Object.getOwnPropertyDescriptor(value, name)?.value;

/** The status of AWS's answer; undefined where the error is not from an answer. */
function statusOf(error: Error): number | undefined {
  const metadata = field(error, '$metadata');
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const status = field(metadata, 'httpStatusCode');
  return typeof status === 'number' ? status : undefined;
}

function isOutageAnswer(status: number): boolean {
  // An answer of success that could not be read was not AWS's, or not whole.
  return status < 400 || status >= 500 || outageStatuses.has(status);
}

/** Whether an error is the service's own fault, and not an outage. An error of several is a fault if one of them is. */
export function isFault(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof TransientError) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.some(isFault);
  const status = statusOf(error);
  if (status !== undefined && isOutageAnswer(status)) return false;
  if (outageNames.some((name) => name.test(error.name))) return false;
  // Errors of the operating system name the call that failed.
  if (typeof field(error, 'syscall') === 'string') return false;
  const code = field(error, 'code');
  return typeof code !== 'string' || !connectionCodes.test(code);
}
