/**
 * Standard SQS queues with delays, visibility timeouts, receive counts, long polls, retention and dead letter
 * queues, exact to the millisecond. Fair queues are not imitated.
 *
 * The states of a message, in order:
 * - delayed until `availableAt`;
 * - visible: a receive takes the message that has been visible longest;
 * - in flight until `availableAt`, its visibility timeout, and then visible again;
 * - deleted; or moved to the dead letter queue after too many receives; or expired.
 *
 * Messages survive the process. Those in flight become visible at the next start. Receive counts survive, too. A message's first receive by the process that sent it is not written, to save a write. So the next start counts one for each visible message.
 *
 * Each process has its own messages. When it has ended, another takes them over.
 */
import { randomUUID } from 'node:crypto';
import { Heap, type Placed } from '../heap.ts';
import type { Store, Write } from '../store/store.ts';
import type { Outgoing } from './inputs.ts';
import type { Receipt } from './receipt.ts';
import { keepMessage, messageKey, storedMessages, type Owner, type StoredMessage } from './storedMessages.ts';

export interface QueueShape {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  /** How long messages are kept after they were sent, also in a dead letter queue. Default: forever. */
  readonly retentionMs?: number;
  /** After `maxReceives` receives, the next one moves a message to `deadQueue`. */
  readonly redrive?: { readonly deadQueue: string; readonly maxReceives: number };
}

interface Message extends Placed, StoredMessage {
  readonly owner: Owner;
  /** Whether this process has received the message. If so, it is in flight; otherwise it is delayed. */
  wasReceived: boolean;
  /** Whether receives are written. The first one is not, if this process sent the message. */
  isOld: boolean;
}

interface LongPoll {
  readonly max: number;
  readonly visibilityTimeoutMs: number;
  readonly deliver: (received: Received[]) => void;
}

interface Queue {
  readonly shape: QueueShape;
  readonly byAvailability: Heap<Message>;
  readonly longPolls: Set<LongPoll>;
  /** A timer for the earliest `availableAt`, set while a poll waits. */
  alarm: NodeJS.Timeout | undefined;
}

export type Received = StoredMessage & { readonly receipt: Receipt; readonly isKept: boolean };

interface ReceiveOptions {
  readonly max: number;
  /** How long to wait for the first message. */
  readonly waitMs: number;
  readonly visibilityTimeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface Unsettled {
  readonly id: string;
  readonly receives: number;
  readonly inFlight: boolean;
}

export class Queues {
  readonly #queues = new Map<string, Queue>();
  readonly #messages = new Map<string, { readonly queue: Queue; readonly message: Message }>();
  readonly #store: Store;
  readonly #now: () => number;
  readonly #owner: Owner;

  constructor(shapes: readonly QueueShape[], store: Store, now: () => number, owner: Owner = 0) {
    this.#store = store;
    this.#now = now;
    this.#owner = owner;
    for (const shape of shapes) {
      const byAvailability = new Heap<Message>((a, b) => a.availableAt < b.availableAt);
      this.#queues.set(shape.name, { shape, byAvailability, longPolls: new Set(), alarm: undefined });
    }
    this.adopt(owner);
  }

  adopt(owner: Owner): void {
    const now = this.#now();
    for (const { queue, ...message } of storedMessages(this.#store, undefined, owner)) {
      // After the clock has stepped back, the rest of a delay is unknown. So it begins again.
      const backMs = Math.max(0, message.sentAt - now);
      const availableAt = message.availableAt - backMs;
      const receives = Math.max(message.receives, availableAt <= now ? 1 : 0);
      const adopted = { ...message, sentAt: message.sentAt - backMs, availableAt };
      if (backMs > 0) {
        this.#store.write(messageKey(message, owner), undefined);
        this.#keep(this.#queue(queue), adopted, owner);
      }
      this.#insert(this.#queue(queue), { ...adopted, receives }, owner, true);
    }
    this.wake();
  }

  has(name: string): boolean {
    return this.#queues.has(name);
  }

  /**
   * Sends messages, which can be received when they are on the disk.
   *
   * @returns their ids in order, and a promise for that moment
   */
  send(
    name: string,
    outgoing: readonly Outgoing[],
  ): { readonly ids: readonly string[]; readonly sent: Promise<void> } {
    const { ids, keep, release } = this.toSend(name, outgoing);
    return { ids, sent: this.#store.change(keep, release) };
  }

  /** Makes messages. `keep` writes them; after that, `release` makes them available. */
  toSend(name: string, outgoing: readonly Outgoing[]) {
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
    return {
      ids: messages.map(({ id }) => id),
      keep: (write: Write): void => {
        for (const message of messages) keepMessage(write, name, message, this.#owner);
      },
      release: (): void => {
        for (const message of messages) this.#insert(queue, message, this.#owner, false);
        this.#serve(queue);
      },
    };
  }

  /** Receives up to `max` messages. Waits for the first one, and returns an empty list if none arrives. */
  async receive(
    name: string,
    { max, waitMs, visibilityTimeoutMs, signal }: ReceiveOptions,
  ): Promise<Received[]> {
    const queue = this.#queue(name);
    const forMs = visibilityTimeoutMs ?? queue.shape.visibilityTimeoutMs;
    const received = this.#take(queue, max, forMs);
    if (received.length > 0 || waitMs === 0 || signal.aborted) return this.#counted(received);
    return new Promise((resolve) => {
      const deliver = (messages: Received[]): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', giveUp);
        queue.longPolls.delete(poll);
        resolve(this.#counted(messages));
      };
      const giveUp = (): void => {
        deliver([]);
      };
      const timeout = setTimeout(giveUp, waitMs);
      const poll: LongPoll = { max, visibilityTimeoutMs: forMs, deliver };
      signal.addEventListener('abort', giveUp);
      queue.longPolls.add(poll);
      this.#serve(queue);
    });
  }

  /**
   * Deletes the messages of receipts. A receipt is ignored if the message was received again since, as in
   * SQS.
   */
  delete(receipts: readonly Receipt[]): void {
    const found = receipts.map((receipt) => this.#byReceipt(receipt)).filter((item) => item !== undefined);
    for (const { queue, message } of found) {
      // A batch may name a message twice.
      if (this.#messages.has(message.id)) this.#remove(queue, message);
    }
  }

  /**
   * Makes a message in flight visible `timeoutMs` from now, unless the stage restarts. Without SQS's limit of 12 hours, because an attempt of 12 hours begins after the receive.
   *
   * @returns false if the message is gone or not in flight
   */
  changeVisibility(receipt: Receipt, timeoutMs: number): boolean {
    const found = this.#byReceipt(receipt);
    const now = this.#now();
    if (found === undefined || !found.message.wasReceived || found.message.availableAt <= now) return false;
    found.message.availableAt = now + timeoutMs;
    found.queue.byAvailability.reorder(found.message);
    this.#serve(found.queue);
    return true;
  }

  purge(name: string): void {
    const queue = this.#queue(name);
    for (
      let message = queue.byAvailability.first;
      message !== undefined;
      message = queue.byAvailability.first
    ) {
      this.#remove(queue, message);
    }
  }

  /** The milliseconds until the next delay or visibility timeout ends, if there is one. */
  nextDueIn(name: string): number | undefined {
    const availableAt = this.#queue(name).byAvailability.first?.availableAt ?? 0;
    const dueInMs = availableAt - this.#now();
    return dueInMs > 0 ? dueInMs : undefined;
  }

  unsettled(name: string): Unsettled[] {
    const now = this.#now();
    return [...this.#queue(name).byAvailability]
      .filter(({ wasReceived, availableAt }) => wasReceived || availableAt <= now)
      .map(({ id, receives, availableAt }) => ({ id, receives, inFlight: availableAt > now }));
  }

  depths(name: string): Readonly<Record<'delayed' | 'visible' | 'inFlight', number>> {
    const now = this.#now();
    const counted = { delayed: 0, visible: 0, inFlight: 0 };
    for (const { wasReceived, availableAt } of this.#queue(name).byAvailability) {
      if (availableAt <= now) counted.visible += 1;
      else if (wasReceived) counted.inFlight += 1;
      else counted.delayed += 1;
    }
    return counted;
  }

  /** Must be called when the clock has jumped. */
  wake(): void {
    for (const queue of this.#queues.values()) this.#serve(queue);
  }

  close(): void {
    for (const queue of this.#queues.values()) {
      clearTimeout(queue.alarm);
      for (const poll of queue.longPolls) poll.deliver([]);
    }
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }

  #insert(queue: Queue, stored: StoredMessage, owner: Owner, isOld: boolean): void {
    const message: Message = { ...stored, owner, place: -1, wasReceived: false, isOld };
    this.#messages.set(message.id, { queue, message });
    queue.byAvailability.add(message);
  }

  #keep({ shape: { name } }: Queue, message: StoredMessage, owner: Owner): void {
    keepMessage(this.#store.write.bind(this.#store), name, message, owner);
  }

  #remove(queue: Queue, message: Message): void {
    this.#store.write(messageKey(message, message.owner), undefined);
    queue.byAvailability.remove(message);
    this.#messages.delete(message.id);
  }

  /** Gives visible messages to waiting polls, the oldest first, and sets the timer. */
  #serve(queue: Queue): void {
    clearTimeout(queue.alarm);
    for (const poll of queue.longPolls) {
      const received = this.#take(queue, poll.max, poll.visibilityTimeoutMs);
      if (received.length === 0) break;
      poll.deliver(received);
    }
    const next = queue.byAvailability.first;
    if (next === undefined || queue.longPolls.size === 0) return;
    const serve = (): void => {
      this.#serve(queue);
    };
    queue.alarm = setTimeout(serve, Math.max(1, next.availableAt - this.#now()));
  }

  /** Waits until counted receives are on the disk, because a message may kill the process. */
  async #counted(received: Received[]): Promise<Received[]> {
    if (received.some(({ isKept }) => isKept)) await this.#store.committed();
    return received;
  }

  #take(queue: Queue, max: number, visibilityTimeoutMs: number): Received[] {
    const now = this.#now();
    const taken: Received[] = [];
    while (taken.length < max) {
      const message = queue.byAvailability.first;
      if (message === undefined || message.availableAt > now) break;
      if (this.#expire(queue, message, now) || this.#redrive(queue, message, now)) continue;
      message.receives += 1;
      message.firstReceivedAt ??= now;
      // `availableAt` is stored as now, so that the message is visible at once after a restart.
      const isKept = message.isOld;
      if (isKept) this.#keep(queue, storedOf({ ...message, availableAt: message.sentAt }), message.owner);
      message.isOld = true;
      message.wasReceived = true;
      message.availableAt = now + visibilityTimeoutMs;
      queue.byAvailability.reorder(message);
      taken.push({ ...message, isKept, receipt: { messageId: message.id, receive: message.receives } });
      // Without a visibility timeout, the loop would receive the same message again.
      if (visibilityTimeoutMs === 0) break;
    }
    return taken;
  }

  #expire(queue: Queue, message: Message, now: number): boolean {
    const { retentionMs = Infinity } = queue.shape;
    if (now - message.sentAt < retentionMs) return false;
    this.#remove(queue, message);
    return true;
  }

  /** Moves a message that was received too often to the dead letter queue. */
  #redrive(queue: Queue, message: Message, now: number): boolean {
    const { redrive } = queue.shape;
    if (redrive === undefined || message.receives < redrive.maxReceives) return false;
    const deadQueue = this.#queue(redrive.deadQueue);
    const moved = { ...storedOf(message), availableAt: now, deadLetterSource: queue.shape.name };
    queue.byAvailability.remove(message);
    this.#keep(deadQueue, moved, message.owner);
    this.#insert(deadQueue, moved, message.owner, true);
    this.#serve(deadQueue);
    return true;
  }

  #byReceipt({
    messageId,
    receive,
  }: Receipt): { readonly queue: Queue; readonly message: Message } | undefined {
    const found = this.#messages.get(messageId);
    return found?.message.receives === receive ? found : undefined;
  }
}

function storedOf(message: Message): StoredMessage {
  const { id, body, groupId, sentAt, availableAt, receives, firstReceivedAt, deadLetterSource } = message;
  return { id, body, groupId, sentAt, availableAt, receives, firstReceivedAt, deadLetterSource };
}
