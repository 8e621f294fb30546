import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import { live, onLiveChange } from './live.ts';
import { askUntilFound, problemOf, queryAt, sentenceOf, type Problem, type Request } from './client.ts';
import { Recent, returned } from '../place.ts';
import { count } from '../ui/basics.tsx';
import { forgetFailures, showToast } from '../ui/toast.tsx';

export interface Asked<T> {
  /** The last answer, until the next one arrives. */
  readonly answer: T | undefined;
  readonly cursor: string | undefined;
  readonly error: Problem | undefined;
  readonly again: () => void;
}

/** The interval between requests for data that changes quickly (ms). */
export const oftenMs = 3_000;

/**
 * The pause after each request is at least this many times its duration, so that requests take at most a
 * tenth of the time.
 */
const restFactor = 9;

/**
 * Calls the API, again when the request changes, and regularly with `everyMs`, less often if answers are
 * slow. Does nothing while the page is hidden or updates are paused.
 *
 * @param request undefined if there is nothing to request yet; compared by content
 * @param everyMs 0 or undefined for a single request
 * @param since a change of this repeats the request; the old answer is shown until then
 * @param restOf the shortest pause after an answer, in milliseconds
 */
export function useAsked<Shape extends z.ZodMiniType>(
  shape: Shape,
  request: Request | undefined,
  everyMs = 0,
  since?: string,
  restOf: (answer: Readable<z.infer<Shape>>) => number = () => 0,
): Asked<Readable<z.infer<Shape>>> {
  type T = Readable<z.infer<Shape>>;
  const key = request && keyOf(request);
  const [state, setState] = useState<
    Partial<Omit<Asked<T>, 'again'>> & { readonly key?: string | undefined }
  >({});
  const [round, setRound] = useState(0);
  const latest = useRef({ shape, request, restOf });
  latest.current = { shape, request, restOf };

  useEffect(() => {
    const { shape, request } = latest.current;
    if (request === undefined) return undefined;
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async (): Promise<void> => {
      const begun = performance.now();
      let restMs = 0;
      try {
        const page = await askUntilFound(shape, { ...request, signal: ending.signal });
        restMs = latest.current.restOf(page.answer);
        if (!ending.signal.aborted) setState({ key, ...page });
      } catch (error) {
        if (ending.signal.aborted) return;
        setState((before) => ({ ...(before.key === key ? before : {}), key, error: problemOf(error) }));
      }
      if (everyMs > 0 && !ending.signal.aborted) {
        const pauseMs = Math.max(everyMs, restMs, restFactor * (performance.now() - begun));
        timer = setTimeout(whenSeen, pauseMs);
      }
    };
    let forget = (): void => undefined;
    const whenSeen = (): void => {
      if (document.hidden) document.addEventListener('visibilitychange', whenSeen, { once: true });
      else if (live().isOn) void once();
      else {
        forget = onLiveChange(() => {
          if (!live().isOn) return;
          forget();
          whenSeen();
        });
      }
    };
    void once();
    return () => {
      ending.abort();
      clearTimeout(timer);
      forget();
      document.removeEventListener('visibilitychange', whenSeen);
    };
  }, [key, everyMs, round, since]);

  const again = useCallback(() => {
    setRound((count) => count + 1);
  }, []);
  const { answer, cursor, error } = state.key === key ? state : {};
  return { answer, cursor, error, again };
}

/** A count in words: `12`, `12+` if there may be more, `?` if it is unknown. */
export const countedText = ({
  answer,
  cursor,
}: Asked<{ readonly count?: number | undefined; readonly atLeast?: true | undefined }>): string => {
  const isPart = cursor !== undefined || answer?.atLeast === true;
  return `${count(answer?.count)}${isPart && answer?.count !== undefined ? '+' : ''}`;
};

export const isSettled = ({ answer, error }: Pick<Asked<unknown>, 'answer' | 'error'>): boolean =>
  answer !== undefined || error !== undefined;

/** Whether a condition was ever true. Used to wait only once until everything is loaded. */
export function useOnceTrue(condition: boolean): boolean {
  const ever = useRef(false);
  ever.current ||= condition;
  return ever.current;
}

const keyOf = ({ api, path, query, headers }: Request): string =>
  JSON.stringify([api, path, query instanceof URLSearchParams ? [...query] : query, headers]);

export interface Paged<T> {
  readonly items: readonly T[] | undefined;
  readonly error: Problem | undefined;
  /** Loads the next page; undefined after the last. */
  readonly more: (() => void) | undefined;
  readonly isLoading: boolean;
  /** Whether more than the first page was loaded. Then new entries do not appear. */
  readonly isFurther: boolean;
  /** The number of loaded entries that are no longer shown, before the visible ones. */
  readonly skipped: number;
  readonly again: () => void;
}

/** The most rows on screen, because more would make the page slow. */
const mostShown = 1_000;

/** The pause for each row, in milliseconds: a list with 1,000 rows is reloaded every 30 s. */
const restForRowMs = 30;

interface Loaded<T> {
  readonly key: string;
  readonly answers: readonly T[];
  readonly skipped: number;
  readonly cursor: string | undefined;
}

/** Lists that the user has left, by request. They are shown at once when the user returns. */
const left = new Recent<Loaded<unknown>>(10);

function foundAgain<Shape extends z.ZodMiniType>(shape: Shape, key: string | undefined) {
  const found = key === undefined || returned() === undefined ? undefined : left.get(key);
  if (found === undefined) return undefined;
  const answers = found.answers.flatMap((answer) => {
    const read = shape.safeParse(answer);
    return read.success ? [read.data as Readable<z.infer<Shape>>] : [];
  });
  return { ...found, answers };
}

/**
 * Loads a list page by page. The first page is reloaded every few seconds until the user loads another one,
 * because entries must not move while they are read. In a very long list, the next page replaces earlier
 * ones.
 */
export function usePages<Shape extends z.ZodMiniType, T>(
  shape: Shape,
  request: Request | undefined,
  itemsOf: (page: Readable<z.infer<Shape>>) => readonly T[],
  everyMs = oftenMs,
): Paged<T> & { readonly first: Readable<z.infer<Shape>> | undefined } {
  const key = request && keyOf(request);
  const [loaded, setLoaded] = useState<Loaded<Readable<z.infer<Shape>>> | undefined>(() =>
    foundAgain(shape, key),
  );
  const [failure, setFailure] = useState<Problem>();
  const [isLoading, setLoading] = useState(false);
  const own = loaded?.key === key ? loaded : undefined;
  const restOf = (page: Readable<z.infer<Shape>>): number => restForRowMs * itemsOf(page).length;
  const first = useAsked(shape, request, own === undefined ? everyMs : 0, undefined, restOf);
  useEffect(() => {
    // Rows from an earlier visit are forgotten, because this visit has loaded its own.
    if (own === undefined && key !== undefined) left.delete(key);
  }, [key]);
  const answers = own?.answers ?? (first.answer && [first.answer]);
  const items = useMemo(() => answers?.flatMap((answer) => itemsOf(answer)), [own, first.answer]);
  const cursor = own === undefined ? first.cursor : own.cursor;

  const more = async (): Promise<void> => {
    if (request === undefined || key === undefined || cursor === undefined) return;
    setLoading(true);
    setFailure(undefined);
    try {
      const page = await askUntilFound(shape, { ...request, query: queryAt(cursor, request.query) });
      const [before, next] = [items?.length ?? 0, itemsOf(page.answer).length];
      const isFull = before + next > mostShown;
      const list = {
        key,
        answers: [...(isFull ? [] : (answers ?? [])), page.answer],
        skipped: (own?.skipped ?? 0) + (isFull ? before : 0),
        cursor: page.cursor,
      };
      left.set(key, list);
      setLoaded(list);
    } catch (error) {
      setFailure(problemOf(error));
    }
    setLoading(false);
  };

  return {
    items,
    first: first.answer,
    error: failure ?? first.error,
    more: cursor === undefined ? undefined : () => void more(),
    isLoading:
      isLoading || (first.answer === undefined && first.error === undefined && request !== undefined),
    isFurther: own !== undefined,
    skipped: own?.skipped ?? 0,
    again: () => {
      if (key !== undefined) left.delete(key);
      setLoaded(undefined);
      first.again();
    },
  };
}

/** Changes something. Returns a sentence for the user, or undefined if one was already shown. */
export type Work = () => Promise<string | undefined>;

export interface Action {
  readonly isRunning: boolean;
  readonly error: Problem | undefined;
  /** Runs the work unless other work is running. A toast shows the result. */
  readonly run: (work: Work) => Promise<boolean>;
}

/**
 * Runs a change, which returns a sentence about its result.
 *
 * @param failures where a failure is shown: beside the button, by the caller, or as a toast
 */
export function useAction(failures: 'beside' | 'toast' = 'beside'): Action {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Problem>();
  const running = useRef(false);
  const run = useCallback(async (work: Work) => {
    if (running.current) return false;
    running.current = true;
    setRunning(true);
    setError(undefined);
    forgetFailures();
    try {
      const done = await work();
      if (done !== undefined) showToast(done);
      return true;
    } catch (caught) {
      setError(problemOf(caught));
      if (failures === 'toast') showToast(sentenceOf(caught), 'failure');
      return false;
    } finally {
      running.current = false;
      setRunning(false);
    }
  }, []);
  return { isRunning, error, run };
}
