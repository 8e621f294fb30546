/** Checks secrets of a stage that other machines can reach. */
import { StageError } from './stageError.ts';

/** A generated secret has 256 random bits in 43 characters. */
const leastCharacters = 43;
/** Only one in 10^12 random texts of 43 characters has fewer different ones. */
const leastDifferent = 16;

/** @throws StageError if a secret was replaced by one that can be guessed */
export function checkStrength(secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret.length >= leastCharacters && new Set(secret).size >= leastDifferent) continue;
    throw new StageError(
      `The secret ${name} in the data directory can be guessed: with --host or --public-url it must have at least ` +
        `${leastCharacters} random characters, as the one that the stage generates.`,
    );
  }
}
