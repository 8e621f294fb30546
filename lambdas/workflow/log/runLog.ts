import { jsonBytes } from '../../wire/answerSize.ts';
import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { now } from '../../shared/clock.ts';
import { shownUrl } from '../../shared/urlCredentials.ts';
import type { RunWait } from '../../wire/states.ts';
import type { RunIdentity } from '../../wire/workflowFilters.ts';
import { shownName } from '../../shared/headers.ts';
import { cutMessages, cuts, cutter, type Cut } from './rules/cutting.ts';
import { stepGroups } from './rules/groups.ts';
import { loadShownRequests } from './requestsLog.ts';
import { otherFailure } from './runHistories.ts';
import { ShownTexts } from './rules/shownTexts.ts';
import { loadShownFailureFunction } from './failureFunctionLog.ts';
import type { RunJournal } from '../runs/loadRun.ts';
import { loadResponse, loadRunMessages } from './runMessages.ts';
import { RunView, stepNameHeader } from './runView.ts';

export type ShownRun = Answer<typeof answers.workflowRun>;

export interface ShownStep {
  readonly state: string;
  readonly messageId: string;
  readonly stepType?: string | undefined;
}

export function waitsOf(
  { workflowState, hanging }: ShownRun,
  steps: readonly ShownStep[],
): readonly RunWait[] {
  const active = steps.filter(({ state }) => workflowState === 'RUN_STARTED' && state === 'STEP_PROGRESS');
  const has = (type: RegExp): boolean => active.some(({ stepType = '' }) => type.test(stepType));
  return [
    ...(hanging === undefined ? [] : (['RUN_HANGING'] as const)),
    ...(has(/^Sleep/) ? (['RUN_SLEEPING'] as const) : []),
    ...(has(/^Wait/) ? (['RUN_WAITING'] as const) : []),
  ];
}

const identityOf = ({ runId, createdAt }: RunIdentity) => ({
  workflowRunId: runId,
  workflowRunCreatedAt: createdAt,
});

function withFirstSteps(run: ShownRun, mostBytes: number): ShownRun {
  let bytes = jsonBytes({ ...run, steps: [] });
  const place = run.steps.findIndex((group) => {
    bytes += jsonBytes(group) + 1;
    return bytes > mostBytes;
  });
  return { ...run, steps: run.steps.slice(0, place) };
}

/**
 * Makes the log of a run. If it is too long for an answer, its texts are shortened, then its headers are omitted, then its last
 * steps.
 *
 * @param hasRequests whether the requests to its endpoint are shown
 * @param trimBody bytes shown of each text; −1 for none, Infinity for all
 * @param mostBytes bytes of JSON in an answer
 */
export async function loadRunLog(
  journal: RunJournal,
  hasRequests: boolean,
  trimBody: number,
  mostBytes: number,
): Promise<ShownRun> {
  const { key, start, snapshot, records } = journal;
  const { settings } = start;
  const [first] = records;
  const stepName = stepNameHeader(start);
  const view = new RunView(new ShownTexts(trimBody, mostBytes, stepName), settings.redaction);
  const end = records.find((record) => record.kind === 'end');
  const [messages, response, failureFunction] = [
    await loadRunMessages(view, journal, end),
    await loadResponse(view, end),
    await loadShownFailureFunction(view, journal, end),
  ];
  const stepNameShown = shownName(stepName);
  const failure = otherFailure(view, records, messages, end);
  const requests = await loadShownRequests(journal, messages, end, failure, hasRequests);
  const show = (cut: Cut): ShownRun => ({
    workflowRunId: key.runId,
    workflowUrl: shownUrl(start.url),
    workflowState: snapshot.state,
    workflowRunCreatedAt: snapshot.createdAt,
    workflowRunCompletedAt: end?.at,
    workflowRunResponse: cutter(cut).text(response),
    workflowRunCallerIp: start.callerIp,
    invoker: start.invoker && {
      workflowRunId: start.invoker.runId,
      workflowUrl: shownUrl(start.invoker.url),
      workflowRunCreatedAt: start.invoker.createdAt,
    },
    resumedFrom: start.resumes && identityOf(start.resumes),
    resumedAs: first.resumedAs && identityOf(first.resumedAs),
    failureFunction: failureFunction?.(cut),
    dlqId: end?.failure?.dlqId,
    label: settings.labels[0],
    labels: settings.labels.length === 0 ? undefined : settings.labels,
    flowControlKey: settings.flowControl?.key,
    ...requests(cut),
    steps: stepGroups(
      snapshot.state,
      cutMessages(messages, cut, stepNameShown),
      failure,
      stepNameShown,
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
