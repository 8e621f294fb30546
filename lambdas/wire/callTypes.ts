/** The roles of a run's messages as headers and records name them. */
export const callTypes = ['step', 'toCallback', 'fromCallback', 'failureCall'] as const;
export type CallType = (typeof callTypes)[number];
