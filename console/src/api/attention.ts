import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Answer } from '../../../lambdas/wire/answers.ts';
import type { ownStats } from '../../../lambdas/wire/accountAnswers.ts';
import type { attention } from '../../../lambdas/wire/statsAnswers.ts';
import type { Asked } from './useAsked.ts';

export type Attention = Answer<typeof attention>;
/** A part for which the API searches separately. The search may have stopped at its limit. */
export type AttentionPart = Attention['cut'][number];

const none: Asked<never> = {
  answer: undefined,
  cursor: undefined,
  error: undefined,
  again: () => undefined,
};

/** The account's usage and the token's rights, fetched once for the whole page. */
export type Stats = Answer<typeof ownStats>;
export const StatsOf = createContext<Asked<Stats>>(none);

/** Fetched once for the whole page: the overview lists these things, and the navigation counts them. */
export const AttentionOf = createContext<Asked<Attention>>(none);
export const useAttention = (): Asked<Attention> => useContext(AttentionOf);
