import { expect, it } from 'vitest';
import { measureGrowth } from '../../../bench/growth/grow.ts';
import { grown } from '../../../bench/growth/print.ts';
import { startWorld } from '../../../bench/world.ts';

/** `npm run bench -- --growth` looks at 100,000. */
it('a message costs as many calls, and as much, with 2,000 others as with 100, waiting, failed or in a line', async () => {
  const world = await startWorld();
  try {
    const growths = await measureGrowth(world, { levels: [100, 2_000], measuresCpu: false });
    expect(new Set(growths.map(({ there }) => there))).toEqual(new Set([100, 2_000]));
    expect(growths).toHaveLength(6);
    for (const { calls } of growths) {
      expect(calls.publish).toBeGreaterThanOrEqual(3);
      expect(calls.deliver).toBeGreaterThanOrEqual(2);
    }
    expect(grown(growths)).toEqual([]);
  } finally {
    await world.close();
  }
});
