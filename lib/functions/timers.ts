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
      description: 'Counts the outcomes of all accounts’ messages',
      ruleDescription: 'Triggers the count of outcomes',
      parts: shared.settings.countingParts,
      may: [rights.on('accounts', 'Scan'), ...rights.countOutcomes()],
    });
    this.lookForAlarms = makeTimed(stack, 'LookForAlarms', {
      ...shared,
      runs: 'lookForAlarms',
      description: 'Checks the accounts with alarms, and reports to them',
      ruleDescription: 'Triggers the check of accounts with alarms',
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
      ruleDescription: 'Triggers the check of parked messages',
      may: rights.redrive(),
    });
  }
}
