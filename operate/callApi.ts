/** Requests to the service's APIs. */
import * as z from 'zod/mini';
import { OperateError } from './operateError.ts';

const refusal = z.object({ error: z.string() });

/** A refusal, with the service's sentence. */
export class ApiRefusal extends OperateError {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** The timeout, in milliseconds. The gateway's is 29 s. */
const limitMs = 60_000;

interface ApiRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/**
 * @returns a successful answer
 * @throws ApiRefusal if the API refuses the request, OperateError with the reason if it does not answer
 */
export async function callApi(
  address: URL,
  authorization: string,
  { headers, ...request }: ApiRequest,
): Promise<{ readonly text: string; readonly headers: Headers }> {
  const { response, text } = await send(address, {
    ...request,
    headers: { ...headers, authorization },
    // A redirect would get the body.
    redirect: 'error',
    signal: AbortSignal.timeout(limitMs),
  });
  if (response.ok) return { text, headers: response.headers };
  const sentence = refusalIn(text) ?? text.slice(0, 300);
  throw new ApiRefusal(
    response.status,
    `${address.origin} answered ${response.status.toString()}: ${sentence}`,
  );
}

/** Errors of Node.js for a certificate whose authority is unknown. */
const ofUnknownAuthority = /_ISSUER_CERT|SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF/;

async function send(
  address: URL,
  request: RequestInit,
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    const response = await fetch(address, request);
    return { response, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isUnknown =
      cause instanceof Error && 'code' in cause && ofUnknownAuthority.test(String(cause.code));
    const remedy = isUnknown
      ? '. Set NODE_EXTRA_CA_CERTS to the file with the certificate of its authority.'
      : '';
    throw new OperateError(`${address.origin} does not answer: ${reason}${remedy}`);
  }
}

function refusalIn(text: string): string | undefined {
  try {
    return refusal.safeParse(JSON.parse(text)).data?.error;
  } catch {
    // The answer is not the service's own, so its text is shown.
    return undefined;
  }
}
