import { arnKinds, type ArnService, type DestinationArn } from '../../destination/arns.ts';
import type { DestinationResponse } from '../../destination/response.ts';

/** A service that accepts messages. Lambda is not one: it is called like a URL. */
export type MessageService = Exclude<ArnService, 'lambda'>;

/** The messages that a service accepts. */
export interface MessageBounds {
  /** The most bytes of a message, including its attributes. */
  readonly mostBytes: number;
  readonly takesEmpty: boolean;
}

interface AwsError {
  readonly name: string;
  readonly message: string;
  /** The status of AWS's answer, if any. */
  readonly status: number | undefined;
}

export interface MessageArn extends DestinationArn {
  readonly service: MessageService;
  readonly arn: string;
}

const answer = (status: number, error: string): DestinationResponse => ({
  status,
  error,
  headers: [],
  body: new Uint8Array(),
});

/** AWS accepted the message: the body has its ids. */
export const accepted = (
  ids: Readonly<Record<string, string | undefined>>,
  requestId: string | undefined,
): DestinationResponse => ({
  status: 200,
  headers: [
    ['content-type', 'application/json'],
    ...(requestId === undefined ? [] : [['x-amzn-requestid', requestId] as const]),
  ],
  body: Buffer.from(JSON.stringify(ids)),
});

/** @returns the answer for a message that AWS would not accept, which fails at once; otherwise undefined */
export function unsendable(
  service: MessageService,
  { mostBytes, takesEmpty }: MessageBounds,
  bytes: number,
  isEmpty: boolean,
): DestinationResponse | undefined {
  const { service: name } = arnKinds[service];
  if (bytes > mostBytes)
    return refused(
      413,
      `The message with its headers has ${bytes} bytes; ${name} takes ${mostBytes} at most.`,
    );
  if (isEmpty && !takesEmpty)
    return refused(400, `The message has no body; ${name} takes no message without one.`);
  return undefined;
}

const refused = (status: number, error: string): DestinationResponse => ({
  ...answer(status, error),
  isFinal: true,
  isRefusal: true,
});

const throttles = /throttl|TooManyRequests|RequestLimitExceeded|SlowDown/i;
const lacksRight = /AccessDenied|AuthorizationError|NotAuthorized|InvalidSecurity|InvalidClientTokenId/i;
const lacksResource =
  /^(AWS\.SimpleQueueService\.NonExistentQueue|QueueDoesNotExist|NotFound|ResourceNotFound)/;
const isTooLarge = /too (long|large)|must be shorter|over the limit|exceeds? the (maximum|limit)/i;

const limiting: Partial<Record<MessageService, string>> = {
  sns: 'the topic, whose attribute MaximumMessageSize may be raised',
};

/** Throttling becomes a 429, and missing permissions a 403, regardless of the status of AWS's answer. */
export function refusedBy({ arn, service, accountId }: MessageArn, error: AwsError): DestinationResponse {
  const { service: name, what, action } = arnKinds[service];
  const said = error.message === '' ? error.name : `${error.name}: ${error.message}`;
  if (throttles.test(error.name) || error.status === 429)
    return answer(429, `${name} throttles the ${what}: ${said}`);
  if (/^kms/i.test(error.name))
    return answer(
      lacksRight.test(error.name) ? 403 : 400,
      `The key of the ${what} ${arn} does not let the deployment encrypt; it must allow the delivery roles kms:GenerateDataKey and kms:Decrypt. ${said}`,
    );
  if (lacksRight.test(error.name))
    return answer(
      403,
      `The deployment may not send to the ${what} ${arn}: its delivery roles need ${action}, from their own policy and, in another AWS account, from that of the ${what} (account ${accountId}). ${said}`,
    );
  if (lacksResource.test(error.name)) return answer(404, `There is no ${what} ${arn}.`);
  if (isTooLarge.test(error.message))
    return {
      ...answer(413, `The message is too large for ${limiting[service] ?? name}: ${said}`),
      isFinal: true,
    };
  if (error.status === undefined) return answer(0, `${name} was not reached: ${said}`);
  return answer(error.status, `${name} did not take the message: ${said}`);
}
