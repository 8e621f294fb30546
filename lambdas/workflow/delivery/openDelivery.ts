import type { DestinationResponse } from '../../destination/response.ts';
import type { OpenedDelivery } from '../../message/kinds.ts';
import type { Message, WorkflowPart } from '../../message/message.ts';
import { tooLargeForStep } from '../../delivery/callbackBody.ts';
import { callResultHeaders, failureHeaders, listHeaders, type DeliveringRun } from './deliveryHeaders.ts';
import { wrongDestination } from './endpointAnswer.ts';
import { isActive, type Snapshot, type RunStart, type RunKey } from '../rules/journal.ts';
import { isLazy } from '../runs/listBody.ts';
import { settings } from '../../aws/settings.ts';
import { isRecent, now } from '../../shared/clock.ts';
import { loadSnapshot } from '../store/journals.ts';
import { settingsOfRun } from '../runs/changeRun.ts';
import { loadRunList } from '../runs/knownRuns.ts';
import { loadRun } from '../runs/loadRun.ts';
import { memory, memoryTimeoutMs } from './memory.ts';

const holdsNothing = (): undefined => undefined;

/** A run that was read less long ago (ms) is not read again. */
const freshMs = 10;

const allIsWell = (): undefined => undefined;

const { headerPrefixes } = settings;

const deliveringRun = (
  { runId }: RunKey,
  { createdAt }: Pick<Snapshot, 'createdAt'>,
  start: RunStart,
): DeliveringRun => ({ ...start, runId, createdAt });

/**
 * @param body the message's stored body
 * @returns undefined if the run has ended and the message must be dropped; `later` if there is not enough
 * memory for the body
 */
export async function openDelivery(
  message: Message,
  part: WorkflowPart,
  body: Uint8Array,
): Promise<OpenedDelivery | 'later' | undefined> {
  const key = { accountId: message.accountId, runId: part.runId };
  if (part.role === 'list') return openList(message, key, part);
  const snapshot = await loadSnapshot(key);
  const isOfRun = snapshot?.startSeq === part.startSeq;
  if (part.role === 'failureRequest') {
    // A failure callback is delivered after the run's end, perhaps while another run has the same id.
    const run = isOfRun ? undefined : await loadRun(key, part.startSeq);
    const start = isOfRun ? await settingsOfRun(key, snapshot) : run?.start;
    if (start === undefined) return undefined;
    const headers = failureHeaders(deliveringRun(key, part, start), message.headers, headerPrefixes);
    return { message: { ...message, headers }, body, errorOf: allIsWell, release: holdsNothing };
  }
  if (!isOfRun || !isActive(snapshot)) return undefined;
  if (part.role === 'call') {
    const errorOf: OpenedDelivery['errorOf'] = (response, maxBytes) =>
      response.status === 0
        ? undefined
        : tooLargeForStep({ message, body, response, retried: message.maxRetries }, maxBytes);
    return { message, body, errorOf, release: holdsNothing };
  }
  const start = await settingsOfRun(key, snapshot);
  const headers = callResultHeaders(deliveringRun(key, snapshot, start), message.headers, headerPrefixes);
  return { message: { ...message, headers }, body, errorOf: allIsWell, release: holdsNothing };
}

async function openList(
  message: Message,
  key: RunKey,
  { startSeq }: WorkflowPart,
): Promise<OpenedDelivery | 'later' | undefined> {
  const run = await loadRunList(key, startSeq);
  if (run === undefined) return undefined;
  const readAt = now();
  const { snapshot, start, list } = run;
  const place = run.placeOf(message.messageId);
  if (place === undefined) throw new Error(`The entry of ${message.messageId} is not in its run.`);
  const { entries, forwarded } = place;
  const features = new Set(start.features);
  const bytes = list.bytesOf(entries);
  // The client reads the whole list, even if this delivery has only a part of it.
  const isEmpty =
    isLazy(bytes, { features, isUnknownClient: start.isUnknownClient }) && list.fitsIntoAnswer();
  const headers = listHeaders(deliveringRun(key, snapshot, start), forwarded, headerPrefixes);
  const opened = {
    message: { ...message, headers },
    errorOf:
      entries > 1
        ? allIsWell
        : (response: DestinationResponse) => wrongDestination({ ...start, features }, response),
  };
  if (isEmpty) return { ...opened, body: new Uint8Array(), release: holdsNothing };
  const hold = await memory.acquire(bytes + list.bytesWhileMaking(entries), memoryTimeoutMs);
  if (hold === undefined) return 'later';
  try {
    const body = await list.bodyOf(entries);
    hold.shrinkTo(body.length);
    // The run may have ended while this job waited for memory or read bodies.
    const isStill = isRecent(readAt, freshMs, now()) || (await loadRunList(key, startSeq)) !== undefined;
    if (isStill) return { ...opened, body, release: hold.release };
  } catch (error) {
    hold.release();
    throw error;
  }
  hold.release();
  return undefined;
}
