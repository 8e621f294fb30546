import { OperateError } from '../operate/operateError.ts';

/** AWS's errors for missing, wrong, expired or insufficient credentials. */
const refusals = [
  'CredentialsProviderError',
  'TokenProviderError',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'ExpiredToken',
  'ExpiredTokenException',
  'AccessDenied',
  'AccessDeniedException',
];

/** The message of an error that the operator can fix. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof OperateError) return error.message;
  return error instanceof Error && refusals.includes(error.name)
    ? `AWS refuses the credentials, or has none: ${error.message}`
    : undefined;
}

/** Runs a command that returns its exit status. If the operator can fix an error, only the message is printed. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    const sentence = sentenceOf(error);
    console.error(sentence ?? error);
    process.exitCode = sentence === undefined ? 1 : 2;
  }
}
