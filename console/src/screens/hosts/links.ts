/** The addresses of hosts, and their figures in words. */
import { href, type Query } from '../../place.ts';
import { duration } from '../../ui/time.tsx';

/** The page of a host of destinations. */
export const hrefOfHost = (host: string, query: Query = {}): string =>
  href(['overview', 'hosts', host], query);

export const inMs = (ms: number | undefined): string => (ms === undefined ? '–' : duration(ms));

/** A part in per cent; one of very many is not shown as none. */
export const part = (some: number, all: number): string => {
  const percent = Math.round((100 * some) / all);
  return percent === 0 && some > 0 ? '<1 %' : `${percent} %`;
};
