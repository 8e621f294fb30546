import { secondMs } from '../../../shared/clock.ts';
import type { Header } from '../../../shared/headers.ts';
import type { JournalRecord, ListedEntry, RunStart } from '../../rules/journal.ts';
import type { StepDetails, StepIdentity } from '../../rules/step.ts';
import { overlaid } from '../../rules/forwarding.ts';
import { stepDurationMs } from '../../rules/time.ts';
import type { CallRecord, History, RunMessage } from './runRecord.ts';

export type KnownCall = Pick<CallRecord, 'url' | 'method' | 'body' | 'response' | 'callback'> &
  Pick<CallRecord, 'maxRetries' | 'retryDelay' | 'headers'>;

export interface KnownInvoked {
  readonly body: string | undefined;
  readonly headers: readonly Header[];
}

export interface KnownMessages {
  readonly histories: ReadonlyMap<string, History>;
  /** The payload and the results of steps. */
  readonly texts: ReadonlyMap<string, string | undefined>;
  readonly calls: ReadonlyMap<string, KnownCall>;
  readonly invoked: ReadonlyMap<string, KnownInvoked>;
  readonly headersOf: (forwarded: readonly Header[]) => readonly Header[];
}

const nothingYet: History = { failures: [] };

/** @param notBefore when the message may first be delivered, Unix milliseconds */
function historyFrom(known: KnownMessages, messageId: string, notBefore: number): History {
  const history = known.histories.get(messageId) ?? nothingYet;
  return history.failures.length > 0 || history.end !== undefined
    ? history
    : { ...history, nextDeliveryAt: notBefore };
}

const identityOf = ({ stepId, stepName, stepType, concurrent }: StepIdentity): StepIdentity => ({
  stepId,
  stepName,
  stepType,
  concurrent,
});

/** Steps have seconds, the log has milliseconds. */
const sleepOf = ({ sleepFor, sleepUntil }: StepDetails) => ({
  sleepFor: sleepFor === undefined ? undefined : stepDurationMs(sleepFor),
  sleepUntil: sleepUntil === undefined ? undefined : Math.round(sleepUntil * secondMs),
});

function ofEntry(start: RunStart, known: KnownMessages, entry: ListedEntry): RunMessage {
  const { messageId, createdAt, notBefore, step, forwarded = [] } = entry;
  const settings = entry.settings ?? start.settings;
  const common = {
    ...historyFrom(known, messageId, notBefore),
    messageId,
    createdAt,
    maxRetries: settings.maxRetries,
    retryDelay: settings.retryDelay,
    headers: overlaid(known.headersOf(start.forwarded), known.headersOf(forwarded)),
  };
  const text = known.texts.get(messageId);
  if (step === undefined) return { kind: 'initial', ...common, payload: text };
  const named = { ...common, step: identityOf(step), ...sleepOf(step) };
  if (step.kind === 'plan') return { kind: 'plan', ...named };
  const { waitEventId, waitTimeout } = step;
  return { kind: 'result', ...named, out: text, waitEventId, waitTimeout };
}

/** The payload of a run with an unknown client is delivered again when the client is known. */
function withUpgrade(known: KnownMessages, message: RunMessage, messageId: string, at: number): RunMessage {
  const again = historyFrom(known, messageId, at);
  return {
    ...message,
    failures: [...message.failures, ...again.failures],
    requests: [...(message.requests ?? []), ...(again.requests ?? [])],
    end: again.end,
    nextDeliveryAt: again.nextDeliveryAt,
  };
}

export function runMessagesOf(
  start: RunStart,
  records: readonly JournalRecord[],
  known: KnownMessages,
): readonly RunMessage[] {
  const messages: RunMessage[] = [];
  const { maxRetries, retryDelay } = start.settings;
  for (const record of records) {
    switch (record.kind) {
      case 'start':
        messages.push(ofEntry(start, known, record.entry));
        break;
      case 'upgrade': {
        const [first, ...others] = messages;
        if (first !== undefined) {
          messages.splice(
            0,
            1 + others.length,
            withUpgrade(known, first, record.messageId, record.at),
            ...others,
          );
        }
        break;
      }
      case 'steps':
        messages.push(
          ...record.entries.map((entry) => ({ ...ofEntry(start, known, entry), isKept: record.isCopy })),
        );
        break;
      case 'lateResult':
        // Never delivered, because the run has ended.
        messages.push({ ...ofEntry(start, known, record.entry), end: 'DELIVERED' });
        break;
      case 'call': {
        const { messageId, step, at } = record;
        const history = known.histories.get(messageId) ?? nothingYet;
        const call = known.calls.get(messageId) ?? { maxRetries, retryDelay, headers: [] };
        messages.push({ kind: 'call', ...history, ...call, messageId, step, createdAt: at });
        break;
      }
      case 'wait': {
        const { messageId, step, at, eventId, timeout, deadline, forwarded } = record;
        const common = { messageId, step, createdAt: at, maxRetries, retryDelay };
        const headers = known.headersOf(forwarded);
        messages.push({ kind: 'wait', ...common, ...nothingYet, headers, eventId, timeout, deadline });
        break;
      }
      case 'invoke': {
        const { messageId, step, at, runId, url, createdAt } = record;
        const { body, headers } = known.invoked.get(messageId) ?? { body: undefined, headers: [] };
        const common = { messageId, step, createdAt: at, maxRetries, retryDelay };
        messages.push({
          kind: 'invoke',
          ...common,
          ...nothingYet,
          headers,
          runId,
          url,
          startedAt: createdAt,
          body,
        });
        break;
      }
      case 'settings':
      case 'event':
      case 'end':
      case 'failureFunction':
      case 'kept':
        break;
      default:
        record satisfies never;
    }
  }
  return messages;
}
