/**
 * A proxy in front of a stand-in. A plan says which calls fail, and how, so that tests can simulate an AWS that throttles,
 * fails, doesn't answer, or answers twice.
 */
import { setTimeout } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as sendByHttp } from 'undici';
import * as z from 'zod/mini';
import { operationIn } from '../../local/aws/server.ts';
import { answerJson, close, listen, readBody } from '../../local/http.ts';
import type { Urls } from '../../local/stage/standIns.ts';

export type Service = keyof Urls;
export const services = ['dynamodb', 'sqs', 'scheduler', 's3', 'secrets'] as const satisfies Service[];

export interface AwsCall {
  readonly service: Service;
  /** The operation's name, such as `PutItem`, or the HTTP method if the service speaks REST. */
  readonly operation: string;
  /** The value of the header `callerHeader`. */
  readonly caller: string | undefined;
}

/** The header with which a process names itself to the fault proxy. */
export const callerHeader = 'x-caller';

/** `before`: the stand-in doesn't get the call. `after`: the call is made, but its answer is lost. */
type When = 'before' | 'after';

export type Fault =
  | { readonly kind: 'refuse'; readonly when: When; readonly status: number; readonly code: string }
  /** There is no answer, and the connection stays open. */
  | { readonly kind: 'hang'; readonly when: When }
  /** The connection is lost: `cut` is called, and returns whether there was something to cut. */
  | { readonly kind: 'reset'; readonly when: When; readonly cut?: () => boolean }
  /** The call is delayed. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The call is made twice, as if the network or a client had repeated it. The caller gets the second answer. */
  | { readonly kind: 'twice' }
  /** A message to a queue is delayed, so that later messages overtake it. */
  | { readonly kind: 'overtaken'; readonly seconds: number }
  /** Every second entry of a batch is refused, as a throttled service would. */
  | { readonly kind: 'half' };

export interface FaultPlan {
  readonly faultOf: (call: AwsCall) => Fault | undefined;
  /**
   * Called for each fault that took effect. A fault has no effect if the caller has gone, there is nothing to
   * cut, the message already has a longer delay, or the batch has no two entries for one queue or table.
   */
  readonly struck: (call: AwsCall, fault: Fault) => void;
}

interface FaultProxyOptions {
  readonly service: Service;
  readonly url: string;
  readonly plan: FaultPlan;
  readonly report: (error: unknown) => void;
}

/** Opens a proxy in front of each stand-in. */
export async function openFaultProxies(
  urls: Urls,
  plan: FaultPlan,
  report: (error: unknown) => void,
): Promise<{ readonly urls: Urls; readonly close: () => Promise<void> }> {
  const open = (service: Service) => openFaultProxy({ service, url: urls[service], plan, report });
  const proxies = {
    dynamodb: await open('dynamodb'),
    sqs: await open('sqs'),
    scheduler: await open('scheduler'),
    s3: await open('s3'),
    secrets: await open('secrets'),
  };
  return {
    urls: {
      dynamodb: proxies.dynamodb.url,
      sqs: proxies.sqs.url,
      scheduler: proxies.scheduler.url,
      s3: proxies.s3.url,
      secrets: proxies.secrets.url,
    },
    close: async () => {
      for (const proxy of Object.values(proxies)) await proxy.close();
    },
  };
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

async function openFaultProxy({ service, url, plan, report }: FaultProxyOptions) {
  const make = (request: Request): Promise<Answer> => sendTo(url, request);

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    const { 'x-amz-target': target, [callerHeader]: caller } = request.headers;
    const operation = target === undefined ? request.method : operationIn(target);
    const call = { service, operation, caller };
    const fault = plan.faultOf(call);
    const answer =
      fault === undefined
        ? await make(request)
        : await makeBadly(request, fault, response, () => {
            plan.struck(call, fault);
          });
    if (answer === undefined || response.destroyed) return;
    response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.byteLength });
    response.end(answer.body);
  }

  /** @returns undefined if the call gets no answer */
  async function makeBadly(
    request: Request,
    fault: Fault,
    response: ServerResponse,
    struck: () => void,
  ): Promise<Answer | undefined> {
    switch (fault.kind) {
      case 'slow':
        await setTimeout(fault.ms);
        if (!response.destroyed) struck();
        return make(request);
      case 'twice': {
        await make(request);
        const answer = await make(request);
        struck();
        return answer;
      }
      case 'overtaken': {
        const delayed = withDelay(request, fault.seconds);
        const answer = await make(delayed.request);
        if (delayed.isLater && answer.status === 200) struck();
        return answer;
      }
      case 'half': {
        const { answer, isHalf } = await makeHalf(request, make);
        if (isHalf) struck();
        return answer;
      }
      case 'refuse':
      case 'hang':
      case 'reset': {
        if (fault.when === 'after') await make(request);
        const isAwaited = !response.destroyed;
        if (fault.kind === 'reset') {
          const isCut = fault.cut?.() ?? isAwaited;
          response.destroy();
          if (isCut) struck();
          return undefined;
        }
        if (isAwaited) struck();
        return fault.kind === 'refuse' ? refusal(service, fault) : undefined;
      }
    }
  }

  const { server, url: proxyUrl } = await listen((request, response) => {
    pass(request, response).catch((error: unknown) => {
      // The client closed the connection before the end of its request.
      if (request.destroyed && !request.complete) return;
      report(error);
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, 'application/json', { __type: 'InternalFailure' });
    });
  });
  return { url: proxyUrl, close: () => close(server) };
}

async function readRequest(incoming: IncomingMessage): Promise<Request> {
  const body = await readBody(incoming);
  const pairs = Object.entries(incoming.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  return {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: Object.fromEntries(pairs),
    body,
  };
}

/** Headers about the connection. */
const hopHeaders = new Set(['connection', 'host', 'expect', 'transfer-encoding', 'content-length']);

async function sendTo(url: string, { method, path, headers, body }: Request): Promise<Answer> {
  const kept = (all: Readonly<Record<string, unknown>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(all)
        .filter(([name]) => !hopHeaders.has(name))
        .map(([name, value]) => [name, String(value)]),
    );
  const answer = await sendByHttp(new URL(path, url), {
    method,
    headers: kept(headers),
    ...(body.length > 0 && { body }),
  });
  return { status: answer.statusCode, headers: kept(answer.headers), body: await answer.body.bytes() };
}

function refusal(
  service: Service,
  { status, code }: { readonly status: number; readonly code: string },
): Answer {
  const message = 'The fault proxy refuses the call.';
  const body =
    service === 's3'
      ? `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
      : JSON.stringify({ __type: code, message });
  const type = service === 's3' ? 'application/xml' : 'application/x-amz-json-1.0';
  return {
    status,
    headers: { 'content-type': type, 'x-amzn-errortype': code },
    body: Buffer.from(body),
  };
}

const jsonObject = z.record(z.string(), z.unknown());
const entries = z.array(z.looseObject({ Id: z.optional(z.string()) }));

const withBody = (request: Request, body: unknown): Request => ({
  ...request,
  body: Buffer.from(JSON.stringify(body)),
});

/**
 * Delays messages to a queue, except those with a longer delay.
 *
 * @returns the request, and whether any message was delayed
 */
function withDelay(
  request: Request,
  seconds: number,
): { readonly request: Request; readonly isLater: boolean } {
  const input = jsonObject.parse(JSON.parse(request.body.toString()));
  let isLater = false;
  const delayed = (entry: Readonly<Record<string, unknown>>) => {
    const own = Number(entry['DelaySeconds'] ?? 0);
    isLater ||= own < seconds;
    return { ...entry, DelaySeconds: Math.max(seconds, own) };
  };
  const body =
    input['Entries'] === undefined
      ? delayed(input)
      : { ...input, Entries: entries.parse(input['Entries']).map(delayed) };
  return { request: withBody(request, body), isLater };
}

const requestItems = z.record(z.string(), z.array(z.unknown()));
const odd = <T>(list: readonly T[]): T[] => list.filter((_, at) => at % 2 === 1);
const even = <T>(list: readonly T[]): T[] => list.filter((_, at) => at % 2 === 0);

/** Makes every second entry of a batch: `Entries` of a queue, or `RequestItems` of a table. Other calls are made whole. */
async function makeHalf(
  request: Request,
  make: (request: Request) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly isHalf: boolean }> {
  const input = jsonObject.safeParse(JSON.parse(request.body.toString())).data ?? {};
  const toTables = requestItems.safeParse(input['RequestItems']).data;
  const toQueue = entries.safeParse(input['Entries']).data;
  const isDivided =
    Object.values(toTables ?? {}).some((list) => list.length > 1) ||
    (toQueue !== undefined && toQueue.length > 1);
  const [made, left] = !isDivided
    ? []
    : toTables !== undefined
      ? [{ ...input, RequestItems: eachOf(toTables, even) }, { UnprocessedItems: eachOf(toTables, odd) }]
      : toQueue !== undefined
        ? [
            { ...input, Entries: even(toQueue) },
            {
              Failed: odd(toQueue).map(({ Id }) => ({
                Id,
                Code: 'InternalError',
                Message: 'The fault proxy refuses the entry.',
                SenderFault: false,
              })),
            },
          ]
        : [];
  const answer = await make(made === undefined ? request : withBody(request, made));
  if (left === undefined || answer.status !== 200) return { answer, isHalf: false };
  const output = jsonObject.parse(JSON.parse(Buffer.from(answer.body).toString()));
  return {
    answer: { ...answer, body: Buffer.from(JSON.stringify({ ...output, ...left })) },
    isHalf: true,
  };
}

const eachOf = (
  tables: Readonly<Record<string, unknown[]>>,
  part: (list: readonly unknown[]) => unknown[],
): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(tables)
      .map(([name, list]) => [name, part(list)] as const)
      .filter(([, list]) => list.length > 0),
  );
