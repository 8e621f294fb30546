import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import type { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import type { attention } from '../../../lambdas/wire/statsAnswers.ts';
import type { Asked } from './useAsked.ts';

export type Attention = Answer<typeof attention>;
/** A part with a separate search. The search may have stopped at its limit. */
export type AttentionPart = Attention['cut'][number];

const none: Asked<never> = {
  answer: undefined,
  cursor: undefined,
  error: undefined,
  again: () => undefined,
};

/** The account's usage, fetched once for the whole page. The overview shows it, and it includes the user's rights. */
export type Stats = Answer<typeof ownStats>;
export const StatsOf = createContext<Asked<Stats>>(none);

/** Fetched once for the whole page: the overview lists what needs attention, and the navigation shows numbers. */
export const AttentionOf = createContext<Asked<Attention>>(none);
export const useAttention = (): Asked<Attention> => useContext(AttentionOf);
