/** The function that sends parked messages back, once a release can do more with them than the one before. */
import type { Stack } from 'aws-cdk-lib';
import type { SharedProps, SvcFunction } from './function.ts';
import type { Rights } from './rights.ts';
import { makeTimed } from './timed.ts';

interface RedrivingProps {
  readonly shared: SharedProps;
  readonly rights: Rights;
}

/** The resources are in the stack itself, not below a construct of their own: so their logical ids are short, and stay. */
export class Redriving {
  readonly redrive: SvcFunction;

  constructor(stack: Stack, { shared, rights }: RedrivingProps) {
    this.redrive = makeTimed(stack, 'Redrive', {
      ...shared,
      runs: 'redrive',
      description: 'Sends back what an earlier release parked',
      ruleDescription: 'Lets parked messages be looked at',
      may: rights.redrive(),
    });
  }
}
