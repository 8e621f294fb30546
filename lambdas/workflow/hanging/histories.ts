/** The histories of a run's messages, without the contents of messages and answers. */
import { callbackIdsOf } from '../../message/consequenceIds.ts';
import { loadMessage } from '../../message/history.ts';
import { isFinal } from '../../message/message.ts';
import { eachOf } from '../../shared/lists.ts';
import { runMessagesOf } from '../log/rules/fromJournal.ts';
import type { RunMessage } from '../log/rules/runRecord.ts';
import { ShownTexts } from '../log/rules/shownTexts.ts';
import { loadShownHistories } from '../log/runHistories.ts';
import { RunView, stepNameHeader } from '../log/runView.ts';
import { entriesOf } from '../rules/entry.ts';
import type { JournalRecord } from '../rules/journal.ts';
import type { RunJournal } from '../runs/loadRun.ts';

const callsAtOnce = 5;

/** The messages that must be delivered after a record. */
export const awaitedBy = (record: JournalRecord): readonly string[] =>
  record.kind === 'call' || record.kind === 'upgrade'
    ? [record.messageId]
    : entriesOf(record).map(({ messageId }) => messageId);

export async function loadWithoutTexts({ key, start, records }: RunJournal): Promise<readonly RunMessage[]> {
  const { accountId } = key;
  const answers = new Map<string, string>();
  const calls = records.flatMap((record) => (record.kind === 'call' ? record.messageId : []));
  await eachOf(calls, callsAtOnce, async (messageId) => {
    const history = await loadMessage({ accountId, messageId });
    const attempt = history?.attempts.find((one) => isFinal(one) && one.state !== 'CANCELED');
    if (history === undefined || attempt === undefined) return;
    for (const resultId of callbackIdsOf({ history, attempt })) answers.set(messageId, resultId);
  });
  const ids = [...records.flatMap(awaitedBy), ...answers.values()];
  const view = new RunView(new ShownTexts(-1, 0, stepNameHeader(start)), undefined);
  const histories = await loadShownHistories(view, accountId, [...new Set(ids)], undefined);
  const { maxRetries, retryDelay } = start.settings;
  return runMessagesOf(start, records, {
    histories,
    texts: new Map(),
    invoked: new Map(),
    headersOf: () => [],
    calls: new Map(
      [...answers].map(([messageId, resultId]) => {
        const callback = { messageId: resultId, failures: [], ...histories.get(resultId) };
        return [messageId, { maxRetries, retryDelay, headers: [], callback }];
      }),
    ),
  });
}
