import { formatTable } from '../table.ts';
import { isTooHot, partitionLimits, type KeyLoad } from './keyLoads.ts';

const whole = (units: number): string => Math.round(units).toLocaleString('en');

/** A table of the hottest key of each kind, closest to its limit first. */
export function loadsTable(loads: readonly KeyLoad[]): string {
  const partOf = ({ peak, direction }: KeyLoad): number => peak / partitionLimits[direction];
  const rows = loads
    .toSorted((one, other) => partOf(other) - partOf(one))
    .map((load) => [
      load.place,
      load.kind,
      load.direction,
      whole(load.all),
      whole(load.keys),
      whole(load.mean),
      whole(load.peak),
      whole(partitionLimits[load.direction]),
      isTooHot(load) ? 'too hot' : 'met',
    ]);
  const head = [
    'place',
    'key',
    'units',
    'all a second',
    'keys',
    'hottest',
    'at its peak',
    'limit',
    'verdict',
  ];
  return formatTable(head, rows, 3);
}
