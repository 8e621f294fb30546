/** Thrown by our own code where work must be done again for a reason that passes, or that an operator has to mend. */
export class TransientError extends Error {}
