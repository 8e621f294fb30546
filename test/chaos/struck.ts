/** The faults that really struck, by kind. A run in which a kind never struck proves nothing about it. */
import { callFaults } from './faults.ts';
import { misbehaviours } from './receivers.ts';

export interface StruckFaults {
  /** Faults of calls to AWS by service and kind, such as `dynamodb hang`, and of functions, such as `function kill`. */
  readonly ofStage: Readonly<Record<string, number>>;
  /** The destinations' answers by kind. */
  readonly ofDestinations: ReadonlyMap<string, number>;
  /** Lost connections of the workflows' endpoint. */
  readonly ofEndpoint: number;
  /** Starts of the stage after a kill. */
  readonly restarts: number;
  /** Starts of the stage after its store lost data with its power; undefined if that is impossible here. */
  readonly powerLosses: number | undefined;
  /** Ends of single members; undefined if there is one process. */
  readonly ofMembers: { readonly killed: number; readonly replaced: number } | undefined;
  readonly jumps: number;
  readonly refused: number;
  /** Branches of the large run whose steps were made. */
  readonly branches: number;
}

/** How often each kind of fault struck. */
export function struckKinds(struck: StruckFaults): ReadonlyMap<string, number> {
  const ofStage = Object.entries(struck.ofStage);
  const callsWith = (kind: string): number =>
    ofStage.reduce((sum, [what, count]) => (what.endsWith(` ${kind}`) ? sum + count : sum), 0);
  return new Map([
    ...callFaults.map((kind) => [`call: ${kind}`, callsWith(kind)] as const),
    ['function: killed', struck.ofStage['function: killed'] ?? 0],
    ['function: invoked twice', struck.ofStage['function: invoked twice'] ?? 0],
    ...misbehaviours.map((kind) => [`destination: ${kind}`, struck.ofDestinations.get(kind) ?? 0] as const),
    ['endpoint: reset', struck.ofEndpoint],
    ['stage: killed', struck.restarts],
    ...(struck.powerLosses === undefined ? [] : [['stage: power lost', struck.powerLosses] as const]),
    ...(struck.ofMembers === undefined
      ? []
      : [
          ['member: killed', struck.ofMembers.killed] as const,
          ['members: replaced', struck.ofMembers.replaced] as const,
        ]),
    ['clock: jump', struck.jumps],
    ['hostile client: refused', struck.refused],
    ['large run: branch made', struck.branches],
  ]);
}

/** @returns a sentence for each kind that never struck */
export const neverStruck = (struck: StruckFaults): readonly string[] =>
  [...struckKinds(struck)]
    .filter(([, count]) => count === 0)
    .map(([kind]) => `No fault of the kind "${kind}" has struck.`);
