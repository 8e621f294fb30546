/** The states of a message, in the order in which it passes them; it ends in one of the last three. */
export const messageStates = ['CREATED', 'RETRY', 'DELIVERED', 'FAILED', 'CANCELED'] as const;
export type MessageState = (typeof messageStates)[number];

/** The states of a message that waits for an attempt. */
export const waitingStates = ['CREATED', 'RETRY'] as const satisfies readonly MessageState[];
