import type { Stack } from 'aws-cdk-lib';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Rights } from './rights.ts';
import { makeTimed } from './timed.ts';

interface TimersProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
}

export class Timers {
  /** Before they expire in the log. */
  readonly countOutcomes: SvcFunction;
  readonly lookForAlarms: SvcFunction;
  /** After a new release, which may be able to handle them. */
  readonly redrive: SvcFunction;

  constructor(stack: Stack, { shared, rights }: TimersProps) {
    this.countOutcomes = makeTimed(stack, 'CountOutcomes', {
      ...shared,
      runs: 'countOutcomes',
      description: 'Counts what became of all accounts’ messages',
      ruleDescription: 'Lets outcomes be counted',
      parts: shared.settings.countingParts,
      may: [rights.on('accounts', 'Scan'), ...rights.countOutcomes()],
    });
    this.lookForAlarms = makeTimed(stack, 'LookForAlarms', {
      ...shared,
      runs: 'lookForAlarms',
      description: 'Looks at the accounts that have alarms, and tells what it finds',
      ruleDescription: 'Lets accounts with alarms be looked at',
      may: [
        rights.on('accounts', 'GetItem'),
        rights.countUsage(),
        rights.on('usage', 'PutItem', 'DeleteItem'),
        ...rights.findAttention(),
        ...rights.changeLanes(),
        rights.on('messages', 'BatchWriteItem'),
        rights.onBodies('PutObject'),
      ],
    });
    this.redrive = makeTimed(stack, 'Redrive', {
      ...shared,
      runs: 'redrive',
      description: 'Sends back what an earlier release parked',
      ruleDescription: 'Lets parked messages be looked at',
      may: rights.redrive(),
    });
  }
}
