import { expect, it } from 'vitest';
import { isTooHot, type KeyLoad } from '../../bench/simulate/keyLoads.ts';
import { oneAccount } from '../../bench/simulate/scenario.ts';
import { useStandIns } from '../support/useStandIns.ts';

useStandIns();

const shown = ({ place, kind, direction, peak }: KeyLoad): string =>
  `${place}, ${kind}: ${Math.round(peak)} ${direction} units in a second`;

it('An account that publishes 10,000 messages a second never exceeds a partition’s limit on one key', async () => {
  // It reads the environment.
  const { simulate } = await import('../../bench/simulate/simulate.ts');
  const loads = await simulate({ ...oneAccount, seconds: 1 });
  expect(loads.length).toBeGreaterThan(5);
  expect(loads.filter(isTooHot).map(shown)).toEqual([]);
});
