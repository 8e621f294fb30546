/**
 * The queues themselves: standard SQS queues with message timers, visibility timeouts, receive counts, long polls, retention and
 * dead letter queues, exact to the millisecond. Fairness between message groups is not imitated.
 *
 * The states of a message, in the order in which it passes them:
 * - delayed: its message timer runs, until `availableAt`;
 * - visible: a receive takes it, the longest visible first;
 * - in flight: its visibility timeout runs, again until `availableAt`, and then it is visible again;
 * - deleted; or moved to the dead letter queue, instead of a receive too many; or expired, after its retention.
 *
 * The first two and the receive count survive the process. Messages in flight are visible after a start.
 */
import { randomUUID } from 'node:crypto';
import { Heap, type Placed } from '../heap.ts';
import type { AppendOnly } from '../journal/appendOnly.ts';
import type { Outgoing } from './inputs.ts';
import type { QueueEntry, QueueJournal, StoredMessage } from './queueJournal.ts';
import type { Receipt } from './receipt.ts';

export interface QueueShape {
  readonly name: string;
  readonly visibilityTimeoutMs: number;
  /** Counts from the first sending, in a dead letter queue too. Messages are kept for ever when absent. */
  readonly retentionMs?: number;
  /** A message that was received `maxReceives` times is not received again, but moved to `deadQueue`. */
  readonly redrive?: { readonly deadQueue: string; readonly maxReceives: number };
}

interface Message extends Placed, StoredMessage {
  /** Whether this process has received it: while `availableAt` lies ahead, the message is in flight and not delayed. */
  wasReceived: boolean;
}

/** A receive that waits for messages. */
interface LongPoll {
  readonly max: number;
  readonly visibilityTimeoutMs: number;
  readonly deliver: (received: Received[]) => void;
}

interface Queue {
  readonly shape: QueueShape;
  /** All messages of the queue. */
  readonly byAvailability: Heap<Message>;
  /** In the order of their arrival. */
  readonly longPolls: Set<LongPoll>;
  /** Ends the timer or visibility timeout that ends first. Set while a poll waits. */
  alarm: NodeJS.Timeout | undefined;
}

/** A message as one receive saw it. */
export type Received = StoredMessage & { readonly receipt: Receipt };

export interface ReceiveOptions {
  readonly max: number;
  /** The longest wait for a first message. */
  readonly waitMs: number;
  /** The queue's own when absent. */
  readonly visibilityTimeoutMs?: number;
  /** Ends the wait when the caller has gone. */
  readonly signal: AbortSignal;
}

/** A message that is visible or in flight. */
export interface Unsettled {
  readonly id: string;
  readonly receives: number;
  readonly inFlight: boolean;
}

export class Queues {
  readonly #queues = new Map<string, Queue>();
  readonly #messages = new Map<string, { readonly queue: Queue; readonly message: Message }>();
  readonly #journal: AppendOnly<QueueEntry>;
  readonly #now: () => number;
  /** The texts of all messages since {@link noteTexts}. */
  #noted: Set<string> | undefined;

  /** @param now the clock, in epoch milliseconds; call `wake` after it has jumped */
  constructor(shapes: readonly QueueShape[], journal: QueueJournal, now: () => number) {
    this.#journal = journal.file;
    this.#now = now;
    for (const shape of shapes) {
      const byAvailability = new Heap<Message>((a, b) => a.availableAt < b.availableAt);
      this.#queues.set(shape.name, { shape, byAvailability, longPolls: new Set(), alarm: undefined });
    }
    for (const { queue, message } of journal.kept.values()) this.#insert(this.#queue(queue), message);
    this.#journal.keepShort({ count: () => this.#messages.size, entries: () => this.#snapshot() });
  }

  has(name: string): boolean {
    return this.#queues.has(name);
  }

  /** Sends messages, and returns their ids in the same order. The messages are in the journal by then, but maybe not yet on the disk. */
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
    for (const message of messages) {
      this.#insert(queue, message);
      this.#noted?.add(message.body);
    }
    this.#serve(queue);
    return messages.map((message) => message.id);
  }

  /**
   * The texts of the messages that no queue has given up; those that are sent from now on are added, until {@link forgetTexts}.
   */
  noteTexts(): ReadonlySet<string> {
    const kept = [...this.#messages.values()].filter(({ message }) => message.deadLetterSource === undefined);
    this.#noted = new Set(kept.map(({ message }) => message.body));
    return this.#noted;
  }

  forgetTexts(): void {
    this.#noted = undefined;
  }

  /** Waits until all that was sent is on the disk. */
  flushed(): Promise<void> {
    return this.#journal.flushed();
  }

  /** Receives up to `max` messages. It waits for a first one when there is none, and returns none when the wait has ended. */
  async receive(
    name: string,
    { max, waitMs, visibilityTimeoutMs, signal }: ReceiveOptions,
  ): Promise<Received[]> {
    const queue = this.#queue(name);
    const forMs = visibilityTimeoutMs ?? queue.shape.visibilityTimeoutMs;
    const received = this.#take(queue, max, forMs);
    if (received.length > 0 || waitMs === 0 || signal.aborted) return received;
    return new Promise((resolve) => {
      const deliver = (messages: Received[]): void => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', giveUp);
        queue.longPolls.delete(poll);
        resolve(messages);
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

  /** Deletes the messages of which a receipt names the latest receive. Other receipts change nothing, as in SQS. */
  delete(receipts: readonly Receipt[]): void {
    const found = receipts.map((receipt) => this.#byReceipt(receipt)).filter((item) => item !== undefined);
    if (found.length === 0) return;
    this.#journal.append([{ op: 'delete', ids: found.map(({ message }) => message.id) }]);
    for (const { queue, message } of found) {
      // A batch may name a message twice.
      if (!this.#messages.delete(message.id)) continue;
      queue.byAvailability.remove(message);
    }
  }

  /**
   * Makes a message in flight visible `timeoutMs` from now. A restart forgets it, like every visibility timeout.
   *
   * @returns false when the message is not in flight, or gone
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

  /** The end of the first message timer or visibility timeout that still runs, in epoch milliseconds. */
  nextDue(name: string): number | undefined {
    const availableAt = this.#queue(name).byAvailability.first?.availableAt;
    return availableAt !== undefined && availableAt > this.#now() ? availableAt : undefined;
  }

  /** The messages that are visible or in flight. */
  unsettled(name: string): Unsettled[] {
    const now = this.#now();
    return [...this.#queue(name).byAvailability]
      .filter(({ wasReceived, availableAt }) => wasReceived || availableAt <= now)
      .map(({ id, receives, availableAt }) => ({ id, receives, inFlight: availableAt > now }));
  }

  /** The number of messages in each state. */
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

  /** Reads the clock again, after it has jumped. */
  wake(): void {
    for (const queue of this.#queues.values()) this.#serve(queue);
  }

  /** Ends all receives that wait, with no message, and closes the journal. */
  close(): void {
    for (const queue of this.#queues.values()) {
      clearTimeout(queue.alarm);
      for (const poll of queue.longPolls) poll.deliver([]);
    }
    this.#journal.close();
  }

  #queue(name: string): Queue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new Error(`There is no queue ${name}.`);
    return queue;
  }

  #insert(queue: Queue, stored: StoredMessage): void {
    const message: Message = { ...stored, place: -1, wasReceived: false };
    this.#messages.set(message.id, { queue, message });
    queue.byAvailability.add(message);
  }

  /** Delivers the visible messages to the long polls, the oldest poll first, and sets the alarm for the others. */
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

  #take(queue: Queue, max: number, visibilityTimeoutMs: number): Received[] {
    const now = this.#now();
    const taken: Received[] = [];
    while (taken.length < max) {
      const message = queue.byAvailability.first;
      if (message === undefined || message.availableAt > now) break;
      if (this.#expire(queue, message, now) || this.#redrive(queue, message, now)) continue;
      this.#journal.append([{ op: 'receive', id: message.id, at: now }]);
      message.receives += 1;
      message.firstReceivedAt ??= now;
      message.wasReceived = true;
      message.availableAt = now + visibilityTimeoutMs;
      queue.byAvailability.reorder(message);
      taken.push({ ...message, receipt: { messageId: message.id, receive: message.receives } });
      // Without a visibility timeout the same message would be first again.
      if (visibilityTimeoutMs === 0) break;
    }
    return taken;
  }

  /** Drops a message whose retention has ended. */
  #expire(queue: Queue, message: Message, now: number): boolean {
    const { retentionMs = Infinity } = queue.shape;
    if (now - message.sentAt < retentionMs) return false;
    this.#journal.append([{ op: 'delete', ids: [message.id] }]);
    queue.byAvailability.remove(message);
    this.#messages.delete(message.id);
    return true;
  }

  /** Moves a message that has been received too often to the dead letter queue. */
  #redrive(queue: Queue, message: Message, now: number): boolean {
    const { redrive } = queue.shape;
    if (redrive === undefined || message.receives < redrive.maxReceives) return false;
    const deadQueue = this.#queue(redrive.deadQueue);
    this.#journal.append([{ op: 'move', id: message.id, queue: redrive.deadQueue, at: now }]);
    queue.byAvailability.remove(message);
    this.#insert(deadQueue, { ...message, availableAt: now, deadLetterSource: queue.shape.name });
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

  /** Memory and journal must agree at this moment. */
  *#snapshot(): Generator<QueueEntry> {
    for (const { queue, message } of this.#messages.values()) {
      const { id, body, groupId, sentAt, receives, firstReceivedAt, deadLetterSource } = message;
      // A message in flight is visible at once after a start.
      const availableAt = message.wasReceived ? sentAt : message.availableAt;
      const stored = { id, body, groupId, sentAt, availableAt, receives, firstReceivedAt, deadLetterSource };
      yield { op: 'keep', queue: queue.shape.name, message: stored };
    }
  }
}
