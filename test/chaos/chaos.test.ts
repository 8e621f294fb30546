import { expect, it } from 'vitest';
import { runChaos } from './chaos.ts';

/** The short form; `npm run test:chaos` runs as long as one likes, with any seed. */
it('half a minute of faults, kills and jumps of the clock loses no message and holds up no lane', async () => {
  const lines: string[] = [];
  const say = (line: string): void => {
    lines.push(line);
  };
  const { found, lines: report } = await runChaos({ seed: 1, trafficMs: 30_000, clients: 4, say });
  process.stdout.write(`${report.join('\n')}\n`);
  expect(found, [...lines, ...report].join('\n')).toEqual([]);
});
