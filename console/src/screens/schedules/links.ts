import { href } from '../../place.ts';

/** The address of a schedule. `new` is a valid id, but also the address of the form. */
export const hrefOf = (scheduleId: string): string =>
  href(['schedules', scheduleId, ...(scheduleId === 'new' ? ['details'] : [])]);
