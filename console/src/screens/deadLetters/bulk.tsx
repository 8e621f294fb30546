/** Retrying and deleting dead letters, one or many. */
import { useRef, useState } from 'preact/hooks';
import { deadLetterCount, deleted, retriedPage } from '../../../../lambdas/api/answers.ts';
import { ask } from '../../api/client.ts';
import { useAction, useAsked } from '../../api/useAsked.ts';
import { Button, ButtonLink, count, countOf, Failure, Loading } from '../../ui/basics.tsx';
import { Dialog, DialogEnd } from '../../ui/dialog.tsx';
import { SettingFields, settingHeaders, type SettingTexts } from '../../ui/settings.tsx';
import { hrefOfMessages } from '../messages/links.ts';

interface Verb {
  readonly verb: 'retry' | 'delete';
}
/** Those with these ids. */
interface OfIds extends Verb {
  readonly ids: readonly string[];
}
/** All that match a filter. */
interface OfQuery extends Verb {
  readonly ids?: undefined;
  readonly query: URLSearchParams;
  /** What the filter looks for; empty where it has all. */
  readonly words: string;
}
export type Bulk = OfIds | OfQuery;

/** Dead letters of one request: between two requests there is progress to show, and a moment to stop at. */
const atOnce = 100;

const letters = (value: number): string => countOf(value, 'dead letter');

interface BulkProps {
  readonly bulk: Bulk;
  /** @param isChanged whether dead letters may be gone */
  readonly onClose: (isChanged: boolean) => void;
}

/** Says how many there are, asks, does it request by request, and says how far it came. */
export function BulkDialog({ bulk, onClose }: BulkProps) {
  const counted = useAsked(
    deadLetterCount,
    bulk.ids === undefined ? { path: 'v2/dlq/count', query: bulk.query } : undefined,
  );
  const total = bulk.ids === undefined ? counted.answer?.count : bulk.ids.length;
  const number =
    total === undefined ? '' : counted.cursor === undefined ? letters(total) : `more than ${letters(total)}`;
  const [texts, setTexts] = useState<SettingTexts>({});
  const [done, setDone] = useState<Done>();
  const isStopped = useRef(false);
  const action = useAction();
  const isRetry = bulk.verb === 'retry';
  const did = isRetry ? 'sent again' : 'deleted';

  const work = async (): Promise<undefined> => {
    isStopped.current = false;
    const headers = isRetry ? settingHeaders(texts) : [];
    let sum: Done = { count: 0, messageIds: [], isEnded: false };
    setDone(sum);
    for (const query of queriesOf(bulk)) {
      let cursor: string | undefined;
      do {
        const step = await take(bulk.verb, query, headers, cursor);
        cursor = step.cursor;
        sum = {
          ...sum,
          count: sum.count + step.count,
          messageIds: [...sum.messageIds, ...step.messageIds],
        };
        setDone(sum);
      } while (cursor !== undefined && !isStopped.current);
      if (isStopped.current) break;
    }
    setDone({ ...sum, isEnded: true });
  };
  const close = (): void => {
    if (action.isRunning) isStopped.current = true;
    else onClose(done !== undefined);
  };

  return (
    <Dialog title={isRetry ? 'Retry dead letters' : 'Delete dead letters'} onClose={close}>
      {done?.isEnded === true ? (
        <Outcome {...{ done, total, did }} isStopped={isStopped.current} onClose={close} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void action.run(work);
          }}
        >
          {counted.error !== undefined && <Failure error={counted.error} again={counted.again} />}
          {total === undefined && counted.error === undefined && <Loading />}
          {total === 0 && <p>No dead letter matches the filters any more.</p>}
          {total !== undefined && total > 0 && done === undefined && (
            <p>
              {isRetry ? 'This sends ' : 'This deletes '}
              <strong>{number}</strong>
              {bulk.ids === undefined && (bulk.words === '' ? ' (all there are)' : ` (${bulk.words})`)}
              {isRetry ? ' again, as new messages.' : ', for good.'}
            </p>
          )}
          {isRetry && done === undefined && (
            <details>
              <summary>Change settings</summary>
              <p class="hint">What is left empty stays as it was.</p>
              <SettingFields texts={texts} onChange={setTexts} without={['Queue-Name']} method="As it was" />
            </details>
          )}
          {done !== undefined && (
            <Progress text={`${count(done.count)} of ${number} ${did}`} value={done.count} max={total} />
          )}
          {action.isRunning ? (
            <footer class="dialog-end">
              <Button onClick={close}>Stop</Button>
            </footer>
          ) : (
            <DialogEnd
              action={action}
              onClose={close}
              yes={isRetry ? `Retry ${number}` : `Delete ${number}`}
              isReady={total !== undefined && total > 0}
              isDangerous={!isRetry}
            />
          )}
        </form>
      )}
    </Dialog>
  );
}

interface Done {
  readonly count: number;
  /** Of the new messages. */
  readonly messageIds: readonly string[];
  readonly isEnded: boolean;
}

/** The queries of a bulk operation; each is one or more requests. */
const queriesOf = (bulk: Bulk): readonly URLSearchParams[] =>
  bulk.ids === undefined
    ? [bulk.query]
    : Array.from(
        { length: Math.ceil(bulk.ids.length / atOnce) },
        (_, index) =>
          new URLSearchParams({ dlqIds: bulk.ids.slice(index * atOnce, (index + 1) * atOnce).join(',') }),
      );

/** Retries or deletes the next of those that match. */
async function take(
  verb: Bulk['verb'],
  match: URLSearchParams,
  headers: readonly (readonly [string, string])[],
  cursor = '',
) {
  const query = new URLSearchParams([...match, ['count', String(atOnce)], ['cursor', cursor]]);
  if (verb === 'delete') {
    const answer = await ask(deleted, { method: 'DELETE', path: 'v2/dlq', query });
    return { count: answer.deleted, messageIds: [], cursor: answer.cursor };
  }
  const answer = await ask(retriedPage, { method: 'POST', path: 'v2/dlq/retry', query, headers });
  const messageIds = answer.responses.map(({ messageId }) => messageId);
  return { count: messageIds.length, messageIds, cursor: answer.cursor };
}

function Progress({
  text,
  value,
  max,
}: {
  readonly text: string;
  readonly value: number;
  readonly max: number | undefined;
}) {
  return (
    <div role="status">
      <progress aria-label="Progress" max={Math.max(max ?? 0, value, 1)} value={value} />
      <p>{text}</p>
    </div>
  );
}

/** How it ended, and where the new messages are. */
function Outcome({
  done,
  total = 0,
  did,
  isStopped,
  onClose,
}: {
  readonly done: Done;
  readonly total: number | undefined;
  readonly did: string;
  readonly isStopped: boolean;
  readonly onClose: () => void;
}) {
  const { messageIds } = done;
  const left = total - done.count;
  return (
    <div class="stack">
      <p role="status">
        {isStopped && 'Stopped. '}
        {letters(done.count)} {done.count === 1 ? 'was' : 'were'} {did}.
        {!isStopped && left > 0 && ` ${count(left)} could not be ${did}, or were gone before.`}
      </p>
      <footer class="dialog-end">
        <Button onClick={onClose}>Close</Button>
        {messageIds.length > 0 && (
          <ButtonLink kind="main" href={hrefOfMessages(messageIds)}>
            {messageIds.length === 1 ? 'See the new message' : 'See the new messages'}
          </ButtonLink>
        )}
      </footer>
    </div>
  );
}
