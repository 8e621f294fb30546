/**
 * Makes the target's schedules fire instead of the source's. Each is resumed in the target and then paused in the source,
 * between two fires, so that no fire is lost or duplicated. If the process is killed in between, both are active, and the next
 * run pauses the source's.
 */
import { setTimeout } from 'node:timers/promises';
import { fires, parseCron, type Cron } from '../lambdas/schedule/cron.ts';
import { HttpError } from '../lambdas/error/httpError.ts';
import { Refusal } from './migrationError.ts';
import { differencesOf, pairsOf, pathOf, type Pair } from './schedules.ts';
import type { Sides, Step } from './step.ts';

/** A fire is up to a minute late, and clocks differ. */
const marginMs = 120_000;
/** A schedule without a quiet moment within this time fires every few minutes. */
const searchMs = 600_000;
const stepMs = 1_000;

/**
 * Finds how long to wait for a moment that is two minutes away from each fire.
 *
 * @param now Unix milliseconds
 * @returns undefined if there is no such moment within ten minutes
 */
export function quietInMs(cron: Cron, now: number): number | undefined {
  const around: number[] = [];
  for (const fire of fires(cron, now - marginMs - 1)) {
    if (fire > now + searchMs + marginMs) break;
    around.push(fire);
  }
  for (let waitMs = 0; waitMs <= searchMs; waitMs += stepMs) {
    if (around.every((fire) => Math.abs(fire - now - waitMs) >= marginMs)) return waitMs;
  }
  return undefined;
}

const tooOften =
  'it fires too often to be switched between two fires: pause it in the source, then resume it in the target';

/** Finds the schedules that can be switched, and those that cannot. */
export async function compareForSwitch(sides: Sides): Promise<readonly Step[]> {
  return (await pairsOf(sides)).map((pair): Step => {
    const { wanted, existing } = pair;
    const found = { kind: 'schedule', name: wanted.scheduleId } as const;
    const skip = (note: string): Step => ({ ...found, state: 'skipped', note });
    if (wanted.isPaused === true) {
      const isActive = existing !== undefined && existing.isPaused !== true;
      return { ...found, state: 'same', note: isActive ? 'fires in the target' : 'paused in the source' };
    }
    if (existing === undefined) return skip('it is not in the target: copy it first');
    const different = differencesOf(wanted, existing);
    if (different.length > 0) {
      return skip(`it differs in the target (${different.join(', ')}): copy it with --overwrite first`);
    }
    const cron = readCron(wanted.cron);
    if (cron === undefined) return skip('its cron expression cannot be read here');
    if (quietInMs(cron, Date.now()) === undefined) {
      return skip(tooOften);
    }
    return { ...found, state: 'switch', note: wanted.cron, act: () => switchOver(sides, pair, cron) };
  });
}

function readCron(text: string): Cron | undefined {
  try {
    return parseCron('cron', text);
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

async function switchOver(
  { source, target }: Sides,
  { wanted, existing }: Pair,
  cron: Cron,
): Promise<undefined> {
  // Computed again, because the previous schedules took time.
  const waitMs = quietInMs(cron, Date.now());
  if (waitMs === undefined) throw new Refusal(tooOften);
  await setTimeout(waitMs);
  const path = pathOf(wanted.scheduleId);
  if (existing?.isPaused === true) await target.change('PATCH', `${path}/resume`);
  await source.change('PATCH', `${path}/pause`);
}
