/** `npm run test:chaos -- --minutes 10 --seed 1` */
import { argumentsOf, command, parse, textLike, wholeNumber } from '../../cli/commandLine.ts';
import { runChaos } from './chaos.ts';

const about = `Has clients use the service while its parts fail: CONTRIBUTING.md says what it does. It exits with 0 when all
holds, with 1 when something does not, and with 2 when the run could not be made.`;

const { minutes, seed, processes, clients, branches } = argumentsOf((args) =>
  parse(
    command('test:chaos', about)
      .option(
        '--minutes <number>',
        'how long the traffic and the faults go on',
        (text) => Number(textLike(/^\d*[1-9]\d*$|^\d+\.\d*[1-9]\d*$/, 'a number above 0')(text)),
        10,
      )
      .option(
        '--seed <number>',
        'decides what goes wrong, and what clients ask for',
        wholeNumber(0, 999_999_999),
        1,
      )
      .option('--processes <number>', 'how many processes share the work', wholeNumber(1, 8), 1)
      .option('--clients <number>', 'how many clients there are side by side', wholeNumber(1, 99), 6)
      .option(
        '--branches <number>',
        'how many parallel steps the large run has',
        wholeNumber(1, 10_000),
        900,
      ),
    args,
  ).opts(),
);

try {
  const { found, lines } = await runChaos({
    trafficMs: minutes * 60_000,
    seed,
    processes,
    clients,
    branches,
    say: (line) => {
      console.log(line);
    },
  });
  for (const line of lines) console.log(line);
  for (const sentence of found) console.log(`WRONG: ${sentence}`);
  console.log(found.length === 0 ? 'All holds.' : `${found.length} things do not hold.`);
  process.exit(found.length === 0 ? 0 : 1);
} catch (error) {
  console.error(error);
  process.exit(2);
}
