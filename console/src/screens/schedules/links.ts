import { href } from '../../place.ts';

/** The address of a schedule. A schedule may be called `new`, which is also the end of the form's address. */
export const hrefOf = (scheduleId: string): string =>
  href(['schedules', scheduleId, ...(scheduleId === 'new' ? ['details'] : [])]);
