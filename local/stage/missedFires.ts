import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import type { StandIns } from './standIns.ts';

const notice = z.object({ accountId: z.string(), scheduleId: z.string(), saveId: z.string() });

/** Starts the search for fires that schedules with `Svc-Catch-Up` missed while the stage was down. */
export async function lookForMissedFires({ scheduler, sqs }: StandIns): Promise<void> {
  const time = new Date().toISOString();
  const looks = [...scheduler.inputs()].flatMap((input) => {
    const fire = notice.safeParse(jsonOrUndefined(input)).data;
    return fire === undefined ? [] : [JSON.stringify({ ...fire, time, kind: 'look' })];
  });
  await Promise.all(looks.map((text) => sqs.send('fire', text)));
}
