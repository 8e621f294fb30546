/** `npm run test:chaos -- --minutes 10 --seed 1` */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';

const usage = `Usage: npm run test:chaos -- [--minutes <number>] [--seed <whole number>] [--clients <whole number>]

  --minutes   how long the traffic and the faults go on; 10 by default
  --seed      decides what goes wrong, and what clients ask for; 1 by default
  --clients   how many clients there are side by side, 1 to 99; 6 by default

It exits with 0 when all holds, with 1 when something does not, and with 2 when the run could not be made.
docs/failures.md#chaos says what it does.`;

function options() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      clients: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const { minutes = '10', seed = '1', clients = '6', help = false } = values;
  if (help) return 'help';
  if (!(Number(minutes) > 0)) throw new TypeError(`--minutes is a number above 0, not '${minutes}'.`);
  if (!/^\d{1,9}$/.test(seed))
    throw new TypeError(`--seed is a whole number of up to 9 digits, not '${seed}'.`);
  if (!/^[1-9]\d?$/.test(clients))
    throw new TypeError(`--clients is a whole number from 1 to 99, not '${clients}'.`);
  return { trafficMs: Number(minutes) * 60_000, seed: Number(seed), clients: Number(clients) };
}

try {
  const given = options();
  if (given === 'help') {
    console.log(usage);
    process.exit(0);
  }
  const { found, lines } = await runChaos({
    ...given,
    say: (line) => {
      console.log(line);
    },
  });
  for (const line of lines) console.log(line);
  for (const sentence of found) console.log(`WRONG: ${sentence}`);
  console.log(found.length === 0 ? 'All holds.' : `${found.length} things do not hold.`);
  process.exit(found.length === 0 ? 0 : 1);
} catch (error) {
  const isUsage = error instanceof TypeError && (error.message.startsWith('--') || 'code' in error);
  console.error(isUsage ? `${error.message}\n${usage}` : error);
  process.exit(2);
}
