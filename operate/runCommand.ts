import { OperateError } from './operateError.ts';

/** The names of AWS's errors for credentials that are missing, wrong, expired, or not sufficient. */
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

/** The sentence of an error that the operator can correct; undefined for any other. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof OperateError) return error.message;
  return error instanceof Error && refusals.includes(error.name)
    ? `AWS refuses the credentials, or has none: ${error.message}`
    : undefined;
}

/** Runs a command, which returns its exit status. For an error that the operator can correct, only its sentence is printed. */
export async function runCommand(
  command: () => Promise<number>,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    const sentence = sentenceOf(error);
    report(sentence ?? error);
    process.exitCode = sentence === undefined ? 1 : 2;
  }
}
