/** An error that ends the migration. Its message is one sentence for the person who started it. */
export class MigrationError extends Error {
  override readonly name: string = 'MigrationError';
}

/** The target refuses one thing, and says why; the others go on. */
export class Refusal extends MigrationError {
  override readonly name = 'Refusal';
}
