import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { certificatesIn } from '../../lambdas/value/pem.ts';

/** Functions read the file at each cold start. All public authorities together have 220 KB. */
const mostBytes = 262_144;

/** An error whose message completes the sentence "… must be". */
class WrongFile extends Error {}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new WrongFile(
      `a file that can be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

/**
 * @param path relative to the current directory
 * @returns the certificates in PEM, without the rest of the file
 * @throws WrongFile
 */
export function readCertificates(path: string): string {
  const text = readText(path);
  if (text.length > mostBytes)
    throw new WrongFile(`a file of at most ${mostBytes} bytes, and has ${text.length}`);
  if (text.includes('PRIVATE KEY-----')) throw new WrongFile('a file without a private key');
  const found = certificatesIn(text);
  if (found.length === 0) throw new WrongFile('a file with certificates in PEM, and has none');
  const unreadable = found.findIndex(({ certificate }) => certificate === undefined);
  if (unreadable !== -1)
    throw new WrongFile(`a file with certificates in PEM, and number ${unreadable + 1} cannot be read`);
  return `${found.map(({ pem }) => pem).join('\n')}\n`;
}

export const certificateFile = z
  .string()
  .min(1)
  .superRefine((path, context) => {
    try {
      readCertificates(path);
    } catch (error) {
      if (!(error instanceof WrongFile)) throw error;
      context.addIssue({ code: 'custom', message: `must be ${error.message}` });
    }
  });
