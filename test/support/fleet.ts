import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { vi } from 'vitest';
import { queues } from '../../lambdas/aws/resources.ts';
import { handingOver } from '../../local/aws/handOver.ts';
import { startEventSource } from '../../local/lambda/eventSource.ts';
import type { StandIns } from '../../local/stage/standIns.ts';
import { declareFault, type Fate } from './faults.ts';
import { takeOverClock } from './testClock.ts';
import { startTestControl } from './testControl.ts';

/**
 * Lambda from the point of view of the functions behind the queues: each invocation has a process, with separate modules, which
 * is reused after success. A process can die: it then makes no calls and gives no answers. Time passes only when the test says
 * so.
 */
const region = 'eu-central-1';
const fed = ['short', 'long', 'slow', 'dead', 'fire', 'accountChanges'] as const;
type Fed = (typeof fed)[number];

type Client = 'dynamodb' | 'sqs';

interface Process {
  readonly handler: (event: SQSEvent) => Promise<SQSBatchResponse>;
  isDead: boolean;
  onDeath: () => void;
  event: SQSEvent | undefined;
}

const hasDied = ({ isDead }: Process): boolean => isDead;

const never = new Promise<never>(() => undefined);

/** The error of a client that cannot connect to AWS. */
class Away extends Error {
  readonly code = 'ECONNREFUSED';
}

type Refusal = (call: string, input: unknown) => boolean;

class Refused extends DynamoDBServiceException {
  constructor() {
    super({
      name: 'ValidationException',
      $fault: 'client',
      $metadata: { httpStatusCode: 400 },
      message: 'Item size has exceeded the maximum allowed size',
    });
  }
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

export async function startFleet(standIns: StandIns) {
  const { sqs, scheduler, store } = standIns;
  const processes = new Set<Process>();
  const idle = new Map<Fed, Process[]>();
  /** Services and calls that are down, each with a function to call when a call fails because of it. */
  const away = new Map<string, () => void>();
  const invocations = new Map<Fed, number>();
  /** Throttled functions, each with a function to call when an invocation fails because of it. */
  const throttled = new Map<Fed, () => void>();
  let refused: { readonly which: Refusal; readonly comes: () => void } | undefined;
  let fate: Fate | undefined;
  let deadly: { readonly call: string; readonly comes: () => void } | undefined;

  /** Makes a client's call fail if its service is down or refuses it. */
  function failAsDeclared(client: Client, call: string, input: unknown): void {
    const comes = away.get(client) ?? away.get(call);
    comes?.();
    if (comes !== undefined) throw new Away(`${client} is away.`);
    if (refused?.which(call, input) !== true) return;
    refused.comes();
    throw new Refused();
  }

  const clock = takeOverClock();
  // Pumps arrive up to a second early and wait, and workers read missing rows again after some milliseconds. Here the clock
  // jumps over these pauses.
  vi.doMock(import('../../lambdas/shared/pause.ts'), () => ({
    pause: (ms) => {
      clock.moveTo(Date.now() + ms);
      return setImmediate();
    },
    waitUntil: (dueAt) => {
      clock.moveTo(dueAt);
      return setImmediate();
    },
  }));

  /**
   * The process of the running code. The client of a call does not show it: a module that is loaded on demand
   * uses the modules and clients of the process that was started last.
   */
  const running = new AsyncLocalStorage<Process>();

  /**
   * Sets a timer that keeps its context, which simulated timers don't, and that does nothing once its process is dead: it would
   * import modules of a later test file.
   */
  const endingWithProcess =
    (set: (act: () => void, ms?: number) => unknown) =>
    (act: (...args: readonly unknown[]) => void, ms?: number, ...args: readonly unknown[]): unknown => {
      const owner = running.getStore();
      const actUnlessDead = (): void => {
        if (owner === undefined || !hasDied(owner)) act(...args);
      };
      return set(AsyncResource.bind(actUnlessDead), ms);
    };
  vi.stubGlobal('setTimeout', endingWithProcess(setTimeout));
  vi.stubGlobal('setInterval', endingWithProcess(setInterval));

  let starting: Promise<unknown> = Promise.resolve();
  /** Starts a process. Only one starts at a time, so that each has separate modules. */
  function start(name: Fed): Promise<Process> {
    const started = starting.then(async () => {
      vi.resetModules();
      const { addToClients } = await import('../../lambdas/aws/additions.ts');
      addToClients(handingOver(standIns.handOvers));
      const { handler } = (await import(`../../lambdas/handlers/${queues[name].handler}.ts`)) as Pick<
        Process,
        'handler'
      >;
      const [{ dynamodb }, { sqs }] = await Promise.all([
        import('../../lambdas/aws/dynamodb.ts'),
        import('../../lambdas/aws/sqs.ts'),
      ]);
      const process: Process = { handler, isDead: false, onDeath: () => undefined, event: undefined };
      const pass = async <T>(
        client: Client,
        call: string,
        input: unknown,
        make: () => Promise<T>,
      ): Promise<T> => {
        const caller = running.getStore();
        // The test itself is calling something that was loaded with this process.
        if (caller === undefined) return make();
        if (hasDied(caller)) return never;
        const comes = fate?.meet(call);
        if (deadly?.call === call) {
          deadly.comes();
          kill(caller);
        }
        if (comes?.('before') === true) kill(caller);
        if (hasDied(caller)) return never;
        const [result] = await Promise.allSettled([
          (async () => {
            failAsDeclared(client, call, input);
            return make();
          })(),
        ]);
        if (hasDied(caller)) return never;
        if (comes?.('after') === true) {
          kill(caller);
          return never;
        }
        if (result.status === 'rejected') throw result.reason;
        return result.value;
      };
      const options = { step: 'initialize', name: 'fleet' } as const;
      dynamodb.middlewareStack.add(
        (next, context) => (args) =>
          pass('dynamodb', context.commandName ?? '', args.input, () => next(args)),
        options,
      );
      sqs.middlewareStack.add(
        (next, context) => (args) => pass('sqs', context.commandName ?? '', args.input, () => next(args)),
        options,
      );
      processes.add(process);
      return process;
    });
    starting = started.catch(() => undefined);
    return started;
  }

  async function invoke(name: Fed, event: SQSEvent): Promise<SQSBatchResponse> {
    const comes = throttled.get(name);
    comes?.();
    if (comes !== undefined) throw new Away('Rate exceeded.');
    invocations.set(name, (invocations.get(name) ?? 0) + 1);
    const process = idle.get(name)?.pop() ?? (await start(name));
    const death = new Promise<never>((_, reject) => {
      process.onDeath = () => {
        reject(new Away('The process died.'));
      };
    });
    process.event = event;
    const result = await Promise.race([running.run(process, process.handler, event), death]);
    process.event = undefined;
    idle.set(name, [...(idle.get(name) ?? []), process]);
    return result;
  }

  function setThrottled(names: readonly Fed[], comes: (() => void) | undefined): void {
    for (const name of names) {
      if (comes === undefined) throttled.delete(name);
      else throttled.set(name, comes);
    }
  }

  function kill(process: Process): void {
    process.isDead = true;
    processes.delete(process);
    for (const [name, some] of idle)
      idle.set(
        name,
        some.filter((one) => one !== process),
      );
    process.onDeath();
  }

  const report = (error: unknown): void => {
    if (!(error instanceof Away)) throw error;
  };
  const control = await startTestControl({
    ...{ clock, queues: sqs.queues, scheduler, fedQueues: fed, report },
    expireNow: () => Promise.resolve(0),
    written: () => store.committed(),
  });
  const sources = fed.map((name) =>
    startEventSource({
      queues: sqs.queues,
      queue: name,
      region,
      batchSize: queues[name].batchSize,
      function: { name, invoke: (event) => invoke(name, event as SQSEvent) },
      report,
      onLeft: control.leave,
    }),
  );

  return {
    /** Makes services (`dynamodb`) or calls (`PutItemCommand`) fail. The test fails if none of them failed. */
    takeAway: (...names: readonly string[]): void => {
      for (const name of names) away.set(name, declareFault(`${name} is away`));
    },
    bringBack: (): void => {
      away.clear();
    },
    /**
     * Makes calls fail with DynamoDB's error for a request that can never succeed. The test fails if no call did.
     *
     * @param which undefined to accept all calls again
     */
    refuse: (which: Refusal | undefined): void => {
      refused = which && { which, comes: declareFault('DynamoDB refuses a call') };
    },
    /** Lets Lambda receive messages without capacity for invocations. The test fails if none was received. */
    throttle: (is: boolean): void => {
      const comes = is ? declareFault('Lambda has no capacity') : undefined;
      setThrottled(fed, comes);
    },
    /** Pauses deliveries to workers. This is not a fault, so it need not have an effect. */
    hold: (is: boolean, names: readonly Fed[] = fed): void => {
      setThrottled(names, is ? () => undefined : undefined);
    },
    /** Kills the process that works on a message. */
    killWorkerOf: (text: string): void => {
      for (const process of processes) {
        if (process.event?.Records.some(({ body }) => body.includes(text)) === true) kill(process);
      }
    },
    /** Kills each process that is about to make a call. The test fails if no process is killed. */
    killAt: (call: string | undefined): void => {
      deadly =
        call === undefined ? undefined : { call, comes: declareFault(`a process dies before ${call}`) };
    },
    /** Gives all processes one fate until the next: the process that makes the call dies. */
    setFate: (next: Fate | undefined): void => {
      fate = next;
    },
    invocationsOf: (name: Fed): number => invocations.get(name) ?? 0,
    advance: async (ms: number): Promise<void> => {
      const body = JSON.stringify({ advanceMs: ms });
      const response = await fetch(`${control.url}/test/clock`, { method: 'POST', body });
      if (response.status !== 200) throw new Error(await response.text());
    },
    /** Moves the clock forward without waiting for jobs, such as a delivery that the test holds. */
    jump: (ms: number): void => {
      clock.moveTo(Date.now() + ms);
    },
    close: async (): Promise<void> => {
      await Promise.all(sources.map((source) => source.stop(AbortSignal.abort())));
      for (const process of processes) process.isDead = true;
      vi.unstubAllGlobals();
      await control.close();
      vi.doUnmock('../../lambdas/shared/pause.ts');
      clock.release();
      // An enabled context slows down all promises of the thread (up to Node.js 22): a hundred of them make promises 90 times
      // slower.
      running.disable();
    },
  };
}
