import type { LaneStore } from '../../lambdas/lane/slots/laneStore.ts';

const refuse = (): Promise<never> => Promise.reject(new Error('No tenants wait here.'));

/** Tenants' rows for tests without fair lines. */
export const noTenants: Pick<LaneStore, 'loadTenants' | 'saveTenants'> = {
  loadTenants: refuse,
  saveTenants: refuse,
};
