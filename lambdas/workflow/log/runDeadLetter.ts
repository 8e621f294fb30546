import type { DeadLetterOfRun } from '../../deadLetter/deadLetters.ts';
import type { DeadRun } from '../../deadLetter/rows.ts';
import { loadMessage } from '../../message/history.ts';
import type { KeptResponse, Message } from '../../message/message.ts';
import { messageRecord, responseRecord } from '../../message/records.ts';
import { noRedaction, redacted } from '../../message/redaction.ts';
import { shownHeaders } from '../../shared/headers.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import type { Answer } from '../../wire/answers.ts';
import type { ShownAs } from '../../wire/answerSize.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import type { ListedEntry, RunStart } from '../rules/journal.ts';
import { failureRequestIdOf } from '../runs/loadRun.ts';
import { loadRecord } from '../store/journals.ts';
import { startHeaders } from './rules/startHeaders.ts';

type Listed = Answer<typeof answers.listedRunDeadLetter>;

interface RunDetails {
  /** The start, and the entry with the payload. Undefined if the journal has expired. */
  readonly started: { readonly start: RunStart; readonly entry: ListedEntry } | undefined;
  /** The last answer to the failure callback, if any. */
  readonly told: KeptResponse | undefined;
}

export async function answerTo(
  key: Pick<Message, 'accountId' | 'messageId'>,
  attempt?: number,
): Promise<KeptResponse | undefined> {
  const attempts = (await loadMessage(key))?.attempts ?? [];
  return attempts.findLast(({ number }) => attempt === undefined || number === attempt)?.response;
}

async function toldTo(accountId: string, run: DeadRun): Promise<KeptResponse | undefined> {
  if (run.failureState === undefined) return undefined;
  const messageId = await failureRequestIdOf({ accountId, runId: run.runId }, run.startSeq);
  return messageId === undefined ? undefined : answerTo({ accountId, messageId });
}

export async function loadDetails({
  message: { accountId },
  workflow,
}: DeadLetterOfRun): Promise<RunDetails> {
  const [record, told] = await Promise.all([
    loadRecord({ accountId, runId: workflow.runId }, workflow.startSeq),
    toldTo(accountId, workflow),
  ]);
  return { started: record?.kind === 'start' ? record : undefined, told };
}

export const redactionOf = ({ message }: DeadLetterOfRun, { started }: RunDetails) =>
  started?.start.settings.redaction ?? message.redaction ?? noRedaction;
type Redaction = ReturnType<typeof redactionOf>;

/** A body that the run's redaction covers is hidden, because the answer may repeat the request. */
function answerRecord(response: KeptResponse, redaction: Redaction, bodies: ShownAs) {
  if (!redaction.body || response.body.length === 0) return responseRecord(response, bodies);
  return {
    ...responseRecord({ ...response, body: new Uint8Array() }, bodies),
    responseBody: redacted(response.body),
  };
}

function toldRecord(
  state: DeadRun['failureState'],
  told: KeptResponse | undefined,
  redaction: Redaction,
  bodies: ShownAs,
): Pick<Listed, 'failureCallbackInfo' | 'failureCallbackHeader'> {
  if (state === undefined) return {};
  if (told === undefined) return { failureCallbackInfo: { state } };
  const { responseHeader, error: _error, ...answered } = answerRecord(told, redaction, bodies);
  return {
    failureCallbackHeader: responseHeader,
    failureCallbackInfo: { state, ...answered, responseHeaders: responseHeader },
  };
}

export function listedRecord(
  deadLetter: DeadLetterOfRun,
  details: RunDetails,
  response: KeptResponse,
  bodies: ShownAs = 'text',
): Listed {
  const { dlqId, message, workflow, retried, failedAt, expiresAt } = deadLetter;
  const start = details.started?.start;
  const redaction = redactionOf(deadLetter, details);
  const record = messageRecord(message);
  return {
    ...record,
    header: start === undefined ? record.header : shownHeaders(startHeaders(workflow.runId, start)),
    failureCallback: start?.failureCallback && shownUrl(start.failureCallback.url),
    dlqId,
    retried,
    failedAt,
    expiresAt,
    ...answerRecord(response, redaction, bodies),
    workflowRunId: workflow.runId,
    workflowCreatedAt: workflow.createdAt,
    workflowUrl: shownUrl(workflow.url),
    failureFunctionState: workflow.failureState,
    ...toldRecord(workflow.failureState, details.told, redaction, bodies),
  };
}

export const noBytes = new Uint8Array();

export const responseInRow = (deadLetter: DeadLetterOfRun): KeptResponse => ({
  status: deadLetter.responseStatus,
  error: deadLetter.error,
  headers: deadLetter.responseHeaders,
  body: deadLetter.responseBody ?? noBytes,
});
