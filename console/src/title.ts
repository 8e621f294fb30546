import { createContext } from 'preact';

export const product = 'svc-queue';

/** The account, its region and the deployment, as in the title; empty until they are known. */
export const Whose = createContext<readonly string[]>([]);
