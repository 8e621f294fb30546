/** The error of a job or request that must be done again: its cause passes, or an operator has to mend it. */
export class TransientError extends Error {}
