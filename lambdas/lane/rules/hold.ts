/**
 * A hold: a person stops the deliveries to a host, of a label, of a URL group or of the whole account. The
 * hold's lane is paused until the hold ends. Then its attempts start a few at a time, as after a circuit
 * closes.
 */
import type { Account } from '../../account/account.ts';
import { closedCircuit } from '../../circuit/circuit.ts';
import { circuitHostOf } from '../../circuit/verdict.ts';
import type { Message } from '../../message/message.ts';
import { heldKinds, type HeldKind } from '../../wire/states.ts';
import type { Hold, Lane } from '../lane.ts';

/** The name of a hold's lane, also used in the account's row. */
export const holdName = (kind: HeldKind, which = ''): string => `${kind}:${which}`;

export function heldIn(name: string): { readonly kind: HeldKind; readonly name: string | undefined } {
  const [given = '', ...rest] = name.split(':');
  const kind = heldKinds.find((known) => known === given) ?? 'account';
  return { kind, name: kind === 'account' ? undefined : rest.join(':') };
}

type Delivered = Pick<Message, 'url' | 'labels' | 'topicName'>;

/**
 * The names of the holds that concern a message. Ended holds are included until the attempts that waited for
 * them have had time to start.
 */
export function holdsOf({ url, labels, topicName }: Delivered, { holds = [] }: Account, now: number) {
  if (holds.length === 0) return [];
  const names = new Set([
    holdName('account'),
    holdName('host', circuitHostOf(url)),
    ...(topicName === undefined ? [] : [holdName('urlGroup', topicName)]),
    ...labels.map((label) => holdName('label', label)),
  ]);
  return holds.filter(({ name, until = Infinity }) => names.has(name) && until > now).map(({ name }) => name);
}

export const held = (lane: Lane, hold: Omit<Hold, 'since'>, now: number): Lane => ({
  ...lane,
  isPaused: true,
  hold: { ...hold, since: lane.hold?.since ?? now },
  circuit: closedCircuit,
  keptUntil: hold.until ?? 0,
});

export const released = (lane: Lane): Lane => ({
  ...lane,
  isPaused: false,
  hold: undefined,
  circuit: closedCircuit,
  keptUntil: 0,
});

export const isHeld = ({ hold }: Pick<Lane, 'hold'>, now: number): boolean =>
  hold !== undefined && now < (hold.until ?? Infinity);

export const withoutEndedHold = (lane: Lane, now: number): Lane =>
  lane.hold === undefined || isHeld(lane, now) ? lane : released(lane);
