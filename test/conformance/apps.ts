import type { Client } from './clients.ts';

export const apps: readonly Client[] = [];
