/** The names of the stage's resources, as AWS writes them. */

/** The account that owns everything here; emulators of AWS use this one. */
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
