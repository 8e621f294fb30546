/**
 * The queues themselves: standard SQS queues with message timers, visibility timeouts, receive counts, long
 * polls and dead queues, exact to the millisecond. Fairness between message groups is not imitated.
 */
import { randomUUID } from 'node:crypto';
import type { AppendOnly } from './appendOnly.ts';
import { Heap, type Placed } from './heap.ts';
import type { Entry, Journal, StoredMessage } from './journal.ts';

export interface QueueShape {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  /** Where a message goes that was received so often without being deleted. */
  readonly redrive?: { readonly deadQueue: string; readonly maxReceives: number };
}

/** A message and when it can next be received: its timer or its visibility timeout ends then. */
interface Message extends Placed, StoredMessage {
  inFlight: boolean;
}

/** A receive that waits for messages. */
interface Poll {
  readonly max: number;
  readonly visibilityTimeoutMs: number;
  readonly deliver: (received: Received[]) => void;
}

interface Queue {
  readonly shape: QueueShape;
  readonly byAvailability: Heap<Message>;
  readonly polls: Set<Poll>;
  alarm: NodeJS.Timeout | undefined;
}

export interface Outgoing {
  readonly body: string;
  readonly delayMs: number;
  readonly groupId: string | undefined;
}

/** A message as one receive saw it. */
export type Received = StoredMessage & { readonly receipt: string };

export interface ReceiveOptions {
  readonly max: number;
  /** How long to wait for a first message. */
  readonly waitMs: number;
  /** The queue's own when absent. */
  readonly visibilityTimeoutMs?: number | undefined;
  /** Ends the wait: whoever asked has gone. */
  readonly signal: AbortSignal;
}

export interface Counts {
  readonly visible: number;
  readonly delayed: number;
  readonly inFlight: number;
}

export type ReceiptState = 'in flight' | 'not in flight' | 'gone';

export class Queues {
  readonly #queues = new Map<string, Queue>();
  readonly #messages = new Map<string, { readonly queue: Queue; readonly message: Message }>();
  readonly #journal: AppendOnly<Entry>;
  readonly #now: () => number;

  /** @param now the clock, epoch milliseconds; call `wake` after it has jumped */
  constructor(shapes: readonly QueueShape[], journal: Journal, now: () => number) {
    this.#journal = journal.file;
    this.#now = now;
    for (const shape of shapes) {
      const byAvailability = new Heap<Message>((a, b) => a.availableAt < b.availableAt);
      this.#queues.set(shape.name, { shape, byAvailability, polls: new Set(), alarm: undefined });
    }
    for (const { queue, message } of journal.kept.values()) this.#insert(this.#queue(queue), message);
  }

  has(name: string): boolean {
    return this.#queues.has(name);
  }

  shape(name: string): QueueShape {
    return this.#queue(name).shape;
  }

  /** Keeps the messages, and only then returns; their ids are in the same order. */
  send(name: string, outgoing: readonly Outgoing[]): string[] {
    const queue = this.#queue(name);
    const sentAt = this.#now();
    const messages = outgoing.map(({ body, delayMs, groupId }) => ({
      id: randomUUID(),
      body,
      ...(groupId !== undefined && { groupId }),
      sentAt,
      availableAt: sentAt + delayMs,
      receives: 0,
    }));
    this.#journal.append(messages.map((message) => ({ op: 'keep', queue: name, message })));
    for (const message of messages) this.#insert(queue, message);
    this.#compact();
    this.#serve(queue);
    return messages.map((message) => message.id);
  }

  /** Takes up to `max` messages, and waits for a first one when there is none; empty when the wait has ended. */
  async receive(
    name: string,
    { max, waitMs, visibilityTimeoutMs, signal }: ReceiveOptions,
  ): Promise<Received[]> {
    const queue = this.#queue(name);
    const forMs = visibilityTimeoutMs ?? queue.shape.visibilityTimeoutMs;
    const received = this.#take(queue, max, forMs);
    if (received.length > 0 || waitMs === 0 || signal.aborted) return received;
    return new Promise((resolve) => {
      const end = (messages: Received[]): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', onTimeout);
        queue.polls.delete(poll);
        resolve(messages);
      };
      const onTimeout = (): void => {
        end([]);
      };
      const timeout = setTimeout(onTimeout, waitMs);
      const poll: Poll = { max, visibilityTimeoutMs: forMs, deliver: end };
      signal.addEventListener('abort', onTimeout);
      queue.polls.add(poll);
      this.#serve(queue);
    });
  }

  /** Deletes the messages whose latest receipt this is; an older or unknown one changes nothing, as in SQS. */
  delete(receipts: readonly string[]): void {
    const found = receipts.map((receipt) => this.#byReceipt(receipt)).filter((item) => item !== undefined);
    if (found.length === 0) return;
    this.#journal.append([{ op: 'delete', ids: found.map(({ message }) => message.id) }]);
    for (const { queue, message } of found) {
      if (!this.#messages.delete(message.id)) continue;
      queue.byAvailability.remove(message);
    }
    this.#compact();
  }

  receiptState(receipt: string): ReceiptState {
    const found = this.#byReceipt(receipt);
    if (found === undefined) return 'gone';
    return found.message.inFlight && found.message.availableAt > this.#now() ? 'in flight' : 'not in flight';
  }

  /** Makes a message in flight visible so much later than now. Forgotten on a restart, like every visibility timeout. */
  changeVisibility(receipt: string, timeoutMs: number): void {
    const found = this.#byReceipt(receipt);
    if (found === undefined) return;
    found.message.availableAt = this.#now() + timeoutMs;
    found.queue.byAvailability.reorder(found.message);
    this.#serve(found.queue);
  }

  purge(name: string): void {
    const queue = this.#queue(name);
    this.#journal.append([{ op: 'purge', queue: name }]);
    for (
      let message = queue.byAvailability.first;
      message !== undefined;
      message = queue.byAvailability.first
    ) {
      queue.byAvailability.remove(message);
      this.#messages.delete(message.id);
    }
  }

  counts(name: string): Counts {
    const queue = this.#queue(name);
    const now = this.#now();
    const counts = { visible: 0, delayed: 0, inFlight: 0 };
    for (const item of this.#messages.values()) {
      if (item.queue !== queue) continue;
      if (item.message.availableAt <= now) counts.visible += 1;
      else if (item.message.inFlight) counts.inFlight += 1;
      else counts.delayed += 1;
    }
    return counts;
  }

  /** What happens next by itself: the end of the first timer or visibility timeout, in epoch milliseconds. */
  nextDue(name: string): number | undefined {
    const availableAt = this.#queue(name).byAvailability.first?.availableAt;
    return availableAt !== undefined && availableAt > this.#now() ? availableAt : undefined;
  }

  /** Names each message that could be received or is in flight, anew with every receive. */
  unsettled(name: string): string[] {
    const queue = this.#queue(name);
    const now = this.#now();
    return [...this.#messages.values()]
      .filter((item) => item.queue === queue)
      .filter(({ message }) => message.inFlight || message.availableAt <= now)
      .map(({ message }) => `${message.id} ${message.receives}`);
  }

  /** Looks at the clock again. */
  wake(): void {
    for (const queue of this.#queues.values()) this.#serve(queue);
  }

  /** Ends all waits and closes the journal. */
  close(): void {
    for (const queue of this.#queues.values()) {
      clearTimeout(queue.alarm);
      for (const poll of queue.polls) poll.deliver([]);
    }
    this.#journal.close();
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }

  #insert(queue: Queue, stored: StoredMessage): void {
    const message: Message = { ...stored, place: -1, inFlight: false };
    this.#messages.set(message.id, { queue, message });
    queue.byAvailability.add(message);
  }

  /** Gives what can be received to those who wait for it, oldest wait first, and sets the alarm for the rest. */
  #serve(queue: Queue): void {
    clearTimeout(queue.alarm);
    for (const poll of queue.polls) {
      const received = this.#take(queue, poll.max, poll.visibilityTimeoutMs);
      if (received.length === 0) break;
      poll.deliver(received);
    }
    const next = queue.byAvailability.first;
    if (next === undefined || queue.polls.size === 0) return;
    const serve = (): void => {
      this.#serve(queue);
    };
    queue.alarm = setTimeout(serve, Math.max(1, next.availableAt - this.#now()));
  }

  #take(queue: Queue, max: number, visibilityTimeoutMs: number): Received[] {
    const now = this.#now();
    const taken: Received[] = [];
    while (taken.length < max) {
      const message = queue.byAvailability.first;
      if (message === undefined || message.availableAt > now) break;
      if (this.#giveUp(queue, message, now)) continue;
      this.#journal.append([{ op: 'receive', id: message.id, at: now }]);
      message.receives += 1;
      message.firstReceivedAt ??= now;
      message.inFlight = true;
      message.availableAt = now + visibilityTimeoutMs;
      queue.byAvailability.reorder(message);
      taken.push({ ...message, receipt: receiptOf(message) });
      // With no visibility timeout the same message would be first again.
      if (visibilityTimeoutMs === 0) break;
    }
    return taken;
  }

  /** Moves a message that has been received too often to the dead queue. */
  #giveUp(queue: Queue, message: Message, now: number): boolean {
    const { redrive } = queue.shape;
    if (redrive === undefined || message.receives < redrive.maxReceives) return false;
    const deadQueue = this.#queue(redrive.deadQueue);
    this.#journal.append([{ op: 'move', id: message.id, queue: redrive.deadQueue, at: now }]);
    queue.byAvailability.remove(message);
    this.#insert(deadQueue, { ...message, availableAt: now, deadLetterSource: queue.shape.name });
    this.#serve(deadQueue);
    return true;
  }

  #byReceipt(receipt: string): { readonly queue: Queue; readonly message: Message } | undefined {
    const { id, receives } = readReceipt(receipt);
    const found = this.#messages.get(id);
    return found?.message.receives === receives ? found : undefined;
  }

  /** To be called only where memory and journal say the same. */
  #compact(): void {
    if (this.#journal.isLong(this.#messages.size)) this.#journal.rewrite(this.#snapshot());
  }

  *#snapshot(): Generator<Entry> {
    for (const { queue, message } of this.#messages.values()) {
      const { id, body, groupId, sentAt, receives, firstReceivedAt, deadLetterSource } = message;
      // What is in flight is visible at once after a start.
      const availableAt = message.inFlight ? sentAt : message.availableAt;
      const stored = { id, body, groupId, sentAt, availableAt, receives, firstReceivedAt, deadLetterSource };
      yield { op: 'keep', queue: queue.shape.name, message: stored };
    }
  }
}

/** A receipt names the message and which of its receives this was. */
function receiptOf(message: Message): string {
  return Buffer.from(`${message.id} ${message.receives}`).toString('base64url');
}

/** Whether the text has the form of a receipt. */
export function isReceipt(text: string): boolean {
  const { id, receives } = readReceipt(text);
  return id.length === 36 && Number.isInteger(receives);
}

function readReceipt(receipt: string): { id: string; receives: number } {
  const [id = '', receives] = Buffer.from(receipt, 'base64url').toString('utf8').split(' ');
  return { id, receives: Number(receives) };
}
