import { toItem } from '../aws/dynamodb.ts';

/**
 * A claim on a row: where several processes come to do the same thing, one may do it, and where that one dies, another takes over.
 * A claim is an attribute of the row that holds a time in Unix milliseconds.
 */
export interface Claim {
  readonly attribute: string;
  /** A claim of this time or before does not hold any more: its process has died, or its time is over. */
  readonly endedBy: number;
  /** A condition that must hold as well, with its values: `:endedBy` is taken. */
  readonly onlyIf?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * The part of a write that lets it claim a row: on the condition that there is no claim on it, or one that does not hold any
 * more. The write itself sets the attribute.
 *
 * @returns input of a put or an update, with all values that its expressions have
 */
export const claiming = ({ attribute, endedBy, onlyIf, values }: Claim) => ({
  ConditionExpression: `${onlyIf === undefined ? '' : `${onlyIf} AND `}(attribute_not_exists(#claim) OR #claim <= :endedBy)`,
  ExpressionAttributeNames: { '#claim': attribute },
  ExpressionAttributeValues: toItem({ ...values, ':endedBy': endedBy }),
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});
