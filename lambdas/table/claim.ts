import type { Terms } from '../aws/writes.ts';
import { clockMarginMs, now } from '../shared/clock.ts';

/**
 * A claim on a row: one of several processes does the work, and if it dies, another takes over. An attribute
 * has the time of the claim.
 */
interface Claim {
  readonly attribute: string;
  /**
   * Claims from before this time have expired. Claims in the future have, too, because the clock has stepped
   * back since.
   */
  readonly endedBy: number;
  /** Whether the attribute has the time when the claim ends, not when it was made. */
  readonly isEnd?: boolean;
  /** Another condition and its values. The names `endedBy` and `ahead` are taken. */
  readonly onlyIf?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * The terms of a write that claims a row, unless it has a valid claim. The write itself must set the
 * attribute `#claim`.
 */
export const claiming = ({ attribute, endedBy, isEnd = false, onlyIf, values }: Claim): Terms => ({
  onlyIf: `${onlyIf === undefined ? '' : `${onlyIf} AND `}(attribute_not_exists(#claim) OR #claim <= :endedBy ${isEnd ? '' : ' OR #claim > :ahead'})`,
  names: { claim: attribute },
  values: { ...values, endedBy, ...(!isEnd && { ahead: now() + clockMarginMs }) },
});
