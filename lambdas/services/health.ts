import type * as answers from '../api/answers.ts';
import type { Answer } from '../api/answers.ts';
import { settings } from '../settings.ts';

/** Answers a health check: the service runs, in this region. */
export const health = (): Answer<typeof answers.health> => ({
  status: 'ok',
  region: settings.region,
});
