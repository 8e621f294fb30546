import { startGate } from './lanes.ts';
import type { Inbox, Receiver } from './receiver.ts';

/** An inbox whose deliveries are in flight until they are let go. */
export interface HeldInbox extends Inbox {
  /** Answers those that have come, and all that come later. */
  letGo(): void;
}

/** Makes an inbox that does not answer yet. */
export function heldInbox(receiver: Receiver): HeldInbox {
  const gate = startGate();
  return { ...receiver.inbox(gate.answer), letGo: gate.open };
}

export const bodiesOf = ({ deliveries }: Pick<Inbox, 'deliveries'>): readonly string[] =>
  deliveries.map(({ body }) => body.toString());
