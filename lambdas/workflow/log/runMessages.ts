import { loadBody } from '../../message/bodies.ts';
import { loadMessage } from '../../message/history.ts';
import { eachOf } from '../../shared/lists.ts';
import { entriesOf } from '../rules/entry.ts';
import type { EndRecord, JournalRecord, ListedEntry } from '../rules/journal.ts';
import { parseStep } from '../rules/step.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import { runMessagesOf, type Known, type RunMessage } from './rules/runMessage.ts';
import {
  answerOf,
  callbackOf,
  loadCalls,
  loadInvoked,
  responseInResult,
  type CallResponse,
} from './runCalls.ts';
import { loadShownHistories } from './runHistories.ts';
import { ShownTexts } from './rules/shownTexts.ts';
import { RunView, stepNameHeader } from './runView.ts';

/** All entries of the run, also a result that arrived after its end. */
const entriesIn = (records: readonly JournalRecord[]): readonly ListedEntry[] =>
  records.flatMap((record) => (record.kind === 'lateResult' ? [record.entry] : entriesOf(record)));

/** At most this many, because a large body has some megabytes. */
const bodiesAtOnce = 10;

/** Loads the texts of entries, and the answers of calls among them. */
async function loadTexts(view: RunView, records: readonly JournalRecord[]) {
  const texts = new Map<string, string | undefined>();
  const responses = new Map<number, CallResponse>();
  if (!view.hasTexts) return { texts, responses };
  await eachOf(entriesIn(records), bodiesAtOnce, async ({ messageId, body: stored, step }) => {
    if (step?.kind === 'plan') return;
    const body = await loadBody(messageId, stored);
    if (step === undefined) {
      texts.set(messageId, view.text(body));
      return;
    }
    const parsed = parseStep(body);
    if (parsed.kind !== 'result' || parsed.out === undefined) return;
    texts.set(messageId, view.text(parsed.out));
    const response = step.stepType === 'Call' ? responseInResult(view, parsed.out) : undefined;
    if (response !== undefined) responses.set(step.stepId, response);
  });
  return { texts, responses };
}

const failureIn = (end: EndRecord | undefined) => end?.failure && { of: end.failure, at: end.at };

export async function loadRunMessages(
  view: RunView,
  journal: RunJournal,
  end: EndRecord | undefined,
): Promise<readonly RunMessage[]> {
  const { key, start, records } = journal;
  const { accountId } = key;
  const { texts, responses } = await loadTexts(view, records);
  const callRecords = records.filter((record) => record.kind === 'call');
  const loadedCalls = await loadCalls(view, accountId, callRecords, responses);
  const results = [...loadedCalls.values()].flatMap(({ resultId }) => resultId ?? []);
  const messageIds = [
    ...entriesIn(records).map(({ messageId }) => messageId),
    ...records.filter((record) => record.kind === 'upgrade').map(({ messageId }) => messageId),
    ...callRecords.map(({ messageId }) => messageId),
    ...results,
  ];
  const histories = await loadShownHistories(view, accountId, [...new Set(messageIds)], failureIn(end));
  const invoked = await loadInvoked(
    view,
    accountId,
    records.filter((record) => record.kind === 'invoke'),
  );
  const calls = [...loadedCalls].map(([messageId, { resultId, ...call }]): [string, Known] => [
    messageId,
    { ...call, callback: callbackOf(resultId, histories) },
  ]);
  const others = new Map([...calls, ...invoked]);
  const headersOf = view.forwarded.bind(view);
  return runMessagesOf(start, records, { histories, texts, others, headersOf });
}

const callsAtOnce = 5;

/** The messages that a record creates, whose delivery continues the run. */
export const awaitedBy = (record: JournalRecord): readonly string[] =>
  record.kind === 'call' || record.kind === 'upgrade'
    ? [record.messageId]
    : entriesOf(record).map(({ messageId }) => messageId);

/** Loads a run's messages, without the contents of requests and answers. */
export async function loadWithoutTexts({ key, start, records }: RunJournal): Promise<readonly RunMessage[]> {
  const { accountId } = key;
  const answers = new Map<string, string>();
  const calls = records.flatMap((record) => (record.kind === 'call' ? record.messageId : []));
  await eachOf(calls, callsAtOnce, async (messageId) => {
    const { resultId } = answerOf(await loadMessage({ accountId, messageId }));
    if (resultId !== undefined) answers.set(messageId, resultId);
  });
  const ids = [...records.flatMap(awaitedBy), ...answers.values()];
  const view = new RunView(new ShownTexts(-1, 0, stepNameHeader(start)), undefined);
  const histories = await loadShownHistories(view, accountId, [...new Set(ids)], undefined);
  return runMessagesOf(start, records, {
    histories,
    texts: new Map(),
    headersOf: () => [],
    others: new Map(
      [...answers].map(([messageId, resultId]) => [messageId, { callback: callbackOf(resultId, histories) }]),
    ),
  });
}

/** Loads the value that the run's function returned. */
export async function loadResponse(view: RunView, end: EndRecord | undefined): Promise<string | undefined> {
  if (end?.response === undefined || end.responseId === undefined || !view.hasTexts) return undefined;
  return view.text(await loadBody(end.responseId, end.response));
}
