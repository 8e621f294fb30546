import type { Charges } from '../../usage/charge.ts';

/** The message that a change of a run may make. A change is decided anew where others were faster; it is counted once. */
export interface OneMessage {
  /** Counts it, unless it is counted. @throws HttpError 429 or 412 where it is one too many */
  readonly admit: () => void;
  /** Takes the count back: the change makes none after all. */
  readonly drop: () => void;
}

export function oneMessage({ charge, giveBack }: Charges): OneMessage {
  let isAdmitted = false;
  return {
    admit: () => {
      if (isAdmitted) return;
      const refusal = charge(1);
      if (refusal !== undefined) throw refusal;
      isAdmitted = true;
    },
    drop: () => {
      if (isAdmitted) giveBack(1);
      isAdmitted = false;
    },
  };
}
