import { startGate } from './lanes.ts';
import type { Inbox, Receiver } from './receiver.ts';

/** An inbox that holds deliveries in flight until they are released. */
export interface HeldInbox extends Inbox {
  /** Answers all deliveries, past and future. */
  letGo(): void;
}

export function heldInbox(receiver: Receiver): HeldInbox {
  const gate = startGate();
  return { ...receiver.inbox(gate.answer), letGo: gate.open };
}

export const bodiesOf = ({ deliveries }: Pick<Inbox, 'deliveries'>): readonly string[] =>
  deliveries.map(({ body }) => body.toString());
