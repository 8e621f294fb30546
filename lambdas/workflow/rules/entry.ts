/** The entries of a run, in the order in which they were accepted, and the ones that a delivery shows. */
import type { CallType } from '../../wire/states.ts';

/** An accepted message of a run. The first is the initial payload; each later one of the type `step` is a step in JSON. */
export interface Entry {
  readonly messageId: string;
  readonly body: Uint8Array;
  readonly callType: CallType;
}

/** The client reads steps by their places: only the initial payload and steps may have one. */
export const listed = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ callType }, index) => index === 0 || callType === 'step');
