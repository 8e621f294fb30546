import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { settings } from '../settings.ts';

/** That the service answers, and for which region. */
export const health = (): Answer<typeof answers.health> => ({
  status: 'ok',
  region: settings.region,
});
