import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import { settings } from '../aws/settings.ts';

/** Answers a health check: the service runs, in this region. */
export const health = (): Answer<typeof answers.health> => ({
  status: 'ok',
  region: settings.region,
});
