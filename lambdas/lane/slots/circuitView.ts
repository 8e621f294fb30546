/**
 * This process's view of circuits and holds. All attempts of a closed circuit share one read a second; a
 * failure costs a write.
 */
import { knownForMs, isOpen, type Circuit } from '../../circuit/circuit.ts';
import { isRecent } from '../../shared/clock.ts';
import type { CircuitRules } from '../../circuit/settings.ts';
import type { Verdict } from '../../circuit/verdict.ts';
import type { Arrival, Grant } from '../rules/arrival.ts';
import { circuitIn, enterCircuit, leaveCircuit, type Turn } from '../rules/circuitLane.ts';
import { holdsBack, type Lane, type LaneKey } from '../lane.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';
import { LaneBusy, type Lanes } from './changeLanes.ts';
import type { LaneStore } from './laneStore.ts';

interface CircuitsParts {
  readonly lanes: Lanes;
  readonly load: LaneStore['load'];
  readonly now: () => number;
  /** Logs and counts that a circuit opened or closed. */
  readonly tell: (key: LaneKey, turn: Exclude<Turn, undefined>, circuit: Circuit) => void;
  /** Logs a failure that was not counted because of conflicts. */
  readonly report: (key: LaneKey, error: LaneBusy) => void;
}

export interface CircuitOf {
  readonly host: string;
  readonly rules: CircuitRules;
  readonly dueAt: number;
  /** Whether a hold has just released the attempt. */
  readonly isReleased?: boolean | undefined;
}

export interface CircuitPass {
  /** Leaves the circuit and applies the verdict. A second call does nothing. */
  readonly leave: (verdict: Verdict) => Promise<void>;
}

interface Known {
  circuit: Circuit;
  holdsBack: boolean;
  at: number;
  reading: Promise<void> | undefined;
}

export function createCircuits({ lanes, load, now, tell, report }: CircuitsParts) {
  const all = new Map<string, Known>();

  const knownOf = ({ accountId, name }: LaneKey): Known =>
    recentlyUsed(
      all,
      `${accountId} ${name}`,
      () => ({ circuit: circuitIn({}), holdsBack: false, at: -Infinity, reading: undefined }),
      ({ reading }) => reading === undefined,
    );

  function note(known: Known, lane: Lane | undefined): void {
    known.circuit = circuitIn(lane ?? {});
    known.holdsBack = lane !== undefined && holdsBack(lane);
    known.at = now();
  }

  async function readCircuit(key: LaneKey): Promise<Known> {
    const known = knownOf(key);
    if (isRecent(known.at, knownForMs, now())) return known;
    known.reading ??= load(key)
      .then((lane) => {
        note(known, lane);
      })
      .finally(() => {
        known.reading = undefined;
      });
    await known.reading;
    return known;
  }

  async function change<T>(key: LaneKey, make: Parameters<typeof lanes.change<T>>[1]): Promise<T> {
    let after: Lane | undefined;
    const result = await lanes.change(key, (lane, time) => {
      const changed = make(lane, time);
      after = changed.lane;
      return changed;
    });
    note(knownOf(key), after);
    return result;
  }

  /** @param holds whether the attempt may have a slot to free */
  async function leaveWith(
    key: LaneKey,
    entry: string,
    rules: CircuitRules,
    verdict: Verdict,
    holds: boolean,
  ): Promise<void> {
    if (!holds) {
      if (key.kind === 'hold' || verdict.says === 'nothing' || verdict.says === 'busy') return;
      const { circuit } = await readCircuit(key);
      const tellsNothing = verdict.says === 'up' ? circuit.failures === 0 : isOpen(circuit);
      if (tellsNothing) return;
    }
    // A hold's lane ignores failures of hosts.
    const said: Verdict = key.kind === 'hold' && verdict.says === 'down' ? { says: 'up' } : verdict;
    let circuit: Circuit | undefined;
    const turn = await change(key, (lane, time) => {
      const changed = leaveCircuit(lane, entry, said, rules, time);
      circuit = changed.lane.circuit;
      return changed;
    });
    if (turn !== undefined && circuit !== undefined) tell(key, turn, circuit);
  }

  return {
    /**
     * @param isGranted whether the circuit's lane sent the attempt's job
     * @param arrival called during the lane's change
     */
    enter: async (
      key: LaneKey,
      of: Omit<CircuitOf, 'host'>,
      isGranted: boolean,
      arrival: () => Arrival,
    ): Promise<CircuitPass | Exclude<Grant, 'in'> | 'overdue'> => {
      const { rules } = of;
      const { entry } = arrival();
      let holds = false;
      if (isGranted || (await readCircuit(key)).holdsBack) {
        let leased = false;
        const grant = await change(key, (lane, time) => {
          const changed = enterCircuit(lane, { ...arrival(), ...of }, time);
          leased = changed.lane.leases.has(entry);
          return changed;
        });
        if (grant !== 'in') return grant;
        holds = leased;
      }
      let left: Promise<void> | undefined;
      return {
        leave: async (verdict) => {
          left ??= leaveWith(key, entry, rules, verdict, holds).catch((error: unknown) => {
            // A slot must be freed, so the job is retried. An uncounted failure is only logged: it is one of
            // many.
            if (holds || !(error instanceof LaneBusy)) throw error;
            report(key, error);
          });
          await left;
        },
      };
    },
  };
}

export type Circuits = ReturnType<typeof createCircuits>;
