/** Asks once for the whole page what needs attention: the overview has it in words, the navigation in numbers. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import type { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import { attention } from '../../../lambdas/wire/statsAnswers.ts';
import { useAsked, type Asked } from './useAsked.ts';

export type Attention = Answer<typeof attention>;
/** A part with a separate search, whose result may be cut. */
export type AttentionPart = Attention['cut'][number];

/** The answer reads up to a thousand of each thing, so it is asked for less often than a list. */
const everyMs = 30_000;

/**
 * @param isOn whether there are credentials to ask with
 * @param screen a change of it asks again: the user may have seen to something on the screen before
 */
export const useAskedAttention = (isOn: boolean, screen: string | undefined): Asked<Attention> =>
  useAsked(attention, isOn ? { path: 'v2/stats/attention' } : undefined, everyMs, screen);

const none: Asked<never> = {
  answer: undefined,
  cursor: undefined,
  error: undefined,
  again: () => undefined,
};

/** The account's usage. It is fetched once for the whole page: the overview shows it, and the frame reads the user's rights from it. */
export type Stats = Answer<typeof ownStats>;
export const StatsOf = createContext<Asked<Stats>>(none);

export const AttentionOf = createContext<Asked<Attention>>(none);
export const useAttention = (): Asked<Attention> => useContext(AttentionOf);
