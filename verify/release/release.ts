/** `svc-queue verify --release`: an upgrade and a rollback, while messages are published and delivered. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { shortTimeoutMs } from '../../lambdas/aws/resources.ts';
import { type Check, expectThat, Shortfall } from '../check.ts';
import { publish, statesOf } from '../after/api.ts';
import type { After } from '../after/context.ts';
import type { Received } from '../after/receiver/received.ts';
import { until } from '../wait.ts';

export interface Release {
  /** The operator's commands in order: the upgrade, and the rollback, if any. */
  readonly commands: readonly string[];
}

/** The pause between messages, so that there are messages in each state. An emulator can handle fewer. */
const paceMs = { onAws: 250, onEmulator: 2_000 };

/** Traffic before the first command and after each, so that old and new functions get messages. */
const calmMs = 20_000;

/** Some messages are delayed, so that they wait during a deployment. */
const delays = ['0s', '10s', '60s'];

/** Every second message takes the queue `long`, which may be on managed instances. */
const timeouts = [shortTimeoutMs, 2 * shortTimeoutMs].map((ms) => `${ms / 1_000}s`);

/** Every fifth message fails at first, so that another release may make its retry. */
const failing = 5;

/** The largest share of messages that may be delivered twice, by SQS or by a stopping worker. */
const mostTwice = 0.01;

/** The largest share of requests that may be refused during the deployment. Clients retry them. */
const mostRefused = 0.02;

interface Traffic {
  /** The ids of accepted messages; true if the first attempt must fail. */
  readonly accepted: ReadonlyMap<string, boolean>;
  readonly refused: readonly string[];
}

export const missingOf = ({ accepted }: Traffic, received: readonly Received[]): readonly string[] => {
  const arrived = new Set(
    received
      .filter(({ messageId, retried }) => accepted.get(messageId) !== true || retried > 0)
      .map(({ messageId }) => messageId),
  );
  return [...accepted.keys()].filter((id) => !arrived.has(id));
};

export function judgeTraffic({ accepted, refused }: Traffic, received: readonly Received[]): string {
  const attempts = new Map<string, number>();
  for (const { messageId, retried } of received) {
    const attempt = `${messageId}~${retried}`;
    attempts.set(attempt, (attempts.get(attempt) ?? 0) + 1);
  }
  const twice = [...attempts.values()].filter((count) => count > 1).length;
  expectThat(
    twice <= mostTwice * accepted.size,
    `${twice} attempts were made twice, with ${accepted.size} messages.`,
  );
  expectThat(
    refused.length <= mostRefused * (accepted.size + refused.length),
    `${refused.length} of ${accepted.size + refused.length} requests were refused: ${String(refused[0])}.`,
  );
  return `${accepted.size} messages were accepted and all arrived, ${twice} attempts came twice, ${refused.length} requests were refused`;
}

function keepPublishing(
  { api: { client }, timeout: { signal }, isEmulator }: After,
  okUrl: string,
  failUrl: string,
) {
  const accepted = new Map<string, boolean>();
  const refused: string[] = [];
  const stopping = new AbortController();
  const running = (async () => {
    for (let number = 0; !stopping.signal.aborted && !signal.aborted; number += 1) {
      const fails = number % failing === 0;
      try {
        const messageId = await publish(client, fails ? failUrl : okUrl, {
          body: `message ${number}`,
          headers: {
            'svc-delay': delays[number % delays.length] ?? '0s',
            'svc-timeout': timeouts[number % timeouts.length] ?? '',
            'svc-retries': '3',
            'svc-retry-delay': '5000',
          },
        });
        accepted.set(messageId, fails);
      } catch (error) {
        // A refused request published nothing, and its client knows that.
        refused.push(error instanceof Error ? error.message : String(error));
      }
      await sleep(isEmulator ? paceMs.onEmulator : paceMs.onAws);
    }
  })();
  const stop = async (): Promise<Traffic> => {
    stopping.abort();
    await running;
    return { accepted, refused };
  };
  return { stop };
}

/** Runs an operator's command. Its output goes to stderr. */
function runCommandLine(command: string, signal: AbortSignal): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', process.stderr, process.stderr], signal });
    child.once('error', failed);
    child.once('close', (status) => {
      if (status === 0) done();
      else failed(new Shortfall(`The command "${command}" ended with ${String(status)}.`));
    });
  });
}

/** Runs the commands once for all regions, when each has traffic. */
export function openCommands({ commands }: Release, regions: number, say: (sentence: string) => void) {
  let ready = 0;
  let start: () => void = () => undefined;
  const allReady = new Promise<void>((resolve) => {
    start = resolve;
  });
  let all: Promise<void> | undefined;
  const runAll = async (signal: AbortSignal): Promise<void> => {
    await allReady;
    await sleep(calmMs, undefined, { signal });
    for (const command of commands) {
      say(`running ${command}`);
      await runCommandLine(command, signal);
      await sleep(calmMs, undefined, { signal });
    }
  };
  return (signal: AbortSignal): Promise<void> => {
    ready += 1;
    if (ready === regions) start();
    return (all ??= runAll(signal));
  };
}

const mostAsked = 20;

/** Finds undelivered messages. The receiver's log may lack lines, so the service is asked about messages that are not in it. */
async function undelivered(
  { api: { client } }: After,
  traffic: Traffic,
  received: readonly Received[],
): Promise<readonly string[]> {
  const missing = missingOf(traffic, received);
  if (missing.length > mostAsked) return missing;
  const open: string[] = [];
  for (const id of missing) {
    const states = await statesOf(client, id);
    if (!states.includes('DELIVERED')) open.push(`${id} (${states.join(', ')})`);
  }
  return open;
}

/**
 * The last messages may take this many times `--wait`: longer than the longest delay plus a retry, by
 * default.
 */
const waits = 3;

export const releaseCheck = (runCommands: (signal: AbortSignal) => Promise<void>): Check<After> => ({
  name: 'release',
  shows: 'an upgrade and a way back lose no message, and repeat next to none',
  remedy:
    'Look for the lost messages in GET /v2/logs, and at the logs of the functions and the alarms of the time: docs/operate.md. Where requests were refused, the API or publish was away for a while.',
  run: async (after) => {
    const [ok, fail] = [after.inbox('ok'), after.inbox('fail-first')];
    const traffic = keepPublishing(after, ok.url, fail.url);
    let sent: Traffic;
    try {
      await runCommands(after.timeout.signal);
    } finally {
      sent = await traffic.stop();
    }
    const received = async (): Promise<readonly Received[]> => [
      ...(await ok.received(0)),
      ...(await fail.received(0)),
    ];
    let last: readonly Received[] = [];
    let lost: readonly string[] = [];
    await until(
      async () => {
        last = await received();
        lost = await undelivered(after, sent, last);
        return lost.length === 0;
      },
      () =>
        `${lost.length} of ${sent.accepted.size} accepted messages did not arrive: ${lost.slice(0, 3).join('; ')}.`,
      { ...after.timeout, everyMs: 3_000, waitMs: waits * after.timeout.waitMs },
    );
    return judgeTraffic(sent, last);
  },
});
