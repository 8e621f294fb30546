/**
 * Distinguishes outages from faults. During an outage, a job is retried: AWS or the network does not work, or
 * an operator must fix something. All other errors are faults (bugs) of the service, and would happen each
 * time.
 */
import { TransientError } from '../error/transientError.ts';

/** Statuses of AWS that mean an outage. All from 500 on do, too. */
const outageStatuses = new Set([401, 402, 403, 408, 409, 429]);

/**
 * Errors with these names are outages with any status, because some services answer 400 to nearly everything.
 * Services spell the names differently (`Throttling`, `ThrottlingException`, `RequestThrottled`).
 */
const outageNames: readonly RegExp[] = [
  // A late or missing answer.
  /^(Abort|Timeout)Error$|RequestTimeout|RequestAborted|NetworkingError/,
  // Throttling and quotas.
  /Throttl|ThroughputExceeded|TooManyRequests|LimitExceeded|QuotaExceeded|^OverLimit|SlowDown|^PriorRequest/,
  /TransactionInProgress|TransactionConflict|ReplicatedWriteConflict|OperationAborted/,
  /^Internal|ServiceUnavailable|ServiceFailure/,
  // Credentials and permissions.
  /AccessDenied|NotAuthorized|Unauthorized|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId/,
  /ExpiredToken|TokenRefreshRequired|RequestExpired|RequestTimeTooSkewed|Signature|InvalidSecurity/,
  /MissingAuthenticationToken|OptInRequired|ProviderError$/,
  // Encryption keys; missing or changing tables, queues and buckets.
  /^KMS|DecryptionFailure|EncryptionFailure|InaccessibleEncryption/i,
  /ResourceNotFound|TableNotFound|NoSuchBucket|QueueDoesNotExist|NonExistentQueue|ResourceInUse/,
  // By name, because another bundle's copy has another class.
  /^TransientError$/,
  // Secrets Manager's error while a secret is being deleted.
  /^InvalidRequestException$/,
];

/** Node's codes for connection errors without a system call. */
const connectionCodes =
  /^(E[A-Z]*CONN|EPIPE|EPROTO|EAI_|ETIMEDOUT|ERR_(SOCKET|TLS|SSL|STREAM_PREMATURE)|CERT_|.*_CERT)/;

const field = (value: object, name: string): unknown => Object.getOwnPropertyDescriptor(value, name)?.value;

function statusOf(error: Error): number | undefined {
  const metadata = field(error, '$metadata');
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const status = field(metadata, 'httpStatusCode');
  return typeof status === 'number' ? status : undefined;
}

function isOutageAnswer(status: number): boolean {
  // A success that could not be read was incomplete, or not from AWS.
  return status < 400 || status >= 500 || outageStatuses.has(status);
}

/** If there are several errors, one fault among them is enough. */
export function isFault(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof TransientError) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.some(isFault);
  const status = statusOf(error);
  if (status !== undefined && isOutageAnswer(status)) return false;
  if (outageNames.some((name) => name.test(error.name))) return false;
  // Errors of the operating system have the name of the call that failed.
  if (typeof field(error, 'syscall') === 'string') return false;
  const code = field(error, 'code');
  return typeof code !== 'string' || !connectionCodes.test(code);
}
