/** Thrown where work must be done again: the reason passes, or an operator has to mend it. */
export class TransientError extends Error {}
