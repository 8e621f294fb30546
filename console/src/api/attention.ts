/** Asks what needs attention, once for the whole page: the overview lists it, and the navigation shows numbers. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import type { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { attention } from '../../../lambdas/wire/statsAnswers.ts';
import { useAsked, type Asked } from './useAsked.ts';

export type Attention = Answer<typeof attention>;
/** A part with a separate search. The search may have stopped at its limit. */
export type AttentionPart = Attention['cut'][number];

/** An answer reads up to 1,000 things of each kind, so it is requested less often than a list. */
const everyMs = 30_000;

/**
 * @param isOn whether the user is signed in
 * @param screen a change repeats the request, because the user may have fixed something there
 */
export const useAskedAttention = (isOn: boolean, screen: string | undefined): Asked<Attention> =>
  useAsked(attention, isOn ? { path: 'v2/stats/attention' } : undefined, everyMs, screen);

const none: Asked<never> = {
  answer: undefined,
  cursor: undefined,
  error: undefined,
  again: () => undefined,
};

/** The account's usage, fetched once for the whole page. The overview shows it, and it includes the user's rights. */
export type Stats = Answer<typeof ownStats>;
export const StatsOf = createContext<Asked<Stats>>(none);

export const AttentionOf = createContext<Asked<Attention>>(none);
export const useAttention = (): Asked<Attention> => useContext(AttentionOf);
