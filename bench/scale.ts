/**
 * Simulates heavy traffic, prints the hottest key of each table and index, and fails if a key exceeds its partition's limit.
 */
import { Argument, Option } from '@commander-js/extra-typings';
import { argumentsOf, command, parse, wholeNumber } from '../cli/commandLine.ts';
import { startInProcess } from '../test/support/inProcess.ts';
import { messagesPerSecond, oneInTwenty } from './simulate/executions.ts';
import { isTooHot } from './simulate/keyLoads.ts';
import { loadsTable } from './simulate/printLoads.ts';
import {
  mostOfAccount,
  mostOfDeployment,
  scenariosFor,
  tenThousand,
  type Scenario,
} from './simulate/scenario.ts';
import { simulate } from './simulate/simulate.ts';

const given = argumentsOf((args) => {
  const argument = new Argument('[messages]', 'messages in a second')
    .argParser(wholeNumber(100, 1_000_000))
    .default(tenThousand.messagesPerSecond);
  const option = new Option(
    '--account <messages>',
    'messages in a second of the largest account; more than a deployment gets from one are spread over several',
  )
    .argParser(wholeNumber(100, mostOfDeployment))
    .default(mostOfAccount);
  const about = 'Simulates heavy traffic, and prints the hottest key of each table and index.';
  const read = parse(command('bench:scale', about).addArgument(argument).addOption(option), args);
  return { messages: read.processedArgs[0], ...read.opts() };
});

const { deployments, crowd, alone } = scenariosFor(given.messages, given.account);
const percent = crowd.largestShare * 100;
const accountsOf = (count: number): string => (count === 1 ? 'one account' : `${count} accounts`);
const scenarios: readonly { readonly title: string; readonly scenario: Scenario }[] = [
  {
    title: `${crowd.accounts} accounts, with ${percent} % of the messages from ${accountsOf(crowd.largest)}`,
    scenario: crowd,
  },
  { title: `All messages from ${accountsOf(alone.largest)}`, scenario: alone },
];
if (deployments > 1)
  console.log(
    `${given.messages.toLocaleString('en')} messages a second need ${deployments} deployments; this is one of them.`,
  );

// The simulated tables need no server, but the service's modules read the environment.
const inProcess = await startInProcess();
let hot = 0;
try {
  for (const { title, scenario } of scenarios) {
    const loads = await simulate(scenario);
    hot += loads.filter(isTooHot).length;
    const { messagesPerSecond, seconds } = scenario;
    console.log(
      `\n${title}: ${messagesPerSecond} messages a second, for ${seconds} s\n\n${loadsTable(loads)}`,
    );
  }
} finally {
  await inProcess.stop();
}
const without = messagesPerSecond({ ...oneInTwenty, slowShare: 0 }, true);
const together = messagesPerSecond(oneInTwenty, false);
const apart = messagesPerSecond(oneInTwenty, true);
const whole = (count: number): string => Math.round(count).toLocaleString('en');
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
