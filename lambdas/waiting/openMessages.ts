/**
 * An account's messages that have not ended, in the memory of this process, so that they can be counted
 * without reading them again. Each request first reads what was published and recorded since the last one. A
 * row that is read twice changes nothing.
 */
import { subjectsSince } from '../audit/trail.ts';
import { limitedScan } from '../list/scans.ts';
import { merged } from '../list/pages.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { promptMs } from '../message/rows.ts';
import { listMessages, loadMessages, type ListedMessage } from '../message/list.ts';
import { listLate, settledAfterMs, type LogRow } from '../message/log.ts';
import { filterable } from '../message/logEntries.ts';
import { isOver } from '../message/message.ts';
import { dueTimeOf, nextAttemptOf, statusOf } from '../message/status.ts';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import { precedes, shardsOf, type Sharded } from '../table/shards.ts';
import type { Filterable } from '../wire/filterFields.ts';
import { loadSnapshot, type Snapshot } from './store/snapshots.ts';

export interface OpenMessage {
  /** Messages that no filter distinguishes share one object. */
  readonly subject: Filterable;
  readonly state: ReturnType<typeof statusOf>['state'];
  readonly attempt: number;
  /** When the next attempt is due, or the open one times out. */
  readonly dueAt: number;
  /** Since when the message has been in this state. */
  readonly since: number;
  /** When the first attempt failed, if it did. */
  readonly failedAt?: number | undefined;
  /** Whether another publish may still delay the first attempt. */
  readonly isDebounced?: boolean | undefined;
  readonly expiresAt: number;
}

/** Most rows are stored within this time after the time in their key. */
const usualDelayMs = 2 * secondMs;
/** How often recent rows are read again, to find those that were stored late. */
const settlingEveryMs = 3 * minuteMs;
/** After a pause this long, recent rows are read again together with new ones. */
const longestPauseMs = 10 * minuteMs;
const settlingBudgetMs = 200;

/** How far a message has come. A record that is read again and is older does not change it. */
const progressOf = ({ attempt, state }: Pick<OpenMessage, 'attempt' | 'state'>): number =>
  2 * attempt + (state === 'ACTIVE' ? 1 : 0);

/** These take about 110 MB, for all accounts together. */
export const mostMessages = 500_000;
const mostAccounts = 1_000;
const mostSubjects = 10_000;
const loadedAtOnce = 10;

class OpenMessages {
  readonly #account: Sharded;
  readonly #messages = new Map<string, OpenMessage>();
  readonly #subjects = new Map<string, Filterable>();
  #from = 0;
  /** Rows from before this time were all read. */
  #settledUntil: number | undefined;
  /** The log is read from this time on. The rows of older messages say enough. */
  #logFrom = 0;
  /** Changes of messages are read from this time on. */
  #changedFrom = 0;
  #reading: Promise<boolean> = Promise.resolve(true);

  constructor(account: Sharded) {
    this.#account = account;
  }

  get size(): number {
    return this.#messages.size;
  }

  [Symbol.iterator](): IterableIterator<[messageId: string, message: OpenMessage]> {
    return this.#messages.entries();
  }

  /**
   * @param until when to stop; the next call continues
   * @returns whether everything was read in time
   */
  catchUp(until: number): Promise<boolean> {
    const reading = this.#reading.then(
      () => this.#read(until),
      () => this.#read(until),
    );
    this.#reading = reading;
    return reading;
  }

  async #read(until: number): Promise<boolean> {
    const begunAt = now();
    const settledAt = begunAt - settledAfterMs;
    if (this.#settledUntil === undefined || begunAt < this.#from) {
      // The process is new, or the clock was set back, so that messages published since may have any time.
      this.#messages.clear();
      this.#from = this.#settledUntil === undefined ? await this.#restore(begunAt) : 0;
      this.#logFrom = this.#from === 0 ? settledAt : this.#from;
      this.#changedFrom = this.#from === 0 ? begunAt : this.#from;
      this.#settledUntil = settledAt;
    } else if (begunAt - this.#settledUntil > longestPauseMs) {
      this.#from = Math.min(this.#from, this.#settledUntil);
      this.#settledUntil = settledAt;
    }
    const cutAt = await this.#take(this.#from, undefined, until);
    if (cutAt === undefined) await this.#readMoved(begunAt);
    this.#from = cutAt ?? begunAt - usualDelayMs;
    if (cutAt === undefined && settledAt - this.#settledUntil > settlingEveryMs) {
      const settlingUntil = now() + settlingBudgetMs;
      this.#settledUntil = (await this.#take(this.#settledUntil, settledAt, settlingUntil)) ?? settledAt;
    }
    return cutAt === undefined;
  }

  /** @returns up to when everything is known */
  async #restore(time: number): Promise<number> {
    const saved = await loadSnapshot(this.#account.id, time);
    for (const { id, of, ...message } of saved?.messages ?? []) {
      const subject = saved?.subjects[of];
      if (subject !== undefined) this.#messages.set(id, { ...message, subject: this.#shared(subject) });
    }
    return saved?.until ?? 0;
  }

  get snapshot(): Snapshot {
    const places = new Map<Filterable, number>();
    const messages = [...this.#messages].map(([id, { subject, ...message }]) => {
      const of = places.get(subject) ?? places.size;
      places.set(subject, of);
      return { id, of, ...message };
    });
    const until = this.#settledUntil ?? 0;
    return { until, subjects: [...places.keys()], messages };
  }

  /** @returns the time of the first row that was not read, if there was not enough time or memory */
  async #take(fromDate: number, toDate: number | undefined, until: number): Promise<number | undefined> {
    const log = { fromDate: Math.max(fromDate, this.#logFrom), toDate, order: 'earliestFirst' } as const;
    // Prompt records are read with their message, so messages are read from an earlier time.
    const messages = { ...log, fromDate: fromDate - promptMs };
    const sources = shardsOf(this.#account).flatMap(
      (shard): readonly AsyncGenerator<ListedMessage | LogRow>[] => [
        listMessages(shard, messages),
        listLate(shard, log),
      ],
    );
    const unknown = new Set<string>();
    let cutAt: number | undefined;
    for await (const row of limitedScan(this.#account.id, merged(sources, precedes('earliestFirst')))) {
      if (this.#messages.size > mostMessages || now() > until) {
        cutAt = row.time;
        break;
      }
      if ('attempts' in row) this.#note(row);
      else this.#noteRecord(row, unknown);
    }
    await eachOf([...unknown], loadedAtOnce, async (messageId) => {
      const history = await loadMessage({ accountId: this.#account.id, messageId });
      if (history !== undefined) this.#note({ ...history, id: messageId });
    });
    return cutAt;
  }

  /** Reads again what changes without a record: changed messages, and quiet periods. */
  async #readMoved(time: number): Promise<void> {
    const ids = new Set<string>();
    const since = this.#changedFrom - settledAfterMs;
    for await (const id of subjectsSince(this.#account.id, 'message.change', since)) ids.add(id);
    this.#changedFrom = time;
    for (const [id, { isDebounced, dueAt }] of this.#messages)
      if (isDebounced === true && dueAt <= time) ids.add(id);
    const known = [...ids].filter((id) => this.#messages.has(id));
    for (const [id, message] of await loadMessages(this.#account.id, known)) {
      const before = this.#messages.get(id);
      if (before === undefined || before.state === 'ACTIVE') continue;
      const { attempt } = before;
      const dueAt = attempt === 0 ? dueTimeOf({ message, attempts: [] }, 0) : message.change?.dueAt[attempt];
      this.#messages.set(id, {
        ...before,
        subject: this.#shared(filterable(message)),
        dueAt: dueAt ?? before.dueAt,
        // A publish that joined the period in time may write its row a little later.
        isDebounced: before.isDebounced === true && message.notBefore > time - minuteMs,
        expiresAt: message.expiresAt,
      });
    }
  }

  /** Replaces what is known of a message by its history; undefined if its rows are gone. */
  correct(id: string, history: MessageHistory | undefined): void {
    const known = this.#messages.get(id);
    // Another request has read since that the message ended, or a later record.
    if (known === undefined) return;
    if (history === undefined || isOver(history)) this.#messages.delete(id);
    else {
      const read = this.#openMessageOf(history);
      if (progressOf(read) >= progressOf(known)) this.#messages.set(id, read);
    }
  }

  #note(listed: Omit<ListedMessage, 'time' | 'isOfRun'>): void {
    const { id } = listed;
    if (isOver(listed)) this.#messages.delete(id);
    else if (!this.#messages.has(id)) this.#messages.set(id, this.#openMessageOf(listed));
  }

  #openMessageOf(listed: Pick<ListedMessage, 'message' | 'attempts' | 'open' | 'endedAt'>): OpenMessage {
    const { message, attempts, open } = listed;
    const attempt = open?.number ?? nextAttemptOf({ attempts });
    return {
      subject: this.#shared(filterable(message)),
      state: statusOf(listed).state,
      attempt,
      dueAt: open?.until ?? dueTimeOf({ message, attempts }, attempt),
      since: Math.max(0, attempts.at(-1)?.recordedAt ?? 0, open?.startedAt ?? 0),
      failedAt: attempts[0]?.recordedAt,
      isDebounced: message.debounce !== undefined && attempt === 0 && open === undefined,
      expiresAt: message.expiresAt,
    };
  }

  /** @param unknown gets the ids of messages whose own rows were stored too late to be read */
  #noteRecord(row: LogRow, unknown: Set<string>): void {
    const { time: since } = row;
    const messageId = row.id.replace(/~.*$/, '');
    const [recorded] = row.textsOf?.('state') ?? [];
    const known = this.#messages.get(messageId);
    if (recorded !== 'RETRY' && recorded !== 'HELD') {
      this.#messages.delete(messageId);
      unknown.delete(messageId);
    } else if (known === undefined) unknown.add(messageId);
    else {
      const { open, outline } = row;
      const next =
        recorded === 'RETRY'
          ? ({ state: 'RETRY', attempt: (outline?.number ?? 0) + 1, dueAt: outline?.nextDeliveryAt } as const)
          : open && ({ state: 'ACTIVE', attempt: open.number, dueAt: open.until } as const);
      if (next === undefined || progressOf(next) <= progressOf(known)) return;
      const failedAt = known.failedAt ?? (recorded === 'RETRY' ? since : undefined);
      const { dueAt = known.dueAt } = next;
      this.#messages.set(messageId, { ...known, ...next, dueAt, since, failedAt, isDebounced: false });
    }
  }

  #shared({ url, topicName, queueName, scheduleId, callerIp, flowControlKey, labels, kind }: Filterable) {
    const subject = { url, topicName, queueName, scheduleId, callerIp, flowControlKey, labels, kind };
    const key = JSON.stringify(subject);
    const known = this.#subjects.get(key);
    if (known !== undefined) return known;
    if (this.#subjects.size >= mostSubjects) this.#subjects.clear();
    this.#subjects.set(key, subject);
    return subject;
  }
}

/** By account, the least recently used first. */
const ofAccounts = new Map<string, OpenMessages>();

export function openMessagesOf({ id, shards }: Sharded): OpenMessages {
  const key = `${id}/${shards}`;
  const found = ofAccounts.get(key) ?? new OpenMessages({ id, shards });
  ofAccounts.delete(key);
  ofAccounts.set(key, found);
  let kept = [...ofAccounts.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [other, { size }] of ofAccounts) {
    if (other === key || (kept <= mostMessages && ofAccounts.size <= mostAccounts)) break;
    ofAccounts.delete(other);
    kept -= size;
  }
  return found;
}
