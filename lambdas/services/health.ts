import { settings } from '../settings.ts';

/** That the service answers, and for which region. */
export const health = (): { readonly status: 'ok'; readonly region: string } => ({
  status: 'ok',
  region: settings.region,
});
