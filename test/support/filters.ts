import type { Filter } from '../../lambdas/wire/filters.ts';

/** The filter of a whole list. */
export const noFilter: Filter = {
  ids: undefined,
  fromDate: undefined,
  toDate: undefined,
  count: undefined,
  cursor: undefined,
  order: undefined,
  values: new Map(),
};
