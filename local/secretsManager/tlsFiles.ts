/** Accounts' certificates, which are files on the local stage. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AwsError } from '../aws/awsError.ts';
import { isSystemError } from '../stage/stageError.ts';

/** The secrets' names, with `*` for the name that an account gives. */
export const tlsSecrets = 'tls/*.pem';

/** Bytes of a secret ("AWS Secrets Manager quotas"). */
const mostBytes = 65_536;

/**
 * @returns undefined if it is another secret, or the file does not exist
 * @throws AwsError if the file cannot be read or is too large
 */
export function tlsFile(folder: string | undefined, secretId: string): string | undefined {
  const [, name] = /^tls\/([A-Za-z0-9_-]{1,64})\.pem$/.exec(secretId) ?? [];
  if (folder === undefined || name === undefined) return undefined;
  const path = join(folder, `${name}.pem`);
  try {
    if (statSync(path).size > mostBytes)
      throw new AwsError('InvalidRequestException', `The file has more than ${mostBytes} bytes.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    if (!(error instanceof Error && 'code' in error) || error instanceof AwsError) throw error;
    throw new AwsError('AccessDeniedException', `The file cannot be read: ${String(error.code)}`);
  }
}
