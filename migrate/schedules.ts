import type { Api } from './api.ts';
import { Refusal } from './migrationError.ts';
import { reasonToSkip, requestOf, schedule, settingsOf, type Schedule } from './schedule.ts';
import { differences, type Sides, type Step } from './step.ts';

export const pathOf = (id: string): string => `/v2/schedules/${encodeURIComponent(id)}`;

/** Reads a complete schedule, because lists omit long bodies. */
async function whole(api: Api, listed: Schedule): Promise<Schedule> {
  if (listed.body || listed.bodyBase64) return listed;
  return (await api.read(pathOf(listed.scheduleId), schedule)) ?? listed;
}

const list = async (api: Api): Promise<readonly Schedule[]> =>
  (await api.list('/v2/schedules', schedule)) ?? [];

export interface Pair {
  readonly wanted: Schedule;
  readonly existing: Schedule | undefined;
}

/** Reads the source's schedules, with the target's schedules of the same ids. */
export async function pairsOf({ source, target }: Sides): Promise<readonly Pair[]> {
  const there = new Map((await list(target)).map((one) => [one.scheduleId, one]));
  const pairs: Pair[] = [];
  for (const listed of await list(source)) {
    const existing = there.get(listed.scheduleId);
    pairs.push({
      wanted: await whole(source, listed),
      existing: existing && (await whole(target, existing)),
    });
  }
  return pairs;
}

export const differencesOf = (wanted: Schedule, existing: Schedule): readonly string[] =>
  differences(settingsOf(wanted), settingsOf(existing));

/** @param allPaused whether new schedules are paused even if they are active in the source */
export async function compareSchedules(sides: Sides, allPaused: boolean): Promise<readonly Step[]> {
  const { target } = sides;
  return (await pairsOf(sides)).map(({ wanted, existing }): Step => {
    const found = { kind: 'schedule', name: wanted.scheduleId } as const;
    const skipped = reasonToSkip(wanted);
    if (skipped !== undefined) return { ...found, state: 'skipped', note: skipped };
    if (existing === undefined) {
      const isPaused = allPaused || wanted.isPaused === true;
      const notes = [wanted.cron, ...(isPaused ? ['paused'] : []), ...callbackNote(wanted)];
      const act = (): Promise<string | undefined> => make(target, wanted, isPaused);
      return { ...found, state: 'create', note: notes.join(', '), act };
    }
    const different = differencesOf(wanted, existing);
    if (isDraft(existing) && different.join() === 'cron') {
      const act = (): Promise<string | undefined> => make(target, wanted, true);
      return { ...found, state: 'create', note: `${wanted.cron}, paused, begun before`, act };
    }
    if (different.length > 0) {
      const act = (): Promise<string | undefined> => replace(target, wanted, existing);
      return { ...found, state: 'differs', note: different.join(', '), act };
    }
    const waits = existing.isPaused === true && wanted.isPaused !== true;
    return {
      ...found,
      state: 'same',
      ...(waits && { note: 'paused in the target; --switch lets it fire there' }),
    };
  });
}

const callbackNote = ({ callback, failureCallback }: Schedule): readonly string[] =>
  callback || failureCallback ? ['without the settings of its callbacks, which no API shows'] : [];

async function make(target: Api, wanted: Schedule, isPaused: boolean): Promise<string | undefined> {
  if (isPaused) {
    // No API creates a paused schedule, so it is created with a distant time first, and then paused.
    await put(target, { ...wanted, cron: draftCron(new Date()) });
    await target.change('PATCH', `${pathOf(wanted.scheduleId)}/pause`);
  }
  await put(target, wanted);
  return check(target, wanted, isPaused);
}

async function replace(target: Api, wanted: Schedule, existing: Schedule): Promise<string | undefined> {
  await put(target, wanted);
  return check(target, wanted, existing.isPaused === true);
}

async function put(target: Api, one: Schedule): Promise<void> {
  const { path, init } = requestOf(one);
  await target.change('POST', path, init);
}

/** Reads the new schedule, and describes differences: the target may have other limits. */
async function check(target: Api, wanted: Schedule, isPaused: boolean): Promise<string | undefined> {
  const made = await target.read(pathOf(wanted.scheduleId), schedule);
  if (made === undefined) throw new Refusal('The target accepted it, but does not have it');
  // Some APIs resume a schedule that is replaced.
  if (isPaused && made.isPaused !== true) await target.change('PATCH', `${pathOf(wanted.scheduleId)}/pause`);
  const different = differencesOf(wanted, made);
  return different.length === 0 ? undefined : `but the target has it with another ${different.join(', ')}`;
}

/** The time of a draft: half a year away, at a minute that identifies drafts. */
function draftCron(now: Date): string {
  const month = ((now.getUTCMonth() + 6) % 12) + 1;
  return `53 4 15 ${month} *`;
}

/** Whether a schedule is the draft of a run that was killed. */
const isDraft = ({ cron }: Schedule): boolean => /^53 4 15 \d+ \*$/.test(cron);
