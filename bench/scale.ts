/** Simulates heavy traffic, prints the hottest key of each table and index, and fails where its partition takes less. */
import { Argument } from '@commander-js/extra-typings';
import { argumentsOf, command, parse, wholeNumber } from '../bin/commandLine.ts';
import { startInProcess } from '../test/support/inProcess.ts';
import { isTooHot } from './simulate/keyLoads.ts';
import { loadsTable } from './simulate/printLoads.ts';
import { oneAccount, tenThousand, type Scenario } from './simulate/scenario.ts';
import { simulate } from './simulate/simulate.ts';

const messagesPerSecond = argumentsOf((args) => {
  const argument = new Argument('[messages]', 'messages in a second')
    .argParser(wholeNumber(100, 50_000))
    .default(tenThousand.messagesPerSecond);
  const about = 'Simulates heavy traffic, and prints the hottest key of each table and index.';
  return parse(command('bench:scale', about).addArgument(argument), args).processedArgs[0];
});

const scenarios: readonly { readonly title: string; readonly scenario: Scenario }[] = [
  {
    title: `${tenThousand.accounts} accounts, one with ${tenThousand.largestShare * 100} % of the messages`,
    scenario: { ...tenThousand, messagesPerSecond },
  },
  { title: 'One account with all messages', scenario: { ...oneAccount, messagesPerSecond } },
];

// Nothing is started for the tables that are simulated, but the modules of the service read the environment.
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
if (hot > 0) {
  console.log(`\n${hot} keys get more than one partition takes.`);
  process.exitCode = 1;
}
