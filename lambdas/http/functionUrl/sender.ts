/** The address of the sender of a forwarded request, sealed. */
import { isPassword, macOf, secretsOf } from '../../account/credentials.ts';
import { masterSecret } from '../../account/secrets.ts';
import { isRecent, minuteMs, now } from '../../shared/clock.ts';
import { valuesOf, type Header } from '../../shared/headers.ts';

/** Not forwarded to destinations. */
export const senderHeader = 'x-forwarded-sender';

/** How long a forwarded request may take. Clocks differ by less than a minute. */
const longestWayMs = 2 * minuteMs;

const sealOf = (secret: string, text: string): string => macOf(secret, 'sender', '', text);

export async function sealed(callerIp: string): Promise<string> {
  const text = `${callerIp} ${now()}`;
  return `${text} ${sealOf((await masterSecret()).current, text)}`;
}

/** @returns undefined if this deployment did not forward the request just now */
export async function senderIn(headers: readonly Header[]): Promise<string | undefined> {
  const [sender] = valuesOf(headers, senderHeader);
  if (sender === undefined) return undefined;
  const [callerIp = '', time = '', mac = ''] = sender.split(' ');
  if (!isRecent(Number(time), longestWayMs, now())) return undefined;
  const secrets = secretsOf(await masterSecret());
  return secrets.some((one) => isPassword(sealOf(one, `${callerIp} ${time}`), mac)) ? callerIp : undefined;
}
