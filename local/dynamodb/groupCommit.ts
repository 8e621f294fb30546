/**
 * Group commit for dynoxide. It makes one commit after the other, and waits for the disk at each: some hundred writes in a
 * second. So the writes that arrive during a commit are made in one transaction, which is one commit. Each is answered when it is
 * on the disk, as before, and each stays a write of its own: when some make a transaction fail, the others are made without them.
 *
 * A commit costs as much as a dozen of its rows. So it begins when the event loop has handled all that was ready, and those
 * writes that can wait begin none: they go with the next one that is not, or after a few milliseconds.
 */
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import type { Answer, Call, Send, SendForClient } from './connection.ts';
import { isWrite, joinableWrite, partitionsRead, type JoinableWrite } from './writes.ts';

/** "Actions in a transaction" of DynamoDB's quotas. */
const mostActions = 100;
/** Characters of the actions together. DynamoDB takes 4 MB; so large a transaction would delay all writes that come after it. */
const mostCharacters = 1_000_000;
/** The longest time for which a write that can wait is held back, ms. */
const longestHoldMs = 5;

/** A write that is not answered yet. */
class OpenWrite {
  /** Undefined for a write that is made alone. */
  readonly joinable: JoinableWrite | undefined;
  readonly answer: Promise<Answer>;
  readonly #call: Call;
  #answerWith: (answer: Answer | Promise<Answer>) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(joinable: JoinableWrite | undefined, call: Call) {
    this.joinable = joinable;
    this.#call = call;
    this.answer = new Promise((resolve, reject) => {
      this.#answerWith = resolve;
      this.#fail = reject;
    });
  }

  /** Resolves when the write is answered, even with an error. */
  async end(): Promise<void> {
    await Promise.allSettled([this.answer]);
  }

  /** Answers a write that was made. No other may be made until this has returned: some ask for the row as they have left it. */
  async isMade(send: Send): Promise<void> {
    if (this.joinable === undefined) return;
    const { answer } = this.joinable;
    if (typeof answer === 'string') this.#answerWith({ status: 200, body: Buffer.from(answer) });
    else this.#answerWith(rowAfter(answer.get, send));
    await this.end();
  }

  fail(error: unknown): void {
    this.#fail(error);
  }

  /** Sends the write by itself, unchanged. */
  async sendAlone(send: Send): Promise<void> {
    this.#answerWith(send(this.#call));
    await this.end();
  }
}

/** Makes a sender for all calls. A write that cannot be joined with others is sent unchanged, in its turn. */
export function groupCommit(send: Send, holdMs = longestHoldMs): SendForClient {
  const open = new Set<OpenWrite>();
  let waiting: readonly OpenWrite[] = [];
  let isCommitting = false;
  /** Whether a commit is to begin for those that wait. */
  let isDue = false;
  let timer: NodeJS.Timeout | undefined;

  function commitSoon(): void {
    isDue = true;
    if (!isCommitting) void commitWaiting();
  }

  async function commitWaiting(): Promise<void> {
    isCommitting = true;
    while (isDue) {
      await setImmediate();
      clearTimeout(timer);
      timer = undefined;
      const { group, others } = nextGroup(waiting);
      waiting = others;
      isDue = others.length > 0;
      const left = await commit(group, send);
      waiting = [...left, ...waiting];
      isDue ||= left.length > 0;
    }
    isCommitting = false;
  }

  return async (call) => {
    if (!isWrite(call)) {
      const before = writesBefore(open, partitionsRead(call));
      if (before.length > 0) {
        commitSoon();
        await Promise.all(before.map((write) => write.end()));
      }
      return send(call);
    }
    const joinable = joinableWrite(call);
    const write = new OpenWrite(joinable, call);
    open.add(write);
    waiting = [...waiting, write];
    if (joinable?.canWait === true) timer ??= setTimeout(commitSoon, holdMs);
    else commitSoon();
    try {
      return await write.answer;
    } finally {
      open.delete(write);
    }
  };
}

/**
 * The earlier writes to these partitions. A worker reads the row that is written beside its job, often a moment too early: when it
 * waits for them it finds the row, and need not read again after a pause.
 */
const writesBefore = (open: ReadonlySet<OpenWrite>, partitions: readonly string[]): readonly OpenWrite[] =>
  partitions.length === 0
    ? []
    : [...open].filter(({ joinable }) => joinable?.partitions.some((name) => partitions.includes(name)));

/** Takes the oldest writes, as many as a transaction may have, each item once. */
function nextGroup(waiting: readonly OpenWrite[]): {
  readonly group: readonly OpenWrite[];
  readonly others: readonly OpenWrite[];
} {
  const group: OpenWrite[] = [];
  const others: OpenWrite[] = [];
  const items = new Set<string>();
  let actions = 0;
  let characters = 0;
  for (const write of waiting) {
    const { joinable } = write;
    if (joinable === undefined) {
      if (group.length === 0) return { group: [write], others: waiting.filter((other) => other !== write) };
      others.push(write);
      continue;
    }
    const length = joinable.actions.reduce((sum, action) => sum + action.length, 0);
    const fits =
      actions + joinable.actions.length <= mostActions &&
      characters + length <= mostCharacters &&
      !joinable.items.some((item) => items.has(item));
    if (group.length > 0 && !fits) {
      others.push(write);
      continue;
    }
    group.push(write);
    actions += joinable.actions.length;
    characters += length;
    for (const item of joinable.items) items.add(item);
  }
  return { group, others };
}

/** @returns the writes that were not made because others of the group were refused */
async function commit(group: readonly OpenWrite[], send: Send): Promise<readonly OpenWrite[]> {
  const [first, ...more] = group;
  if (first === undefined) return [];
  if (more.length === 0) {
    await first.sendAlone(send);
    return [];
  }
  try {
    const { status, body } = await send(transactionOf(group));
    if (status === 200) {
      await Promise.all(group.map((write) => write.isMade(send)));
      return [];
    }
    // A client reads why its write was refused in the words for that write alone.
    const refused = refusedIn(group, Buffer.from(body).toString());
    await Promise.all(refused.map((write) => write.sendAlone(send)));
    return group.filter((write) => !refused.includes(write));
  } catch (error) {
    // The outcome is unknown: each caller gets the error, as when the answer to its write is lost.
    for (const write of group) write.fail(error);
    return [];
  }
}

function transactionOf(group: readonly OpenWrite[]): Call {
  const actions = group.flatMap(({ joinable }) => joinable?.actions ?? []);
  return { operation: 'TransactWriteItems', body: `{"TransactItems":[${actions.join(',')}]}` };
}

/** The answer of a write that asks for the row as it has left it. */
async function rowAfter(get: string, send: Send): Promise<Answer> {
  const { status, body } = await send({ operation: 'GetItem', body: get });
  if (status !== 200) return { status, body };
  const { Item } = found.parse(jsonOrUndefined(Buffer.from(body).toString()));
  return { status, body: Buffer.from(JSON.stringify({ Attributes: Item })) };
}

const found = z.object({ Item: z.unknown() });
const cancelled = z.object({ CancellationReasons: z.array(z.object({ Code: z.string() })) });

/** The writes that a transaction was refused for; all of them when it does not name any. */
function refusedIn(group: readonly OpenWrite[], answer: string): readonly OpenWrite[] {
  const { data } = cancelled.safeParse(jsonOrUndefined(answer));
  if (data === undefined) return group;
  const codes = data.CancellationReasons.map(({ Code }) => Code);
  const refused = group.filter(({ joinable }) =>
    codes.splice(0, joinable?.actions.length).some((code) => code !== 'None'),
  );
  return refused.length > 0 ? refused : group;
}
