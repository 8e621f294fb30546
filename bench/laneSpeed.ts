/** Measures the speed of one lane on a local stage, which runs in a separate process as a user starts it. */
import { performance } from 'node:perf_hooks';
import { startReceiver, type Receiver } from '../test/support/receiver.ts';
import { startCommand, startStage } from '../test/support/stage.ts';
import { jsonBody } from './events.ts';
import { laneCases, type LaneCase } from './laneCosts.ts';
import { median } from './figures.ts';
import { makeStageAccount, post } from './stageClient.ts';

export interface LaneSpeed {
  readonly lane: LaneCase;
  readonly messages: number;
  readonly messagesPerSecond: number;
  /** Milliseconds from the end of each delivery to the start of the next; undefined if several are in flight at once. */
  readonly gaps: { readonly medianMs: number; readonly worstMs: number } | undefined;
}

/** Even, so that the number of gaps is odd. */
const messagesAlone = 100;
const messagesSideBySide = 400;
/** Messages without a queue are due after this delay, when all are published. */
const delaySeconds = 5;

export async function measureLaneSpeed(): Promise<readonly LaneSpeed[]> {
  const stage = await startStage({ command: startCommand });
  const receiver = await startReceiver();
  try {
    const token = await makeStageAccount(stage);
    const call = async (path: string, body: object): Promise<void> => {
      const { status, text } = await post(stage.url + path, `Bearer ${token}`, JSON.stringify(body));
      if (status >= 300 || text.includes('"error"'))
        throw new Error(`${path} was answered by ${status}: ${text.slice(0, 200)}`);
    };
    const speeds: LaneSpeed[] = [];
    // Warm-up: the stage's first messages are the slowest.
    for (const lane of laneCases.filter(({ parallelism }) => parallelism >= 100)) {
      await run(lane, messagesAlone, receiver, call);
    }
    for (const lane of laneCases) {
      const messages = lane.parallelism === 1 ? messagesAlone : messagesSideBySide;
      speeds.push(await run(lane, messages, receiver, call));
    }
    return speeds;
  } finally {
    await receiver.close();
    await stage.remove();
  }
}

async function run(
  lane: LaneCase,
  messages: number,
  receiver: Receiver,
  call: (path: string, body: object) => Promise<void>,
): Promise<LaneSpeed> {
  const starts: number[] = [];
  const ends: number[] = [];
  let isLast: () => void;
  const allDelivered = new Promise<void>((resolve) => (isLast = resolve));
  const inbox = receiver.inbox((_delivery, response) => {
    starts.push(performance.now());
    response.once('finish', () => {
      ends.push(performance.now());
      if (ends.length === messages) isLast();
    });
    response.writeHead(200).end();
  });
  const { queueName, parallelism, flowControl } = lane;
  const isQueue = queueName !== undefined;
  // A queue is paused until all messages are there.
  const pause = async (paused: boolean): Promise<void> => {
    if (isQueue) await call('/v2/queues', { queueName, parallelism, paused });
  };
  await pause(true);
  const headers = {
    ...(flowControl !== undefined && {
      'Svc-Flow-Control-Key': flowControl.key,
      'Svc-Flow-Control-Value': flowControl.value,
    }),
    ...(!isQueue && { 'Svc-Delay': `${delaySeconds}s` }),
  };
  const message = {
    destination: inbox.url,
    body: jsonBody.toString(),
    headers,
    ...(isQueue && { queue: queueName }),
  };
  await call(
    '/v2/batch',
    Array.from({ length: messages }, () => message),
  );
  await pause(false);
  await allDelivered;
  const [first = 0] = starts;
  const last = ends.at(-1) ?? 0;
  const gaps = starts.slice(1).map((start, index) => start - (ends[index] ?? 0));
  return {
    lane,
    messages,
    messagesPerSecond: (1_000 * messages) / (last - first),
    gaps: parallelism === 1 ? { medianMs: median(gaps), worstMs: Math.max(...gaps) } : undefined,
  };
}
