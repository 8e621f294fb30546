/**
 * Simulates heavy traffic, prints the hottest key of each table and index, and fails if a key exceeds its partition's limit.
 */
import { Argument } from '@commander-js/extra-typings';
import { argumentsOf, command, parse, wholeNumber } from '../cli/commandLine.ts';
import { startInProcess } from '../test/support/inProcess.ts';
import { messagesPerSecond, oneInTwenty } from './simulate/executions.ts';
import { isTooHot, type KeyLoad, partitionLimits } from './simulate/keyLoads.ts';
import { oneAccount, scenarioFor } from './simulate/scenario.ts';
import { printTable } from './table.ts';

const messages = argumentsOf((args) => {
  const argument = new Argument('[messages]', 'messages in a second')
    .argParser(wholeNumber(100, 1_000_000))
    .default(oneAccount.messagesPerSecond);
  const about = 'Simulates heavy traffic, and prints the hottest key of each table and index.';
  return parse(command('bench:scale', about).addArgument(argument), args).processedArgs[0];
});

const whole = (count: number): string => Math.round(count).toLocaleString('en');

/** Prints the hottest key of each kind, closest to its limit first. */
function printLoads(title: string, loads: readonly KeyLoad[]): void {
  const partOf = ({ peak, direction }: KeyLoad): number => peak / partitionLimits[direction];
  printTable(
    title,
    loads.toSorted((one, other) => partOf(other) - partOf(one)),
    [
      ['place', ({ place }) => place],
      ['key', ({ kind }) => kind],
      ['units', ({ direction }) => direction],
      ['all a second', ({ all }) => whole(all)],
      ['keys', ({ keys }) => whole(keys)],
      ['hottest', ({ mean }) => whole(mean)],
      ['at its peak', ({ peak }) => whole(peak)],
      ['limit', ({ direction }) => whole(partitionLimits[direction])],
      ['verdict', (load) => (isTooHot(load) ? 'too hot' : 'met')],
    ],
    3,
  );
}

const { deployments, scenario } = scenarioFor(messages);
if (deployments > 1)
  console.log(
    `${messages.toLocaleString('en')} messages a second need ${deployments} deployments; this is one of them.`,
  );

// The simulated tables need no server, but the service's modules read the environment.
const inProcess = await startInProcess();
let hot = 0;
try {
  const { simulate } = await import('./simulate/simulate.ts');
  const loads = await simulate(scenario);
  hot = loads.filter(isTooHot).length;
  const from = scenario.accounts === 1 ? 'one account' : `${scenario.accounts} accounts`;
  printLoads(
    `All messages from ${from}: ${scenario.messagesPerSecond} messages a second, for ${scenario.seconds} s`,
    loads,
  );
} finally {
  await inProcess.stop();
}
const without = messagesPerSecond({ ...oneInTwenty, slowShare: 0 }, true);
const together = messagesPerSecond(oneInTwenty, false);
const apart = messagesPerSecond(oneInTwenty, true);
console.log(
  `\nOne message in twenty takes 30 s: the executions of one queue carry ${whole(apart)} messages a second, ${whole(together)} if ` +
    `slow and quick ones shared executions, and ${whole(without)} without slow ones.`,
);
if (apart < without / 2) {
  console.log('Slow messages take more than half of the throughput.');
  process.exitCode = 1;
}
if (hot > 0) {
  console.log(`\n${hot} keys get more than one partition takes.`);
  process.exitCode = 1;
}
