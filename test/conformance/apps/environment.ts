/** An application's variables, which are set before its clients are made, and its receivers. */
import { equal } from 'node:assert/strict';
import * as z from 'zod/mini';
import type { Delivery } from '../../support/receiver.ts';
import { receiveFor, receiver, token, url } from '../harness.ts';
import { signingKeys } from '../service.ts';

const { currentSigningKey, nextSigningKey } = await signingKeys();
process.env['QSTASH_URL'] = url;
process.env['QSTASH_TOKEN'] = token;
process.env['QSTASH_CURRENT_SIGNING_KEY'] = currentSigningKey;
process.env['QSTASH_NEXT_SIGNING_KEY'] = nextSigningKey;

/** The fields of a callback that Dub and Papermark read. */
const callbackShape = z.looseObject({
  status: z.number(),
  url: z.string(),
  createdAt: z.number(),
  sourceMessageId: z.string(),
  body: z.string(),
  sourceBody: z.string(),
});

type Callback = z.infer<typeof callbackShape>;

/** A promise, and a function that resolves it. */
export function pending<T>() {
  let done: (value: T) => void = () => undefined;
  let failed: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    done = resolve;
    failed = reject;
  });
  return { promise, done, failed };
}

interface Webhook {
  /** The customer's URL. */
  readonly url: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
  readonly callback: string;
  readonly failureCallback: string;
  readonly retries: number;
}

/**
 * Publishes a webhook to a customer whose server answers with a status, and waits for the callback that reports it.
 *
 * @param isGenuine verifies a callback's request
 */
export async function reportedWebhook(
  publish: (webhook: Webhook) => Promise<{ readonly messageId: string }>,
  isGenuine: (request: Request, body: string) => Promise<boolean>,
  signatureName: string,
  status: number,
): Promise<void> {
  const customer = receiver.inbox((_delivery, response) => response.writeHead(status).end('answered'));
  const reported = pending<Callback>();
  const callbackUrl = new URL(
    receiveFor(async (request) => {
      const text = await request.text();
      try {
        equal(new URL(request.url).searchParams.get('webhookId'), 'wh_1');
        equal(await isGenuine(request, text), true);
        reported.done(callbackShape.parse(JSON.parse(text)));
      } catch (error) {
        reported.failed(error);
      }
      return new Response('OK');
    }),
  );
  callbackUrl.searchParams.append('webhookId', 'wh_1');
  callbackUrl.searchParams.append('event', 'link.created');
  const { messageId } = await publish({
    url: customer.url,
    body: { id: 'evt_1', event: 'link.created' },
    headers: { [signatureName]: 'signed', 'Upstash-Hide-Headers': 'true' },
    callback: callbackUrl.href,
    failureCallback: callbackUrl.href,
    // The applications use the plan's default, with which a failure would take hours.
    retries: 0,
  });
  const [delivery] = await customer.received(1);
  const callback = await reported.promise;
  equal(callback.status, status);
  equal(callback.sourceMessageId, messageId);
  equal(Buffer.from(callback.body, 'base64').toString(), 'answered');
  equal(Buffer.from(callback.sourceBody, 'base64').toString(), '{"id":"evt_1","event":"link.created"}');
  equal(delivery?.headers[signatureName.toLowerCase()], 'signed');
}

/** The queue's own headers of a delivery, without signatures. */
export const headersOfQueue = ({ headers }: Delivery): readonly string[] =>
  Object.keys(headers).filter((name) => /^(?:upstash|svc)-/.test(name) && !name.endsWith('-signature'));
