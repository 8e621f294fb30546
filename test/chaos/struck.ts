/** The faults of a run that really struck, by kind: a run in which a kind never did proves nothing about it. */
import { callFaults } from './faults.ts';
import { misbehaviours } from './receivers.ts';

export interface StruckFaults {
  /** Of the calls to AWS by service and kind, as in `dynamodb hang`; and of functions, as in `function kill`. */
  readonly ofStage: Readonly<Record<string, number>>;
  /** The destinations' answers, by what they were. */
  readonly ofDestinations: ReadonlyMap<string, number>;
  /** Connections of the workflows' endpoint that were lost. */
  readonly ofEndpoint: number;
  /** Starts of the stage after it was killed. */
  readonly restarts: number;
  /** Starts of the stage after its store had lost something with its power; undefined where no power can be cut. */
  readonly powerLosses: number | undefined;
  readonly jumps: number;
  /** Requests of the hostile client that were refused. */
  readonly refused: number;
  /** Branches of the large run whose steps were made. */
  readonly branches: number;
}

/** Every kind of fault of the plan, with how often it struck. */
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
