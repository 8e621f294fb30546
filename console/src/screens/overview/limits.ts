/** The account's limits, and those that its usage is near. */
import type { Answer } from '../../../../lambdas/wire/answers.ts';
import type { ownStats } from '../../../../lambdas/wire/accountAnswers.ts';
import { href } from '../../place.ts';
import { count, dollars } from '../../ui/basics.tsx';

export type Usage = Answer<typeof ownStats>;

interface UsedLimit {
  readonly label: string;
  readonly value: number;
  /** 0 if there is no limit. */
  readonly most: number;
  /** Says what the service does at the limit. */
  readonly note: string;
  readonly show?: (value: number) => string;
  /** The screen that shows what uses the limit up. */
  readonly address: string;
  /** Whether reaching the limit is no problem, because the rest waits. */
  readonly isFullFine?: boolean;
}

export const usedLimits = ({ today, month, limits, inFlight, deadLetters }: Usage): readonly UsedLimit[] => [
  {
    label: 'Messages today, soft limit',
    value: today.requests,
    most: limits.max_requests_per_day,
    note: 'Callbacks do not count. Above this, answers have a warning.',
    address: href(['messages']),
  },
  {
    label: 'Messages today, hard limit',
    value: today.requests,
    most: limits.max_requests_per_day_hard,
    note: 'Callbacks do not count. Above this, messages are refused.',
    address: href(['messages']),
  },
  {
    label: 'Dead letters and failed runs',
    value: deadLetters,
    most: limits.max_dlq_size,
    note: 'New ones replace the oldest.',
    address: href(['dead-letters']),
  },
  {
    label: 'Cost this month, budget',
    value: month.cost,
    most: month.budget,
    note: month.budget === 0 ? 'There is no budget.' : 'Above this, messages are refused.',
    show: dollars,
    address: href(['messages']),
  },
  {
    label: 'Deliveries in flight',
    value: inFlight,
    most: limits.max_global_parallelism,
    note: 'More than this wait.',
    address: href(['flow-control']),
    isFullFine: true,
  },
];

/** A limit is near from this share on. */
const near = 0.8;

export const nearLimits = (usage: Usage): readonly { readonly text: string; readonly address: string }[] =>
  usedLimits(usage).flatMap(({ label, value, most, show = count, address, isFullFine = false }) =>
    isFullFine || most === 0 || value < near * most
      ? []
      : [{ text: `${label}: ${show(value)} of ${show(most)}`, address }],
  );
