import * as z from 'zod/mini';
import { errorCodes, type ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { service } from './service.ts';

export { service };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

interface PublishInit {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly query?: string;
  readonly url?: string;
  /** Null sends none. */
  readonly token?: string | null;
}

/** Sends a request to the service with `fetch`, and returns the JSON or plain text of the answer. */
export async function call(path: string, init: RequestInit = {}, url = service.url): Promise<Answer> {
  const response = await fetch(`${url}${path}`, init);
  const text = await response.text();
  const isText = response.headers.get('content-type')?.startsWith('text/plain') === true;
  // An answer to HEAD has no body.
  const json: unknown = text === '' ? undefined : isText ? text : JSON.parse(text);
  return { status: response.status, headers: response.headers, json };
}

/** Publishes to a destination, which is put into the path unchanged. */
export async function publish(destination: string, init: PublishInit = {}): Promise<Answer> {
  const token = init.token === undefined ? service.token : init.token;
  const query = init.query === undefined ? '' : `?${init.query}`;
  return call(
    `/v2/publish/${destination}${query}`,
    {
      method: 'POST',
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...init.headers },
      ...(init.body === undefined ? {} : { body: init.body }),
    },
    init.url,
  );
}

const accepted = z.object({
  messageId: z.string().check(z.regex(/^msg_[0-9A-HJKMNP-TV-Z]{25}[0-9A-HJKMNP-Z]$/)),
});

export function messageIdOf(answer: Answer): string {
  if (answer.status !== 200) throw new Error(`Status ${answer.status}: ${JSON.stringify(answer.json)}`);
  return accepted.parse(answer.json).messageId;
}

const refused = z.strictObject({
  error: z.string(),
  code: z.enum(Object.keys(errorCodes) as ErrorCode[]),
});

/** Parses an error; throws if its code is unknown, or belongs to another status. */
export function refusalOf({ status, json }: Answer): z.infer<typeof refused> {
  const refusal = refused.parse(json);
  const statuses: readonly number[] = errorCodes[refusal.code].statuses;
  if (!statuses.includes(status)) throw new Error(`Status ${status} came with ${JSON.stringify(refusal)}`);
  return refusal;
}

export const errorOf = (answer: Answer): string => refusalOf(answer).error;
