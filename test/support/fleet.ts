import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';
import { queues } from '../../lambdas/resources.ts';
import { startEventSource } from '../../local/lambda/eventSource.ts';
import type { StandIns } from '../../local/stage/standIns.ts';
import { takeOverClock } from '../../local/stage/testClock.ts';
import { startTestControl } from '../../local/stage/testControl.ts';
import type { Fate } from './world.ts';

/**
 * Lambda, as the functions behind the queues see it: each invocation has a process to itself, which has modules of its own and
 * is used again when the invocation has ended well. A process can die: from then on none of its calls is made, and it
 * answers nothing. Time passes when the test says so.
 */
const region = 'eu-central-1';
const fed = ['short', 'long', 'dead', 'fire', 'accountChanges'] as const;
type Fed = (typeof fed)[number];

type Client = 'dynamodb' | 'sqs';

interface Process {
  readonly handler: (event: SQSEvent) => Promise<SQSBatchResponse>;
  isDead: boolean;
  /** Ends the invocation that the process works on. */
  onDeath: () => void;
  /** The messages of that invocation. */
  event: SQSEvent | undefined;
}

const hasDied = ({ isDead }: Process): boolean => isDead;

const never = new Promise<never>(() => undefined);

/** The error of a client that cannot connect to AWS. */
export class Away extends Error {
  readonly code = 'ECONNREFUSED';
}

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
  const { sqs, scheduler } = standIns;
  const processes = new Set<Process>();
  const idle = new Map<Fed, Process[]>();
  const away = new Set<string>();
  const invocations = new Map<Fed, number>();
  let calls = 0;
  const throttled = new Set<Fed>();
  let isRefused: (call: string, input: unknown) => boolean = () => false;
  let onCall: (call: string, process: Process, when: Fate['when']) => void = () => undefined;

  /** Whether a call of a client fails because what it calls is away. */
  const fails = (client: Client, call: string): boolean => away.has(client) || away.has(call);

  const clock = takeOverClock();
  // A pump comes up to a second early, and waits for the rest: here the clock jumps, as it does between what is due.
  vi.doMock(import('../../lambdas/services/lane/waitUntil.ts'), () => ({
    waitUntil: (dueAt) => {
      clock.moveTo(dueAt);
      return Promise.resolve();
    },
  }));

  /**
   * The process that the code which runs belongs to. The client that a call goes through does not tell: a module that is loaded
   * when it is first needed comes with the modules of the process that was started last, and so with its clients.
   */
  const running = new AsyncLocalStorage<Process>();

  let starting: Promise<unknown> = Promise.resolve();
  /** Starts a process: only one at a time, so that each has its own modules. */
  function start(name: Fed): Promise<Process> {
    const started = starting.then(async () => {
      vi.resetModules();
      const { handler } = (await import(`../../lambdas/handlers/${queues[name].handler}.ts`)) as Pick<
        Process,
        'handler'
      >;
      const [{ dynamodb }, { sqs }] = await Promise.all([
        import('../../lambdas/stores/dynamodb.ts'),
        import('../../lambdas/transport/sqs.ts'),
      ]);
      const process: Process = { handler, isDead: false, onDeath: () => undefined, event: undefined };
      const pass = async <T>(
        client: Client,
        call: string,
        input: unknown,
        make: () => Promise<T>,
      ): Promise<T> => {
        const caller = running.getStore() ?? process;
        calls += 1;
        onCall(call, caller, 'before');
        if (hasDied(caller)) return never;
        if (fails(client, call)) throw new Away(`${client} is away.`);
        if (isRefused(call, input)) throw new Refused();
        const result = await make();
        onCall(call, caller, 'after');
        return hasDied(caller) ? never : result;
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
    if (throttled.has(name)) throw new Away('Rate exceeded.');
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

  function kill(process: Process): void {
    process.isDead = true;
    processes.delete(process);
    process.onDeath();
  }

  const report = (error: unknown): void => {
    if (!(error instanceof Away)) throw error;
  };
  const control = await startTestControl({ clock, queues: sqs.queues, scheduler, fedQueues: fed, report });
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
    /** Lets services, or calls, fail: `dynamodb`, or `PutItemCommand`. */
    takeAway: (...names: readonly string[]): void => {
      for (const name of names) away.add(name);
    },
    bringBack: (): void => {
      away.clear();
    },
    /** Lets calls fail with an error that DynamoDB gives for a request which it will never accept. */
    refuse: (which: typeof isRefused): void => {
      isRefused = which;
    },
    /** Lets Lambda receive messages without the room to invoke a function for them. */
    throttle: (is: boolean, names: readonly Fed[] = fed): void => {
      for (const name of names) {
        if (is) throttled.add(name);
        else throttled.delete(name);
      }
    },
    /** Kills the process that works on a message. */
    killWorkerOf: (text: string): void => {
      for (const process of processes) {
        if (process.event?.Records.some(({ body }) => body.includes(text)) === true) kill(process);
      }
    },
    /** Kills a process that is about to make a call. */
    killAt: (call: string | undefined): void => {
      onCall = (made, process) => {
        if (made === call && !process.isDead) kill(process);
      };
    },
    /** Kills the process that makes a call, the first being 1, before it is made or before its answer is seen: once. */
    killOnce: (fate: Fate): void => {
      let calls = 0;
      onCall = (_call, process, when) => {
        if (when === 'before') calls += 1;
        if (calls === fate.call && when === fate.when && !process.isDead) kill(process);
      };
    },
    /** The AWS calls that all processes have made. */
    calls: (): number => calls,
    invocationsOf: (name: Fed): number => invocations.get(name) ?? 0,
    advance: async (ms: number): Promise<void> => {
      const body = JSON.stringify({ advanceMs: ms });
      const response = await fetch(`${control.url}/test/clock`, { method: 'POST', body });
      if (response.status !== 200) throw new Error(await response.text());
    },
    /** Sets the clock forward, and waits for no work: not for a delivery that the test holds, either. */
    jump: (ms: number): void => {
      clock.moveTo(Date.now() + ms);
    },
    close: async (): Promise<void> => {
      await Promise.all(sources.map((source) => source.stop(AbortSignal.abort())));
      await control.close();
      vi.doUnmock('../../lambdas/services/lane/waitUntil.ts');
      clock.release();
    },
  };
}
