import type { Terms } from '../aws/writes.ts';
import { clockMarginMs, now } from '../shared/clock.ts';

/**
 * A claim on a row: one of several processes may do the work, and if it dies, another takes over. An attribute has the claim's
 * time, Unix milliseconds.
 */
interface Claim {
  readonly attribute: string;
  /**
   * Claims up to this time have expired: their process died, or their time is over. So have those that were made in the future:
   * the clock has stepped back since.
   */
  readonly endedBy: number;
  /** Whether the attribute has the claim's end instead of its time. */
  readonly isEnd?: boolean;
  /** Another condition, with its values; `endedBy` and `ahead` are reserved. */
  readonly onlyIf?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** The terms of a write that claims a row, if it has no valid claim. The write itself sets the attribute `#claim`. */
export const claiming = ({ attribute, endedBy, isEnd = false, onlyIf, values }: Claim): Terms => ({
  onlyIf: `${onlyIf === undefined ? '' : `${onlyIf} AND `}(attribute_not_exists(#claim) OR #claim <= :endedBy ${isEnd ? '' : ' OR #claim > :ahead'})`,
  names: { claim: attribute },
  values: { ...values, endedBy, ...(!isEnd && { ahead: now() + clockMarginMs }) },
});
