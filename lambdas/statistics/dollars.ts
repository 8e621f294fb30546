import { settings } from '../aws/settings.ts';

/** Rounded, because sums of prices such as 0.00001 are not exact in binary. */
export const dollarsFor = (messages: number): number =>
  Number((messages * settings.pricePerMessage).toFixed(6));
