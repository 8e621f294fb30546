import { settings } from '../aws/settings.ts';

/** Computes what messages cost. Sums of prices such as 0.00001 dollars would show the error of binary fractions. */
export const dollarsFor = (messages: number): number =>
  Number((messages * settings.pricePerMessage).toFixed(6));
