import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { chunksOf } from '../../../lambdas/shared/lists.ts';
import { counted, type Answer } from '../../../lambdas/wire/answers.ts';
import { bulk, startedBulk } from '../../../lambdas/wire/bulkAnswers.ts';
import { ask, pagesOf, path, sentenceOf, type Request } from '../api/client.ts';
import { Opens, type SettingsProps, type OpensProps } from '../ui/action.tsx';
import { count as shown, countOf, Visible } from '../ui/basics.tsx';
import { Confirm } from '../ui/dialog.tsx';
import type { SettingTexts } from '../ui/settingTexts.ts';
import { showToast } from '../ui/toast.tsx';

interface DialogProps {
  readonly verb: string;
  /** Such as `resumed`. */
  readonly done: string;
  /** Such as `run`. */
  readonly noun: string;
  /** The path under which the API counts the entries, and the query that selects them. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Undefined if all entries that the query selects are changed. */
  readonly ids?: readonly string[] | undefined;
  /** Entries in a request. In between, the progress is shown and the user can stop. */
  readonly atOnce?: number;
  /** The filters in words; empty if there are none. */
  readonly words?: string | undefined;
  readonly isDangerous?: boolean;
  readonly effect: string;
  readonly settings?: (props: SettingsProps) => ComponentChildren;
  /**
   * Changes the selected entries in parts. Yields the size of each part, or the ids of what was made. The
   * user can stop between parts.
   */
  readonly work: (query: URLSearchParams, texts: SettingTexts) => AsyncIterable<number | readonly string[]>;
  readonly hrefOf?: ((ids: readonly string[]) => string) | undefined;
  /** @param made ids of what was made */
  readonly then?: (made: readonly string[]) => void;
  readonly onClose: (isDone: boolean) => void;
}

type BulkProps = Omit<DialogProps, 'onClose'> & Omit<OpensProps, 'children' | 'then'>;

export const Bulk = ({ name, kind, label, isHidden, ...work }: BulkProps) => (
  <Opens name={name} kind={kind} label={label} isHidden={isHidden}>
    {(onClose) => <BulkDialog {...work} onClose={onClose} />}
  </Opens>
);

function BulkDialog({ verb, done, noun, path, query, isDangerous = false, ...props }: DialogProps) {
  // Kept while the dialogue is open, even if the list changes.
  const [ids] = useState(props.ids);
  const [texts, setTexts] = useState<SettingTexts>({});
  // Entries that are added after the count are not changed.
  const [selected] = useState(() => upToNow(query));
  const { count, isOver = false, error } = useCount(path, selected, ids?.length);
  const [changed, setChanged] = useState(0);
  const isStopped = useRef(false);
  const made = useRef<readonly string[]>([]);
  const number = `${isOver ? '' : 'more than '}${countOf(count, noun)}`;
  const isKnown = isOver || count > 0;
  const work = async (): Promise<undefined> => {
    let sum = 0;
    isStopped.current = false;
    setChanged(sum);
    for (const part of queriesOf(selected, ids, props.atOnce ?? Infinity)) {
      for await (const some of props.work(part, texts)) {
        if (typeof some !== 'number') made.current = [...made.current, ...some];
        sum += typeof some === 'number' ? some : some.length;
        setChanged(sum);
        if (isStopped.current) break;
      }
      if (isStopped.current) break;
    }
    let text = `${countOf(sum, noun)} ${done}`;
    if (isStopped.current) text += '; it was stopped then';
    else if (isOver && sum < count) text += `, ${shown(count - sum)} not`;
    showToast(`${text}.`, 'done', made.current.length === 0 ? undefined : props.hrefOf?.(made.current));
  };
  return (
    <Confirm
      title={isKnown ? `${verb} ${number}?` : `How many to ${verb.toLowerCase()}?`}
      yes={isKnown ? `${verb} ${number}` : verb}
      isDangerous={isDangerous}
      isReady={count > 0}
      onStop={() => {
        isStopped.current = true;
      }}
      onClose={(isDone) => {
        props.onClose(isDone);
        if (isDone) props.then?.(made.current);
      }}
      work={work}
    >
      {(isRunning) => (
        <>
          {/* The values are kept in case the user tries again. */}
          <div class="stack" hidden={isRunning}>
            {props.words !== undefined && props.words !== '' && (
              <p>
                Filter: <Visible text={props.words} />.
              </p>
            )}
            <p>{props.effect}</p>
            {!isOver && error === undefined && (
              <p class="hint" role="status">
                Counting…
              </p>
            )}
            {props.settings?.({ texts, onChange: setTexts })}
          </div>
          {(isRunning || changed > 0) && (
            <div role="status">
              <progress aria-label="Progress" value={changed} max={Math.max(count, changed)} />
              <p>
                {shown(changed)} of {number} {done}
              </p>
            </div>
          )}
          {error !== undefined && (
            <p class="wrong" role="alert">
              {error}
            </p>
          )}
        </>
      )}
    </Confirm>
  );
}

const lookEveryMs = 500;

/**
 * Lets the service do the work in the background, and yields its progress. Ending the loop stops the work.
 */
export async function* inBackground(request: Request, selected: URLSearchParams): AsyncGenerator<number> {
  const query = new URLSearchParams([...selected, ['background', 'true']]);
  const { bulkId } = await ask(startedBulk, { ...request, query });
  const place = { path: path`v2/bulk/${bulkId}` };
  let latest: Answer<typeof bulk> | undefined;
  let done = 0;
  try {
    do {
      if (latest !== undefined) await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      latest = await ask(bulk, place);
      yield latest.done - done;
      ({ done } = latest);
    } while (latest.state === 'running');
    if (latest.error !== undefined) throw new Error(latest.error.error);
  } finally {
    if (latest?.state === 'running') await ask(bulk, { ...place, method: 'DELETE' });
  }
}

function upToNow(query: URLSearchParams): URLSearchParams {
  const selected = new URLSearchParams(query);
  selected.set('toDate', String(Math.min(Number(query.get('toDate') ?? Infinity), Date.now())));
  return selected;
}

interface Count {
  readonly count: number;
  readonly isOver?: boolean;
  readonly error?: string;
}

function useCount(path: string, query: URLSearchParams, known: number | undefined): Count {
  const [state, setState] = useState<Count>(
    known === undefined ? { count: 0 } : { count: known, isOver: true },
  );
  useEffect(() => {
    if (known !== undefined) return undefined;
    const ending = new AbortController();
    const countAll = async (): Promise<void> => {
      let count = 0;
      try {
        for await (const page of pagesOf(counted, { path, query, signal: ending.signal })) {
          count += page.count ?? 0;
          setState({ count });
        }
        setState({ count, isOver: true });
      } catch (error) {
        if (!ending.signal.aborted) setState({ count, error: sentenceOf(error) });
      }
    };
    void countAll();
    return () => {
      ending.abort();
    };
  }, []);
  return state;
}

/** The queries for the parts of a bulk operation. Without ids, the same query is repeated with a cursor. */
function queriesOf(query: URLSearchParams, ids: readonly string[] | undefined, atOnce: number) {
  if (ids !== undefined)
    return chunksOf(ids, atOnce).map((some) => new URLSearchParams({ dlqIds: some.join(',') }));
  return [new URLSearchParams([...query, ...(atOnce === Infinity ? [] : [['count', String(atOnce)]])])];
}
