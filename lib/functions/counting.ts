/** The function that counts outcomes at regular times, so that they are counted before they expire in the log. */
import type { Stack } from 'aws-cdk-lib';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Rights } from './rights.ts';
import { makeTimed } from './timed.ts';

interface CountingProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
}

/** The resources stand in the stack itself, not below a construct of their own: so their logical ids are short, and stay. */
export class Counting {
  readonly countOutcomes: SvcFunction;

  constructor(stack: Stack, { shared, rights }: CountingProps) {
    this.countOutcomes = makeTimed(stack, 'CountOutcomes', {
      ...shared,
      runs: 'countOutcomes',
      description: 'Counts what became of all accounts’ messages',
      ruleDescription: 'Lets outcomes be counted',
      parts: shared.settings.countingParts,
      may: [rights.on('accounts', 'Scan'), ...rights.countOutcomes()],
    });
  }
}
