/** A change of all that match the filters of a list. It says first how many they are. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { counted } from '../../../lambdas/api/answers.ts';
import { pagesOf, sentenceOf } from '../api/client.ts';
import { countOf } from './basics.tsx';
import { Confirm } from './dialog.tsx';

interface BulkProps {
  /** Names the change: `Resume`. */
  readonly verb: string;
  /** Says that it was made: `resumed`. */
  readonly done: string;
  /** What one of them is called: `run`. */
  readonly noun: string;
  /** The path at which the API counts them, and the query that selects them. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isDangerous?: boolean;
  /** Says what will happen. */
  readonly children: ComponentChildren;
  /** Makes the change part by part, and tells how many each part was. */
  readonly work: (query: URLSearchParams) => AsyncIterable<number>;
  readonly onClose: (isDone: boolean) => void;
}

export function Bulk({ verb, done, noun, path, query, isDangerous = false, work, ...props }: BulkProps) {
  // What comes after it was counted is left alone.
  const [selected] = useState(() => upToNow(query));
  const { count, isOver, error } = useCount(path, selected);
  const number = countOf(count, noun);
  return (
    <Confirm
      title={`${verb} ${isOver || error !== undefined ? number : `… (${number} so far)`}?`}
      yes={`${verb} ${number}`}
      isDangerous={isDangerous}
      isReady={isOver && count > 0}
      onClose={props.onClose}
      work={async () => {
        let changed = 0;
        for await (const some of work(selected)) changed += some;
        return `${countOf(changed, noun)} ${done}.`;
      }}
    >
      {props.children}
      {error !== undefined && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
    </Confirm>
  );
}

function upToNow(query: URLSearchParams): URLSearchParams {
  const selected = new URLSearchParams(query);
  selected.set('toDate', String(Math.min(Number(query.get('toDate') ?? Infinity), Date.now())));
  return selected;
}

interface Count {
  readonly count: number;
  /** Whether all are counted. */
  readonly isOver?: boolean;
  readonly error?: string;
}

function useCount(path: string, query: URLSearchParams): Count {
  const [state, setState] = useState<Count>({ count: 0 });
  useEffect(() => {
    const ending = new AbortController();
    const countAll = async (): Promise<void> => {
      let count = 0;
      try {
        for await (const page of pagesOf(counted, { path, query, signal: ending.signal })) {
          count += page.count;
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
