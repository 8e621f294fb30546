import { href, type Query } from '../../place.ts';
import { duration } from '../../ui/time.tsx';

export const hrefOfHost = (host: string, query: Query = {}): string =>
  href(['overview', 'hosts', host], query);

export const inMs = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));

/** A share in per cent. A small share of a large number is not shown as 0 %. */
export const part = (some: number, all: number): string => {
  const percent = Math.round((100 * some) / all);
  return percent === 0 && some > 0 ? '<1 %' : `${percent} %`;
};
