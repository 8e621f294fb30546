/** ARNs of the stage's resources. */

/** The account ID that emulators of AWS use. */
export const accountId = '000000000000';

export function queueArn(region: string, name: string): string {
  return `arn:aws:sqs:${region}:${accountId}:${name}`;
}

export function functionArn(region: string, name: string): string {
  return `arn:aws:lambda:${region}:${accountId}:function:${name}`;
}

export function scheduleArn(
  region: string,
  { group, name }: { readonly group: string; readonly name: string },
): string {
  return `arn:aws:scheduler:${region}:${accountId}:schedule/${group}/${name}`;
}
