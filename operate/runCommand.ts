import { OperateError } from './operateError.ts';

/** What AWS answers to credentials that are missing, wrong, too old, or not allowed to do this. */
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

/** Runs a command: its number is the exit status. Of an error that the operator can correct, the sentence alone is printed. */
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
