/** The log of one run: made of its journal, and of what was recorded of its messages. */
import { jsonBytes } from '../../wire/answerSize.ts';
import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { now } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import { eachOf } from '../../shared/lists.ts';
import { failedStepName } from '../delivery/endpointAnswer.ts';
import type { EndRecord, JournalRecord, ListedEntry } from '../rules/journal.ts';
import { cutMessages, cuts, textCut, type Cut } from './rules/cutting.ts';
import { runMessagesOf, type KnownCall } from './rules/fromJournal.ts';
import { stepGroups } from './rules/groups.ts';
import type { CallResponse, History, RunMessage } from './rules/runRecord.ts';
import { ShownTexts } from './rules/shownTexts.ts';
import { parseStep } from '../rules/step.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadShownFailureFunction } from './failureFunctionLog.ts';
import { loadCalls, loadInvoked, responseInResult } from './runCalls.ts';
import { loadShownHistories } from './runHistories.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import { RunView, stepNameHeader } from './runView.ts';

export type ShownRun = Answer<typeof answers.workflowRun>;

const isKind =
  <K extends JournalRecord['kind']>(kind: K) =>
  (record: JournalRecord): record is Extract<JournalRecord, { readonly kind: K }> =>
    record.kind === kind;

/** All entries, a result that came after the end too. */
const entriesIn = (records: readonly JournalRecord[]): readonly ListedEntry[] =>
  records.flatMap((record) => {
    if (record.kind === 'steps') return record.entries;
    return record.kind === 'start' || record.kind === 'lateResult' ? [record.entry] : [];
  });

/** Bodies of entries that are read at once. A large one has some megabytes. */
const bodiesAtOnce = 10;

/** Reads the texts of entries, and the answers to calls that are among them. */
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

async function loadRunMessages(
  view: RunView,
  journal: RunJournal,
  end: EndRecord | undefined,
): Promise<readonly RunMessage[]> {
  const { key, start, records } = journal;
  const { accountId } = key;
  const { texts, responses } = await loadTexts(view, records);
  const callRecords = records.filter(isKind('call'));
  const loadedCalls = await loadCalls(view, accountId, callRecords, responses);
  const results = [...loadedCalls.values()].flatMap(({ resultId }) => resultId ?? []);
  const messageIds = [
    ...entriesIn(records).map(({ messageId }) => messageId),
    ...records.filter(isKind('upgrade')).map(({ messageId }) => messageId),
    ...callRecords.map(({ messageId }) => messageId),
    ...results,
  ];
  const histories = await loadShownHistories(view, accountId, [...new Set(messageIds)], failureIn(end));
  const calls = new Map(
    [...loadedCalls].map(([messageId, { resultId, ...call }]): [string, KnownCall] => {
      const history: History = (resultId === undefined ? undefined : histories.get(resultId)) ?? {
        failures: [],
      };
      const callback = resultId === undefined ? undefined : { messageId: resultId, ...history };
      return [messageId, { ...call, callback }];
    }),
  );
  const invoked = await loadInvoked(view, accountId, records.filter(isKind('invoke')));
  const headersOf = view.forwarded.bind(view);
  return runMessagesOf(start, records, { histories, texts, calls, invoked, headersOf });
}

/** Reads what the function returned, as it is shown. */
async function loadResponse(view: RunView, end: EndRecord | undefined): Promise<string | undefined> {
  if (end?.response === undefined || end.responseId === undefined || !view.hasTexts) return undefined;
  return view.text(await loadBody(end.responseId, end.response));
}

/** Leaves out the last steps of a run, so many that the others fit. */
function withFirstSteps(run: ShownRun, mostBytes: number): ShownRun {
  let bytes = jsonBytes({ ...run, steps: [] });
  const place = run.steps.findIndex((group) => {
    bytes += jsonBytes(group) + 1;
    return bytes > mostBytes;
  });
  return { ...run, steps: run.steps.slice(0, place) };
}

/**
 * Reads the log of a run. Where all of it would be too long for an answer, the texts in it are cut, then its headers are left
 * out, and at last the steps that do not fit.
 *
 * @param trimBody bytes that are shown of each text; −1 for none, Infinity for all
 * @param mostBytes bytes of JSON that the answer has room for
 */
export async function loadRunLog(
  journal: RunJournal,
  trimBody: number,
  mostBytes: number,
): Promise<ShownRun> {
  const { key, start, snapshot, records } = journal;
  const { settings } = start;
  const stepName = stepNameHeader(start);
  const view = new RunView(new ShownTexts(trimBody, mostBytes, stepName), settings.redaction);
  const end = records.find(isKind('end'));
  const [messages, response, failureFunction] = [
    await loadRunMessages(view, journal, end),
    await loadResponse(view, end),
    await loadShownFailureFunction(view, journal, end),
  ];
  const stepNameOf = ({ failures }: History): string | undefined => {
    const last = failures.at(-1);
    return last && failedStepName(start.prefix, last);
  };
  const show = (cut: Cut): ShownRun => ({
    workflowRunId: key.runId,
    workflowUrl: shownUrl(start.url),
    workflowState: snapshot.state,
    workflowRunCreatedAt: snapshot.createdAt,
    workflowRunCompletedAt: end?.at,
    workflowRunResponse: textCut(cut)(response),
    workflowRunCallerIp: start.callerIp,
    invoker: start.invoker && {
      workflowRunId: start.invoker.runId,
      workflowUrl: shownUrl(start.invoker.url),
      workflowRunCreatedAt: start.invoker.createdAt,
    },
    failureFunction: failureFunction?.(cut),
    dlqId: end?.failure?.dlqId,
    label: settings.labels[0],
    labels: settings.labels.length === 0 ? undefined : settings.labels,
    flowControlKey: settings.flowControl?.key,
    steps: stepGroups(
      { state: snapshot.state, messages: cutMessages(messages, cut, stepName) },
      stepNameOf,
      end?.at ?? now(),
    ),
  });
  let shown = show(cuts[0]);
  for (const cut of cuts.slice(1)) {
    if (jsonBytes(shown) <= mostBytes) return shown;
    shown = show(cut);
  }
  return jsonBytes(shown) <= mostBytes ? shown : withFirstSteps(shown, mostBytes);
}
