/** Destinations that misbehave as planned at each message's first attempts, and remember what they got. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod/mini';
import { close, listen, readBody } from '../../local/http.ts';
import { Chance } from './chance.ts';

const weights = {
  error: 5,
  tooMany: 1,
  hang: 1,
  reset: 2,
  resetInBody: 1,
  redirect: 1,
  upgrade: 1,
  endless: 1,
  tooShort: 1,
  tooLong: 1,
  noHttp: 1,
} as const;
type Misbehaviour = keyof typeof weights;
/** The ways in which a destination misbehaves or is slow. */
export const misbehaviours: readonly Answer[] = [...(Object.keys(weights) as Misbehaviour[]), 'slow'];

/** Answers that begin as a success. The service may count them either way. */
const maybeSuccess: ReadonlySet<Answer> = new Set<Answer>(['endless', 'tooShort', 'tooLong', 'resetInBody']);

export type Answer = 'ok' | 'slow' | Misbehaviour;

/** A destination's plan for a message. */
interface Plan {
  /** The number of first attempts that fail; Infinity for all. */
  readonly failures: number;
  readonly chance: Chance;
}

export interface CallbackArrival {
  readonly sourceMessageId: string;
  readonly status: number;
  readonly isFailure: boolean;
}

export const callbackBody = z.looseObject({ sourceMessageId: z.string(), status: z.number() });

export interface Receivers {
  readonly origin: string;
  /** The destination of a message, by its number. */
  readonly urlOf: (number: number) => string;
  readonly callbackUrl: string;
  readonly failureCallbackUrl: string;
  /** The answers to each message's attempts, by id. */
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  readonly callbacks: readonly CallbackArrival[];
  /** Ends all misbehaviour, except for messages that fail for ever, which get 500. */
  readonly calm: () => void;
  readonly counts: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

export const mayBeSuccess = (answer: Answer): boolean =>
  answer === 'ok' || answer === 'slow' || maybeSuccess.has(answer);

/** Whether a message fails for ever. */
export const isDoomed = (seed: number, number: number): boolean => planOf(seed, number).failures === Infinity;

function planOf(seed: number, number: number): Plan {
  const chance = new Chance(seed, `destination ${number}`);
  const how = chance.weighted({ well: 60, once: 22, twice: 11, never: 7 });
  return { failures: { well: 0, once: 1, twice: 2, never: Infinity }[how], chance };
}

export async function startReceivers(seed: number): Promise<Receivers> {
  const answers = new Map<string, Answer[]>();
  const callbacks: CallbackArrival[] = [];
  const counts = new Map<string, number>();
  const plans = new Map<string, Plan>();
  let isCalm = false;

  function answerOf(messageId: string, number: number, before: number): Answer {
    const plan = plans.get(messageId) ?? planOf(seed, number);
    plans.set(messageId, plan);
    const fails = before < plan.failures;
    if (isCalm) return fails && plan.failures === Infinity ? 'error' : 'ok';
    if (!fails) return plan.chance.is(0.1) ? 'slow' : 'ok';
    return plan.chance.weighted(weights);
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const { pathname } = new URL(request.url ?? '/', 'http://receiver');
    const messageId = String(request.headers['svc-message-id'] ?? '');
    if (pathname === '/callback' || pathname === '/failure') {
      const { sourceMessageId, status } = callbackBody.parse(JSON.parse(body?.toString() ?? ''));
      callbacks.push({ sourceMessageId, status, isFailure: pathname === '/failure' });
    }
    const number = Number(/\d+$/.exec(pathname)?.[0] ?? '0');
    const got = answers.get(messageId) ?? [];
    answers.set(messageId, got);
    const answer = number === 0 ? 'ok' : answerOf(messageId, number, got.length);
    got.push(answer);
    // A disconnected worker gets no answer.
    if (!response.destroyed) counts.set(answer, (counts.get(answer) ?? 0) + 1);
    misbehave[answer](response);
  }

  // Clients that ask for an upgrade get a normal answer.
  const { server, url: origin } = await listen((request, response) => {
    receive(request, response).catch(() => {
      // A killed worker's request is incomplete.
      response.destroy();
    });
  });
  return {
    origin,
    urlOf: (number) => `${origin}/m/${number}`,
    callbackUrl: `${origin}/callback`,
    failureCallbackUrl: `${origin}/failure`,
    answers,
    callbacks,
    counts,
    calm: () => {
      isCalm = true;
    },
    close: () => close(server),
  };
}

const raw = (response: ServerResponse, text: string, end: boolean): void => {
  const { socket } = response;
  if (socket === null) return;
  socket.write(text);
  if (end) socket.end();
};

const misbehave: Readonly<Record<Answer, (response: ServerResponse) => void>> = {
  ok: (response) => response.writeHead(200).end('ok'),
  slow: (response) => {
    setTimeout(() => response.writeHead(200).end('ok'), 900);
  },
  error: (response) => response.writeHead(500).end('no'),
  tooMany: (response) => response.writeHead(429, { 'retry-after': '1' }).end(),
  hang: () => undefined,
  reset: (response) => {
    response.socket?.resetAndDestroy();
  },
  resetInBody: (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('some', () => response.socket?.resetAndDestroy());
  },
  redirect: (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  upgrade: (response) => {
    raw(
      response,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      false,
    );
  },
  endless: (response) => {
    response.writeHead(200);
    const more = (): void => {
      if (response.destroyed) return;
      response.write(Buffer.alloc(65_536, 'x'), () => setImmediate(more));
    };
    more();
  },
  tooShort: (response) => {
    raw(response, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', true);
  },
  tooLong: (response) => {
    raw(response, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nmuch more than that', true);
  },
  noHttp: (response) => {
    raw(response, 'SSH-2.0-OpenSSH_9.6\r\n', true);
  },
};
